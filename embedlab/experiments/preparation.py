"""A grid before its cells run: its plan fixed in its folder, and a new chance for each cell."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

from embedlab.core.disk import disk_errors, wait_for_lock
from embedlab.core.errors import UsageError
from embedlab.core.foreign_files import open_own
from embedlab.experiments.attempts import Cells
from embedlab.experiments.cell import is_held
from embedlab.experiments.plan import GridFolder, GridPlan


@contextmanager
def started(plan: GridPlan, folder: GridFolder) -> Iterator[None]:
    """Fix the grid to PLAN within the block.

    Another plan is refused from the beginning, even while the workers still load: they would take
    its cells for their own.
    """
    with ExitStack() as stack:
        with alone(folder):
            prepare_grid(plan, folder)
            stack.enter_context(alive(folder))
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
    """Write PLAN into the grid's folder, and give what failed a new chance."""
    store_plan(plan, folder)
    Cells(plan, folder).start()


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


@contextmanager
def alive(folder: GridFolder) -> Iterator[None]:
    """Show other processes within the block that this one works on the grid, by a locked file."""
    path = folder.workers / f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f".{path.name}")  # must not be found before it is locked
        with hidden.open("wb") as file:
            wait_for_lock(file.fileno())
            hidden.rename(path)
            yield
            path.unlink(missing_ok=True)


def is_alive(folder: GridFolder) -> bool:
    """Return whether a process of this machine works on the grid; files of dead ones are
    removed.
    """
    there = [path for path in folder.workers.glob("[!.]*") if is_held(path)]
    for path in folder.workers.glob("[!.]*"):
        if path not in there:
            path.unlink(missing_ok=True)
    return bool(there)
