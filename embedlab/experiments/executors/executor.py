"""The contract of what runs the cells of a grid, and the loop that all kinds of machines share."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from embedlab.core.errors import EmbedlabError, Interrupted
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.queue import Ending, Queue, QueueEntry
from embedlab.experiments.worker import RENEW_S, alive, dead_workers, worker_name

POLL_S = 0.2

Job = TypeVar("Job", bound=Hashable)


class Executor(Protocol):
    """Runs the cells that wait in the queue of a grid."""

    def submit(self) -> None:
        """Start work on cells that wait, as much as there is room for."""

    def poll(self) -> bool:
        """Wait a moment at most, settle what ended, and return whether there is anything left to
        wait for.
        """

    def cancel(self) -> None:
        """Request that every running cell saves its checkpoint and stops."""

    def complaint(self) -> str:
        """Return why it gave up before the cells were done; empty where it did not."""


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
    since, was_stopped = time.time(), False
    with executor as machines, Queue(folder.queue_file) as queue:
        while True:
            if not was_stopped:
                machines.submit()
            if not machines.poll():
                break
            show()
            if not was_stopped and (is_stopping() or queue.is_cancelled(since)):
                machines.cancel()
                was_stopped = True
        show()
        if not queue.is_open():
            return
        complaint = machines.complaint()
    if complaint:
        raise EmbedlabError(
            f"the workers of grid {plan.name!r} gave up: {complaint}",
            hint=f"see {str(folder.log_file)!r}, then run the grid again",
        )
    raise Interrupted(
        f"grid {plan.name!r} is stopped; what it did is saved",
        hint="the same command goes on from there",
    )


@dataclass(frozen=True, kw_only=True)
class _Claim:
    entry: QueueEntry
    began: float


class Claims(Generic[Job]):
    """The cells that this process has claimed for the jobs of another system, such as Ray's
    tasks.
    """

    def __init__(self, folder: GridFolder, at_once: int) -> None:
        self.folder, self.at_once = folder, at_once
        self.queue, self.name = Queue(folder.queue_file), worker_name()
        self._claims: dict[Job, _Claim] = {}
        self._renewed = time.monotonic()

    @property
    def jobs(self) -> list[Job]:
        """Return the jobs that have not ended."""
        return list(self._claims)

    def alive(self) -> AbstractContextManager[None]:
        """Show other processes within the block that the claims are held."""
        return alive(self.folder.workers / self.name)

    def entry(self, job: Job) -> QueueEntry:
        """Return the cell of a job."""
        return self._claims[job].entry

    def new(self) -> Iterator[QueueEntry]:
        """Claim cells until there are as many as run at once; each must be given its job with
        `hold`.
        """
        while (
            len(self._claims) < self.at_once
            and (entry := self.queue.claim(self.name, dead_workers(self.folder))) is not None
        ):
            yield entry

    def hold(self, job: Job, entry: QueueEntry) -> None:
        """Hold the claim on a cell for its JOB."""
        self._claims[job] = _Claim(entry=entry, began=time.monotonic())

    def settle(self, job: Job, ending: Ending) -> None:
        """Give up the claim of a job that ended."""
        claim = self._claims.pop(job)
        self.queue.settle(claim.entry, ending, time.monotonic() - claim.began)

    def renew(self) -> None:
        """Renew the claims when it is time."""
        if time.monotonic() - self._renewed > RENEW_S:
            self.queue.renew_all(self.name)
            self._renewed = time.monotonic()
