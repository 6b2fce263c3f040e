"""How far a grid is: the same facts for the board, `grid status` and the dashboard, from queue and event files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from embedlab.grids.cell import is_complete
from embedlab.grids.estimate import Cost, remaining_cost
from embedlab.grids.plan import Cell, GridFolder, Plan
from embedlab.grids.queue import Entry, Queue, State
from embedlab.runs import events
from embedlab.runs.status import status
from embedlab.runs.store import RunFolder

_STATES: Mapping[str, State] = {
    "starting": "running",
    "running": "running",
    "silent": "running",
    "failed": "failed",
}  # a run's, as a cell's

CURVE = 400  # the newest points of a curve that are kept


@dataclass(frozen=True, kw_only=True)
class CellProgress:
    """A cell, what the queue knows of it, and its curves so far."""

    cell: Cell
    entry: Entry
    step: events.Step | None = None
    losses: tuple[float, ...] = ()
    dev: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GridProgress:
    """A grid at one moment."""

    plan: Plan
    entries: tuple[Entry, ...]
    running: tuple[CellProgress, ...]
    cost: Cost  # of what is left

    @property
    def counts(self) -> Mapping[State, int]:
        """Cells by state."""
        return Counter(entry.state for entry in self.entries)

    @property
    def failed(self) -> list[Entry]:
        """The cells that failed for good."""
        return [entry for entry in self.entries if entry.state == "failed"]


@dataclass
class _Curves:
    """What was read of a run's events so far."""

    offset: int = 0
    step: events.Step | None = None
    losses: list[float] = field(default_factory=list)
    dev: list[float] = field(default_factory=list)

    def read(self, run: RunFolder) -> None:
        """Take up the events that came since the last look."""
        try:
            found, self.offset = events.follow(run.events_file, self.offset)
        except FileNotFoundError:
            return
        for event in found:
            if isinstance(event, events.Step):
                self.step = event
                self.losses.append(event.loss)
            elif isinstance(event, events.Dev):
                self.dev.append(event.score)
        del self.losses[:-CURVE], self.dev[:-CURVE]


class Watcher:
    """Follows a grid: each look reads what is new."""

    def __init__(self, folder: GridFolder) -> None:
        self.plan = Plan.load(folder.plan_file)
        self._queue_file = folder.queue_file
        self._queue: Queue | None = None
        self._curves: dict[tuple[str, int], _Curves] = {}
        self._cost: tuple[tuple[int, int], Cost] | None = None

    def look(self) -> GridProgress:
        """The grid now."""
        if self._queue is None and self._queue_file.is_file():
            self._queue = Queue(self._queue_file)
        entries = tuple(self._queue.entries() if self._queue is not None else entries_of_runs(self.plan))
        running = [entry for entry in entries if entry.state == "running"]
        state = sum(entry.state not in {"waiting", "running", "paused"} for entry in entries), len(running)
        if self._cost is None or self._cost[0] != state:  # the estimate moves only when a cell begins or ends
            self._cost = state, remaining_cost(self.plan, entries, max(1, len(running)))
        return GridProgress(plan=self.plan, entries=entries, running=tuple(self._progress(entry) for entry in running), cost=self._cost[1])

    def _progress(self, entry: Entry) -> CellProgress:
        cell = self.plan.cell(entry.number)
        curves = self._curves.setdefault(entry.key, _Curves())
        curves.read(self.plan.run(cell))
        return CellProgress(cell=cell, entry=entry, step=curves.step, losses=tuple(curves.losses), dev=tuple(curves.dev))

    def close(self) -> None:
        """Close the queue."""
        if self._queue is not None:
            self._queue.close()


def entries_of_runs(plan: Plan) -> Iterator[Entry]:
    """What the runs alone say of the cells, where no queue was filled: those of a job array are claimed by nobody."""
    for cell in plan.cells:
        found = status(plan.run(cell))
        state: State = "done" if is_complete(plan, cell) else _STATES.get(found.state, "waiting")
        yield Entry(run=cell.variant.run, seed=cell.seed, number=cell.number, state=state, reason=found.message)
