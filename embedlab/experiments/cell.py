"""The processes of one cell: the next command, the lock that gives the cell to one process, and the
reason why it ended.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import tomli_w

from embedlab.core import python_processes
from embedlab.core.disk import disk_errors, is_locked, take_lock, write_atomic
from embedlab.core.errors import MEMORY
from embedlab.core.foreign_files import open_own
from embedlab.core.python_processes import python_command
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs.endings import failure_after, length, with_errors_to
from embedlab.runs.status import run_status
from embedlab.runs.store import GRIDS, RunFolder

PROGRAM = python_command()


def is_complete(plan: GridPlan, cell: Cell) -> bool:
    """Return whether the cell's run is finished and evaluated on all its tasks."""
    return has_results(plan, cell) and _is_trained(plan.run(cell))


def has_results(plan: GridPlan, cell: Cell) -> bool:
    """Return whether a model and all evaluations exist, even of a run that was restarted."""
    run = plan.run(cell)
    return run.model.is_dir() and all(
        (run.evaluations / f"{task}.json").is_file() for task in cell.tasks
    )


def is_being_run(plan: GridPlan, cell: Cell) -> bool:
    """Return whether a process of this machine trains or evaluates the cell."""
    return is_held(_lock_file(plan, cell))


def _is_trained(run: RunFolder) -> bool:
    return run_status(run).state == "finished"


def next_command(
    plan: GridPlan, folder: GridFolder, cell: Cell, *, gpus: int = 1
) -> list[str] | None:
    """Return the arguments of `embedlab` for the cell's next step, a training on so many GPUS; None
    when it is complete.
    """
    if is_complete(plan, cell):
        return None
    run = plan.run(cell)
    if _is_trained(run) and run.model.is_dir():
        missing = next(
            words
            for task, words in cell.tasks.items()
            if not (run.evaluations / f"{task}.json").is_file()
        )
        return ["evaluate", cell.id, *missing]
    encoder = cell.variant.recipe["encoder"]["model"]
    recipe = cell_recipe_file(folder, cell)
    return [
        "train",
        str(recipe),
        "--resume",
        "--name",
        run.name,
        "--seed",
        str(run.seed),
        "--encoder",
        encoder,
        *(["--gpus", str(gpus)] if gpus > 1 else []),
    ]


def cell_recipe_file(folder: GridFolder, cell: Cell) -> Path:
    """Return the file of the cell's resolved recipe, written when it is first needed."""
    path = folder.cells / f"{cell.variant.run}.toml"
    text = tomli_w.dumps(cell.variant.recipe)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomic(path, text)
    return path


def cell_environment(plan: GridPlan, gpu: str | None) -> dict[str, str]:
    """Return the environment of a cell's process: the grid's settings, its threads, and its GPU."""
    place = plan.place
    settings = {
        "runs": place.runs,
        "cache": place.cache,
        "data": place.data or "",
        "offline": str(place.offline),
        "allow_partial": str(place.allow_partial),
        "device": place.device,
        "precision": place.precision,
        "deterministic": str(place.deterministic),
        "threads": str(plan.threads),
        "format": "json",
    }
    variables = {f"EMBEDLAB_{key.upper()}": value for key, value in settings.items()}
    variables |= {"OMP_NUM_THREADS": str(plan.threads), "TOKENIZERS_PARALLELISM": "false"}
    return {**os.environ, **variables, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu is not None else {})}


class CellLock:
    """The lock of a cell, which its process inherits: while that lives, no other process can start
    the cell.

    It outlives a worker that is killed and ends with the cell's process, without a heartbeat. Grids
    that share a run, as tables of a paper do, share its lock.
    """

    def __init__(self, plan: GridPlan, cell: Cell, *, inherited: int | None = None) -> None:
        path = _lock_file(plan, cell)
        if inherited is not None:
            self.descriptor = inherited
            return
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def acquire(self) -> bool:
        """Take the lock; False while a process holds it."""
        return take_lock(
            self.descriptor, patience_s=(0.02,)
        )  # a process that checks the lock holds it for an instant

    def start(
        self, program: Sequence[str], command: Sequence[str], env: Mapping[str, str], run: RunFolder
    ) -> "CellProcess":
        """Start COMMAND of PROGRAM as the holder of the lock, in its own session, with its output
        appended to the log of RUN.

        A training process owns the run from now on: if it dies before it begins, the run does not
        count as running.
        """
        offset = length(run.events_file)
        with ExitStack() as stack:
            claims = [stack.enter_context(run.claim())] if command[0] == "train" else []
            with disk_errors(run.log_file):
                run.path.mkdir(parents=True, exist_ok=True)
                log = stack.enter_context(open_own(run.log_file))
            process = python_processes.start(
                [*program, *command],
                environment=with_errors_to(run.events_file, env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(self.descriptor, *claims),
            )
            if claims:
                run.hand_over(process.pid)
            return CellProcess(process=process, run=run, offset=offset)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the lock; a process that was started holds it until it ends."""
        os.close(self.descriptor)


def _lock_file(plan: GridPlan, cell: Cell) -> Path:
    return plan.place.runs_folder / GRIDS / ".cells" / f"{cell.id}.lock"


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock of this file; an unreadable file counts as free."""
    try:
        return is_locked(path)
    except OSError:
        return False


@dataclass(frozen=True, kw_only=True)
class CellProcess:
    """A process of a cell, and the offset of its own events in the run's event file."""

    process: "subprocess.Popen[bytes]"
    run: RunFolder
    offset: int

    def reason(self) -> str:
        """Return in one line why it ended with an error: its own report, else how it ended."""
        returncode = self.process.returncode
        if returncode < 0:
            by_system = (
                ", as the system does when memory runs out" if returncode == -signal.SIGKILL else ""
            )
            return f"killed by {signal.Signals(-returncode).name}{by_system}"
        failed = failure_after(self.run.events_file, self.offset)
        if failed is None:
            return f"exit code {returncode} without an error; its log may say more"
        return f"out of memory: {failed.message}" if failed.cause == MEMORY else failed.message
