"""The progress of a grid, from its cells and their event files: the same facts for the board,
`grid status` and the dashboard.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from embedlab.experiments.attempts import CellEntry, Cells, CellState
from embedlab.experiments.estimate import CellTimes, Cost
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs import events
from embedlab.runs.store import RunFolder

CURVE = 400  # newest points of a curve in memory


@dataclass(frozen=True, kw_only=True)
class CellProgress:
    """A cell, its state, and its curves so far."""

    cell: Cell
    entry: CellEntry
    step: events.Step | None = None
    losses: tuple[float, ...] = ()
    dev: tuple[float, ...] = ()
    resumed_at: int = 0  # the step from which its newest process went on; 0 = from the beginning
    trained_s: float | None = None  # when its training ended, seconds since 1970
    scored: int = 0  # of its tasks


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


@dataclass
class _Curves:
    """What was read of a run's events so far."""

    offset: int = 0
    started_s: float | None = None  # by its newest process, seconds since 1970
    trained_s: float | None = None
    resumed_at: int = 0  # the step from which that went on
    step: events.Step | None = None
    losses: list[float] = field(default_factory=list)
    dev: list[float] = field(default_factory=list)

    def read(self, run: RunFolder) -> None:
        """Read the events since the last look."""
        try:
            recorded, self.offset = events.events_after(run.events_file, self.offset)
        except FileNotFoundError:
            return
        for event in recorded:
            if isinstance(event, events.Started):
                self.started_s, self.resumed_at = event.time, event.step
                self.trained_s = None
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


class GridFollower:
    """Follows a grid: each look reads only new events."""

    def __init__(self, folder: GridFolder) -> None:
        self.plan = GridPlan.load(folder.plan_file)
        self._cells = Cells(self.plan, folder)
        self._curves: dict[tuple[str, int], _Curves] = {}
        self._times: tuple[tuple[int, int], CellTimes] | None = None

    def look(self) -> GridProgress:
        """Return the grid's progress now."""
        entries = tuple(self._cells.entries())
        running = [entry for entry in entries if entry.state == "running"]
        state = (
            sum(entry.state not in {"waiting", "running"} for entry in entries),
            len(running),
        )
        if (
            self._times is None or self._times[0] != state
        ):  # a cell's time changes only when a cell begins or ends
            self._times = state, CellTimes.of(self.plan, entries)
        progress = tuple(self._progress(entry) for entry in running)
        spent_s = {
            key: time.time() - curves.started_s
            for key, curves in self._curves.items()
            if curves.started_s is not None
        }
        cost = self._times[1].cost(max(1, len(running)), spent_s)
        return GridProgress(plan=self.plan, entries=entries, running=progress, cost=cost)

    def _progress(self, entry: CellEntry) -> CellProgress:
        cell = self.plan.cell(entry.number)
        curves = self._curves.setdefault(entry.key, _Curves())
        curves.read(self.plan.run(cell))
        return CellProgress(
            cell=cell,
            entry=entry,
            step=curves.step,
            losses=tuple(curves.losses),
            dev=tuple(curves.dev),
            resumed_at=curves.resumed_at,
            trained_s=curves.trained_s,
            scored=sum(
                (self.plan.run(cell).evaluations / f"{task}.json").is_file() for task in cell.tasks
            ),
        )
