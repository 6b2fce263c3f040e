"""The contract of what runs the cells of a grid, and the loop that all kinds of machines share."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from embedlab.core.errors import Interrupted
from embedlab.experiments.attempts import CellEntry, Cells, CellState
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.preparation import alive
from embedlab.runs.events import Attempt

POLL_S = 0.2

Job = TypeVar("Job", bound=Hashable)


class Executor(Protocol):
    """Runs the cells of a grid that wait."""

    def submit(self) -> None:
        """Start work on cells that wait, as much as there is room for."""

    def poll(self) -> bool:
        """Wait a moment at most, settle what ended, and return whether there is anything left to
        wait for.
        """

    def cancel(self) -> None:
        """Request that every running cell saves its checkpoint and stops."""


def run_cells(
    plan: GridPlan,
    folder: GridFolder,
    executor: AbstractContextManager[Executor],
    *,
    show: Callable[[], None] = lambda: None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Run the prepared grid until no cell is left; SHOW is called several times a second.

    Raises Interrupted after IS_STOPPING is true, or the grid was cancelled, and the running cells
    have saved their checkpoints.
    """
    since, was_stopped, cells = time.time(), False, Cells(plan, folder)
    with alive(folder), executor as machines:
        while True:
            if not was_stopped:
                machines.submit()
            if not machines.poll():
                break
            show()
            if not was_stopped and (is_stopping() or cells.is_cancelled(since)):
                machines.cancel()
                was_stopped = True
        show()
    if not cells.is_open():
        return
    raise Interrupted(
        f"grid {plan.name!r} is stopped; what it did is saved",
        hint="the same command goes on from there",
    )


class Claims(Generic[Job]):
    """The cells that have jobs of another system, such as Ray's tasks, from this process."""

    def __init__(self, plan: GridPlan, folder: GridFolder, at_once: int) -> None:
        self.cells, self.at_once = Cells(plan, folder), at_once
        self._held: dict[Job, tuple[CellEntry, float]] = {}  # with the time when it was submitted

    @property
    def jobs(self) -> list[Job]:
        """Return the jobs that have not ended."""
        return list(self._held)

    def entry(self, job: Job) -> CellEntry:
        """Return the cell of a job."""
        return self._held[job][0]

    def new(self, *states: CellState) -> Iterator[CellEntry]:
        """Yield cells in one of these STATES that have no job while fewer have one than run at
        once; those to run must be given a job with `hold`.
        """
        held = {entry.number for entry, _ in self._held.values()}
        for cell in self.cells.plan.cells:
            if len(self._held) >= self.at_once:
                return
            if cell.number not in held and (entry := self.cells.entry(cell)).state in states:
                yield entry

    def hold(self, job: Job, entry: CellEntry) -> None:
        """Note the JOB of a cell."""
        self._held[job] = entry, time.monotonic()

    def settle(self, job: Job, returncode: int, reason: str, *, is_stopped: bool = False) -> None:
        """Record how a job ended; one that this process stopped waits."""
        entry, began = self._held.pop(job)
        attempt = entry.ended(returncode, reason, time.monotonic() - began)
        if is_stopped and returncode != 0:
            attempt = Attempt(state="waiting", seconds=attempt.seconds)
        self.cells.record(self.cells.plan.cell(entry.number), attempt)
