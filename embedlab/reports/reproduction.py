"""A reproduced table of a paper: what deviates, its numbers next to the published ones, and whether
its order holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from embedlab.experiments.matching_runs import CellKey
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.row_order import ComparedNumber, RowOrder
from embedlab.reports.tables import Table
from embedlab.scoring.task_comparison import Gathered, TaskComparison


@dataclass(frozen=True, kw_only=True, eq=False)
class Reproduction:
    """A table of a paper next to ours."""

    table: PaperTable
    deviations: Table
    answers: tuple[Table, ...]  # the numbers, and whether the order holds
    numbers: Mapping[CellKey, ComparedNumber]  # empty for a figure
    row_order: RowOrder | None
    compared: tuple[TaskComparison, ...]  # of a figure, one an answer
    scored: Gathered | None
    has_failed: bool  # whether a training failed
    curves: Mapping[str, Sequence[float]] = field(
        default_factory=dict
    )  # of a figure along epochs: the mean dev score after each, by row

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is shown, deviations first."""
        return self.deviations, *self.answers
