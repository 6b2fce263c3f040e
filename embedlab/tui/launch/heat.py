"""The scores of a grid over two axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Heat:
    """Scores by (row, column); absent for unfinished cells."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Mapping[tuple[str, str], float]
    states: Mapping[tuple[str, str], str]  # the state of a cell without a score
    runs: Mapping[tuple[str, str], tuple[str, ...]] = field(
        default_factory=dict
    )  # the ids of the runs behind a cell
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)  # one sign behind a score
    note: str = ""  # what the signs say
