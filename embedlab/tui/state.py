"""The state that the dashboard restores at its next start: one JSON file, checked on reading."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from embedlab.choices import Aggregate, By
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.core.schema import build, table
from embedlab.core.seal import json_values
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat
from embedlab.tui.pair_table.identity import RowIdentity

SCHEMA = 1


@table
class PairsState:
    """The last state of the Pairs screen."""

    filter: str = ""
    filter_of: str = ""  # the data that it was typed for: it is not applied to others
    dataset: str | None = None  # absent = all
    sort: str | None = None
    is_descending: bool = False
    hidden: tuple[str, ...] = ()  # columns
    # a sentence above the other; absent = where the numbers need the room
    stacked: bool | None = None
    models: tuple[str, ...] | None = None  # absent = never chosen: the first few
    marks: tuple[RowIdentity, ...] = ()


@table
class CompareState:
    """The last state of the Compare screen."""

    by: By = "dataset"
    aggregate: Aggregate = "all"
    reference: str | None = None
    margin: float | None = None  # of equivalence, in points of the score
    common: bool = False  # on the pairs that all models score


@table
class DashboardState:
    """Everything that the dashboard restores."""

    schema: int = SCHEMA
    theme: str | None = None
    mode: str = "pairs"
    own_files: tuple[str, ...] = ()  # recipes and grids that were opened by their path
    task: str = ""  # whose items are shown; empty for the pairs of STS datasets
    face_to_face: tuple[str, ...] = ()  # reference and other model, while two models are compared
    pairs: PairsState = field(default_factory=PairsState)
    compare: CompareState = field(default_factory=CompareState)


def _state(content: bytes, path: Path) -> DashboardState:
    values: Mapping[str, Any] = json_values(content)
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise ValueError("another schema")
    return build(DashboardState, values, where=str(path))


DASHBOARD: EntryKind[DashboardState] = EntryKind(
    format=JsonFormat(to_values=asdict, from_content=_state, indent=1)
)


@dataclass
class Memory:
    """The present state and its file."""

    path: Path
    state: DashboardState
    # why the file could not be read; the state is the default one then
    trouble: EmbedlabError | None = None
    _written: DashboardState | None = None

    @classmethod
    def load(cls) -> Self:
        """Load the state of the last session."""
        store, key = Store(state_folder()), "dashboard"
        path = store.path(DASHBOARD, key)
        try:
            state = store.get(DASHBOARD, key)
            return cls(path=path, state=state or DashboardState(), _written=state)
        except EmbedlabError as error:
            trouble = MissingError(
                f"the dashboard's state {str(path)!r} is unusable",
                hint="the dashboard starts from the defaults and replaces the file",
            )
            trouble.__cause__ = error
            return cls(path=path, state=DashboardState(), trouble=trouble)

    def write(self) -> None:
        """Write the state if it changed; a disk that cannot be written is an EmbedlabError."""
        if self.state is not self._written:
            state = self.state
            Store(self.path.parent).put(DASHBOARD, self.path.stem, state)
            self._written = state
