"""A grid before its cells run: its plan fixed in its folder, and its cells in the queue."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from embedlab.core.disk import disk_errors, wait_for_lock
from embedlab.core.errors import UsageError
from embedlab.core.foreign_files import open_own
from embedlab.experiments.cell import is_complete
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.queue import Queue
from embedlab.experiments.worker import alive, is_alive, worker_name
from embedlab.runs.tidy import drop_checkpoints


@contextmanager
def started(plan: GridPlan, folder: GridFolder) -> Iterator[None]:
    """Fix the grid to PLAN, with its cells in the queue, within the block.

    Another plan is refused from the beginning, even while the workers still load: they would take
    its cells for their own.
    """
    with ExitStack() as stack:
        with alone(folder):
            prepare_grid(plan, folder)
            stack.enter_context(alive(folder.workers / worker_name()))
        yield


@contextmanager
def alone(folder: GridFolder) -> Iterator[None]:
    """Be the only process that checks whether the grid may have another plan."""
    path = folder.path / "plan.lock"
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open_own(path)
    with file:
        wait_for_lock(file.fileno())
        yield


def prepare_grid(plan: GridPlan, folder: GridFolder) -> None:
    """Write PLAN into the grid's folder and its cells into the queue; cells whose runs are complete
    are done already.
    """
    store_plan(plan, folder)
    complete = [cell for cell in plan.cells if is_complete(plan, cell)]
    for cell in complete:  # left by a worker that was killed after the end of a cell
        drop_checkpoints(plan.run(cell))
    done = {(cell.variant.run, cell.seed) for cell in complete}
    with Queue(folder.queue_file) as queue:
        queue.fill([(cell.variant.run, cell.seed) for cell in plan.cells], done)


def store_plan(plan: GridPlan, folder: GridFolder) -> None:
    """Write PLAN into the grid's folder; while workers are running, another plan is refused."""
    if (
        folder.plan_file.is_file()
        and folder.plan_file.read_text(encoding="utf-8") == plan.to_json()
    ):
        return
    if is_alive(folder):
        raise UsageError(
            f"grid {plan.name!r} is running with another plan than its file says now",
            hint=f"wait until it ends, or stop it with `embedlab grid cancel {plan.name}`; "
            f"finished cells stay",
        )
    plan.save(folder.plan_file)
