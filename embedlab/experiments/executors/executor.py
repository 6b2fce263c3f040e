"""What runs the cells of a grid on any kind of machines, and the loop that all share."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from embedlab.core.errors import Interrupted
from embedlab.experiments.cells import CellEntry, Cells, CellState, alive
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.runs.events import Attempt

POLL_S = 0.2

Job = TypeVar("Job", bound=Hashable)


class Executor(Generic[Job]):
    """Runs the cells of a grid that wait, as jobs of this machine or of another system."""

    def __init__(self, plan: GridPlan, folder: GridFolder, at_once: int) -> None:
        self.plan, self.folder, self.at_once = plan, folder, at_once
        self.cells, self.is_cancelled = Cells(plan, folder), False
        # those that have not ended: the cell of each, and the time when it was submitted
        self.jobs: dict[Job, tuple[CellEntry, float]] = {}

    def submit(self) -> None:
        """Start work on cells that wait, as much as there is room for."""
        raise NotImplementedError

    def look(self) -> None:
        """Wait a moment at most, and settle what ended."""
        raise NotImplementedError

    def stop(self) -> None:
        """Request that every running cell saves its checkpoint and stops."""
        raise NotImplementedError

    def poll(self) -> bool:
        """Look at the jobs, and return whether there is anything left to wait for."""
        self.look()
        return bool(self.jobs) or (not self.is_cancelled and self.cells.is_open())

    def cancel(self) -> None:
        """Stop the cells; they wait for another start."""
        self.is_cancelled = True
        self.stop()

    def waiting(self, *states: CellState) -> Iterator[CellEntry]:
        """Yield cells in one of these STATES that have no job while fewer have one than run at
        once; those to run must be given a job with `hold`.
        """
        held = {entry.cell.number for entry, _ in self.jobs.values()}
        for cell in self.plan.cells:
            if len(self.jobs) >= self.at_once:
                return
            if cell.number not in held and (entry := self.cells.entry(cell)).state in states:
                yield entry

    def hold(self, job: Job, entry: CellEntry) -> None:
        """Note the JOB of a cell."""
        self.jobs[job] = entry, time.monotonic()

    def settle(self, job: Job, returncode: int, reason: str) -> None:
        """Record how a job ended; one that this process stopped waits."""
        entry, began = self.jobs.pop(job)
        attempt = entry.ended(returncode, reason, time.monotonic() - began)
        if self.is_cancelled and returncode != 0:
            attempt = Attempt(state="waiting", seconds=attempt.seconds)
        self.cells.record(entry.cell, attempt)


def run_cells(
    plan: GridPlan,
    folder: GridFolder,
    executor: AbstractContextManager[Executor[Any]],
    *,
    show: Callable[[], None] = lambda: None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Run the prepared grid until no cell is left; SHOW is called several times a second.

    Raises Interrupted after IS_STOPPING is true, or the grid was cancelled, and the running cells
    have saved their checkpoints.
    """
    since, cells = time.time(), Cells(plan, folder)
    with alive(folder), executor as machines:
        machines.submit()
        while machines.poll():
            show()
            if not machines.is_cancelled and (is_stopping() or cells.is_cancelled(since)):
                machines.cancel()
            if not machines.is_cancelled:
                machines.submit()
        show()
    if cells.is_open():
        raise Interrupted(
            f"grid {plan.name!r} is stopped; what it did is saved",
            hint="the same command goes on from there",
        )
