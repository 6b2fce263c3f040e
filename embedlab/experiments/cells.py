"""The cells of a grid: what became of each, the lock that gives it to one process, and its next
command.

A cell is done by its run, being run by its lock, and otherwise what its attempts say. These are
events in a file of the grid's folder for each cell, because a run that cannot be written has a
reason too. Only who holds the cell's lock, or waits for its job, adds to it.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, cast

import tomli_w

from embedlab.core.disk import as_disk_errors, is_locked, take_lock, wait_for_lock, write_atomic
from embedlab.core.errors import ExitCode, UsageError
from embedlab.core.foreign_files import open_own
from embedlab.core.python_processes import python_command
from embedlab.experiments.plan import Cell, GridFolder, GridPlan, shared_values
from embedlab.runs.events import Attempt, EventLog, tail
from embedlab.runs.launch import Detached, start_detached, start_run
from embedlab.runs.status import run_status
from embedlab.runs.store import GRIDS, RunFolder
from embedlab.runs.tidy import drop_checkpoints

PROGRAM = python_command()
CellState = Literal["waiting", "running", "done", "failed", "cancelled"]  # by its user

MAX_ERRORS = 2  # endings with an error: the second is final
MOST_BYTES = 2**20  # of a cell's newest attempts, which take some hundred each
MAX_KILLS = 4  # endings by a signal from outside: more are not a coincidence
_STATES: Mapping[str, CellState] = {
    "starting": "running",
    "running": "running",
    "silent": "running",
    "failed": "failed",
    "cancelled": "cancelled",
}  # a run's, as a cell's


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """A cell, and what became of it."""

    cell: Cell
    state: CellState
    errors: int = 0  # endings with an error since the grid was last started
    kills: int = 0  # endings by a signal from outside
    seconds: float = 0.0  # spent on it so far by all its processes, in total
    reason: str = ""  # why it failed

    def ended(self, returncode: int, reason: str, seconds: float) -> Attempt:
        """Return the attempt that took SECONDS and ended with this exit code for this REASON: the
        end, or a reason for another try.
        """
        kills, errors = int(returncode < 0), int(returncode > 0)
        if returncode == 0:
            state = "done"
        elif returncode == ExitCode.INTERRUPTED:
            state, reason, errors = "cancelled", "stopped by its user", 0
        elif returncode == ExitCode.USAGE:  # it will not go away
            state = "failed"
        else:
            is_final = self.errors + errors >= MAX_ERRORS or self.kills + kills >= MAX_KILLS
            state = "failed" if is_final else "waiting"
        return Attempt(state=state, reason=reason, errors=errors, kills=kills, seconds=seconds)


class Cells:
    """The cells of a grid; the files of a cell that is done are not read again."""

    def __init__(self, plan: GridPlan) -> None:
        self.plan = plan
        self._done: dict[int, CellEntry] = {}

    def start(self) -> None:
        """Note which cells are done, and give each other one a new chance."""
        for cell in self.plan.cells:
            last_state = [attempt.state for attempt in self._attempts(cell)][-1:]
            if is_complete(cell):
                drop_checkpoints(cell.run)  # left by a worker that was killed at its end
                if last_state != ["done"]:
                    self.record(cell, Attempt(state="done"))
            elif last_state == ["done"] or self.entry(cell).state in {"failed", "cancelled"}:
                self.record(cell, Attempt(state="waiting"))

    def entries(self) -> list[CellEntry]:
        """Return every cell in the plan's order."""
        return [self.entry(cell) for cell in self.plan.cells]

    def entry(self, cell: Cell) -> CellEntry:
        """Return what became of a CELL."""
        if cell.number in self._done:
            return self._done[cell.number]
        attempts = self._attempts(cell)
        last_attempt = attempts[-1] if attempts else Attempt(state="waiting")
        if last_attempt.state == "done" and has_results(cell):
            entry = CellEntry(cell=cell, state="done")
        else:
            entry = entry_of_run(cell)
            if attempts and entry.state not in {"done", "running"}:
                # what was done and is not was removed since
                state = (
                    "waiting"
                    if last_attempt.state == "done"
                    else cast("CellState", last_attempt.state)
                )
                entry = replace(entry, state=state, reason=last_attempt.reason)
        chances = [number for number, attempt in enumerate(attempts) if attempt.is_new_chance]
        recent_attempts = attempts[chances[-1] :] if chances else attempts
        entry = replace(
            entry,
            errors=sum(attempt.errors for attempt in recent_attempts),
            kills=sum(attempt.kills for attempt in recent_attempts),
            seconds=sum(attempt.seconds for attempt in attempts),
        )
        if last_attempt.state == entry.state == "done":
            self._done[cell.number] = entry
        return entry

    def is_open(self) -> bool:
        """Return whether a cell waits or runs."""
        return any(self.entry(cell).state in {"waiting", "running"} for cell in self.plan.cells)

    def record(self, cell: Cell, attempt: Attempt) -> None:
        """Add an ATTEMPT of a cell."""
        with EventLog(self._log(cell)) as log:
            log.append(attempt)

    def request_cancel(self) -> None:
        """Request that every process that works on the grid stops."""
        write_atomic(self.plan.folder.path / "cancelled", repr(time.time()))

    def is_cancelled(self, since_s: float) -> bool:
        """Return whether a stop was requested after SINCE."""
        with suppress(OSError, ValueError):
            text = (self.plan.folder.path / "cancelled").read_text(encoding="utf-8")
            return float(text) > since_s
        return False

    def _attempts(self, cell: Cell) -> list[Attempt]:
        try:
            stored = tail(self._log(cell), size=MOST_BYTES)
        except FileNotFoundError:
            return []
        return [event for event in stored if isinstance(event, Attempt)]

    def _log(self, cell: Cell) -> Path:
        return self.plan.folder.cells / f"{cell.id}.jsonl"


def entry_of_run(cell: Cell) -> CellEntry:
    """Return the state of a cell from its run and its lock alone."""
    if is_held(_lock_file(cell)):  # by a process that may be loading or evaluating
        return CellEntry(cell=cell, state="running")
    if not cell.run.path.is_dir():
        return CellEntry(cell=cell, state="waiting")
    status = run_status(cell.run)
    if status.state == "finished" and has_results(cell):
        return CellEntry(cell=cell, state="done")
    state = _STATES.get(status.state, "waiting")
    return CellEntry(cell=cell, state=state, reason=status.message)


def is_complete(cell: Cell) -> bool:
    """Return whether the cell's run is finished and evaluated on all its tasks."""
    return has_results(cell) and run_status(cell.run).state == "finished"


def has_results(cell: Cell) -> bool:
    """Return whether a model and all evaluations exist, even of a run that was restarted."""
    return cell.run.model.is_dir() and not cell.unscored


def next_command(plan: GridPlan, cell: Cell, *, gpus: int = 1) -> list[str] | None:
    """Return the arguments of `embedlab` for the next step of a cell of PLAN, a training on so many
    GPUS; None when it is complete.
    """
    is_trained = run_status(cell.run).state == "finished" and cell.run.model.is_dir()
    if is_trained:
        unscored = cell.unscored
        return ["evaluate", cell.id, *unscored[0]] if unscored else None
    path, text = plan.folder.cells / f"{cell.variant.run}.toml", tomli_w.dumps(cell.variant.recipe)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomic(path, text)
    return [
        "train",
        str(path),
        "--resume",
        "--name",
        cell.run.name,
        "--seed",
        str(cell.seed),
        "--encoder",
        cell.variant.recipe["encoder"]["model"],
        *(["--gpus", str(gpus)] if gpus > 1 else []),
    ]


def cell_environment(plan: GridPlan, gpu: str | None) -> dict[str, str]:
    """Return the environment of a cell's process: the grid's settings, its threads, and its GPU."""
    settings = {"runs": plan.place.runs, **shared_values(plan.place)}
    settings |= {"threads": plan.threads, "format": "json"}
    variables = {
        f"EMBEDLAB_{key.upper()}": "" if value is None else str(value)
        for key, value in settings.items()
    }
    variables |= {"OMP_NUM_THREADS": str(plan.threads), "TOKENIZERS_PARALLELISM": "false"}
    if gpu is not None:
        variables["CUDA_VISIBLE_DEVICES"] = gpu
    return {**os.environ, **variables}


class CellLock:
    """The lock of a cell, which its process inherits: while that lives, no other process can start
    the cell.

    It outlives a worker that is killed and ends with the cell's process, without a heartbeat. Grids
    that share a run, as tables of a paper do, share its lock.
    """

    def __init__(self, cell: Cell, *, inherited: int | None = None) -> None:
        path = _lock_file(cell)
        if inherited is not None:
            self.descriptor = inherited
            return
        with as_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def acquire(self) -> bool:
        """Take the lock; False while a process holds it."""
        return take_lock(
            self.descriptor, patience_s=(0.02,)
        )  # a process that checks the lock holds it for an instant

    def start(
        self, program: Sequence[str], command: Sequence[str], env: Mapping[str, str], run: RunFolder
    ) -> Detached:
        """Start COMMAND of PROGRAM as the holder of the lock; its output goes to the log of RUN,
        which a training process owns from now on.
        """
        options: Any = {
            "program": program,
            "environment": env,
            "inherited": (self.descriptor,),
        }
        if command[0] == "train":
            return start_run(command, run, **options)
        return start_detached(command, run.log_file, errors=run.events_file, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the lock; a process that was started holds it until it ends."""
        os.close(self.descriptor)


def _lock_file(cell: Cell) -> Path:
    return cell.runs / GRIDS / ".cells" / f"{cell.id}.lock"


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock of this file; an unreadable file counts as free."""
    try:
        return is_locked(path)
    except OSError:
        return False


@contextmanager
def hold_plan(plan: GridPlan) -> Iterator[None]:
    """Fix the grid to PLAN within the block.

    Another plan is refused from the beginning, even while the workers still load: they would take
    its cells for their own.
    """
    with ExitStack() as stack:
        with hold_plan_lock(plan.folder):
            prepare_grid(plan)
            stack.enter_context(show_alive(plan.folder))
        yield


@contextmanager
def hold_plan_lock(folder: GridFolder) -> Iterator[None]:
    """Be the only process that checks whether the grid may have another plan."""
    path = folder.path / "plan.lock"
    with as_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open_own(path)
    with file:
        wait_for_lock(file.fileno())
        yield


def prepare_grid(plan: GridPlan) -> None:
    """Write PLAN into the grid's folder, and give what failed a new chance."""
    store_plan(plan)
    Cells(plan).start()


def store_plan(plan: GridPlan) -> None:
    """Write PLAN into the grid's folder; while workers are running, another plan is refused."""
    path = plan.folder.plan_file
    if path.is_file() and path.read_text(encoding="utf-8") == plan.to_json():
        return
    if is_alive(plan.folder):
        raise UsageError(
            f"grid {plan.name!r} is running with another plan than its file says now",
            hint=f"wait until it ends, or stop it with `embedlab grid cancel {plan.name}`; "
            f"finished cells stay",
        )
    plan.save()


@contextmanager
def show_alive(folder: GridFolder) -> Iterator[None]:
    """Show other processes within the block that this one works on the grid, by a lock that all who
    do share.
    """
    with as_disk_errors(folder.alive_file):
        folder.path.mkdir(parents=True, exist_ok=True)
        file = open_own(folder.alive_file)
    with file:
        wait_for_lock(file.fileno(), is_shared=True)
        yield


def is_alive(folder: GridFolder) -> bool:
    """Return whether a process of this machine works on the grid."""
    with suppress(OSError), open_own(folder.alive_file, "r+b") as file:
        # another process that asks holds it for an instant
        return not take_lock(file.fileno(), patience_s=(0.02, 0.1))
    return False
