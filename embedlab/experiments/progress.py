"""The progress of a grid, from its cells and their event files: the same facts for the board,
`grid status` and the dashboard.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from embedlab.experiments.cells import CellEntry, Cells, CellState
from embedlab.experiments.estimate import CellTimes, Cost
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs import events

CURVE = 400  # newest points of a curve in memory


@dataclass(kw_only=True)
class CellProgress:
    """A cell, and what was read of its run's events so far."""

    cell: Cell
    step: events.Step | None = None
    losses: list[float] = field(default_factory=list)
    dev: list[float] = field(default_factory=list)
    started_s: float | None = None  # by its newest process, seconds since 1970
    trained_s: float | None = None  # when its training ended
    offset: int = 0

    @property
    def scored(self) -> int:
        """Return how many of its tasks it is evaluated on."""
        return len(self.cell.tasks) - len(self.cell.unscored)

    def read(self) -> None:
        """Read the events since the last look."""
        try:
            recorded, self.offset = events.events_after(self.cell.run.events_file, self.offset)
        except FileNotFoundError:
            return
        for event in recorded:
            if isinstance(event, events.Started):
                self.started_s, self.trained_s = event.time, None
            elif isinstance(event, events.Finished):
                self.trained_s = event.time
            elif isinstance(event, events.Step):
                self.step = event
                self.losses.append(event.loss)
            elif isinstance(event, events.Progress) and self.step is not None:
                self.step = replace(self.step, step=event.step, eta_s=event.eta_s)
            elif isinstance(event, events.Dev):
                self.dev.append(event.score)
        del self.losses[:-CURVE], self.dev[:-CURVE]


@dataclass(frozen=True, kw_only=True)
class GridProgress:
    """A grid at one moment."""

    plan: GridPlan
    entries: tuple[CellEntry, ...]
    running: tuple[CellProgress, ...]
    cost: Cost  # of what is left

    @property
    def counts(self) -> Mapping[CellState, int]:
        """Return the number of cells by state."""
        return Counter(entry.state for entry in self.entries)

    @property
    def ended(self) -> int:
        """The number of cells that will not run again."""
        return sum(entry.state in {"done", "failed", "cancelled"} for entry in self.entries)

    @property
    def failed(self) -> list[CellEntry]:
        """Return the cells that failed finally."""
        return [entry for entry in self.entries if entry.state == "failed"]


class GridFollower:
    """Follows a grid: each look reads only new events."""

    def __init__(self, folder: GridFolder) -> None:
        self.plan = GridPlan.load(folder.plan_file)
        self._cells = Cells(self.plan, folder)
        self._followed: dict[str, CellProgress] = {}  # by the cell's id
        self._times: tuple[tuple[int, int], CellTimes] | None = None

    def look(self) -> GridProgress:
        """Return the grid's progress now."""
        entries = tuple(self._cells.entries())
        cells = [entry.cell for entry in entries if entry.state == "running"]
        state = (
            sum(entry.state not in {"waiting", "running"} for entry in entries),
            len(cells),
        )
        if (
            self._times is None or self._times[0] != state
        ):  # a cell's time changes only when a cell begins or ends
            self._times = state, CellTimes.of(self.plan, entries)
        running = [self._followed.setdefault(cell.id, CellProgress(cell=cell)) for cell in cells]
        for progress in running:
            progress.read()
        spent_s = {
            name: time.time() - progress.started_s
            for name, progress in self._followed.items()
            if progress.started_s is not None
        }
        cost = self._times[1].cost(max(1, len(running)), spent_s)
        return GridProgress(plan=self.plan, entries=entries, running=tuple(running), cost=cost)
