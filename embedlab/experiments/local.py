"""A grid on this machine: fills the queue from the plan, and runs worker processes that share it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Self

from embedlab.core import python_processes
from embedlab.core.errors import EmbedlabError, ExitCode, Interrupted, UsageError
from embedlab.core.python_processes import python_command
from embedlab.experiments.cell import PROGRAM, CellLock, cell_environment, is_complete, next_command
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.experiments.queue import Queue
from embedlab.experiments.worker import CHECKPOINT_GRACE_S, alive, is_alive, worker_name
from embedlab.runs.endings import failure_after, length, with_errors_to
from embedlab.runs.tidy import drop_checkpoints
from embedlab.store.files import disk_errors
from embedlab.store.locks import wait_for_lock

RESTARTS = 5  # restarts of each worker: if it dies more often, a restart does not help
POLL_S = 0.2


@contextmanager
def started(plan: GridPlan, folder: GridFolder, rungs: Sequence[float] = ()) -> Iterator[None]:
    """Fix the grid to PLAN, with its cells in the queue, within the block.

    Another plan is refused from the beginning, even while the workers still load: they would take its cells for their own.
    """
    with ExitStack() as stack:
        with alone(folder):
            prepare_grid(plan, folder, rungs)
            stack.enter_context(alive(folder.workers / worker_name()))
        yield


@contextmanager
def alone(folder: GridFolder) -> Iterator[None]:
    """Be the only process that checks whether the grid may have another plan."""
    path = folder.path / "plan.lock"
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        wait_for_lock(file.fileno())
        yield


def prepare_grid(plan: GridPlan, folder: GridFolder, rungs: Sequence[float] = ()) -> None:
    """Write PLAN into the grid's folder and its cells into the queue; cells whose runs are complete are done already."""
    store_plan(plan, folder)
    complete = [cell for cell in plan.cells if is_complete(plan, cell)]
    for cell in complete:  # left by a worker that was killed after the end of a cell
        drop_checkpoints(plan.run(cell))
    done = {(cell.variant.run, cell.seed) for cell in complete}
    with Queue(folder.queue_file) as queue:
        queue.fill([(cell.variant.run, cell.seed) for cell in plan.cells], done, rungs)


def store_plan(plan: GridPlan, folder: GridFolder) -> None:
    """Write PLAN into the grid's folder; while workers are running, another plan is refused."""
    if folder.plan_file.is_file() and folder.plan_file.read_text(encoding="utf-8") == plan.to_json():
        return
    if is_alive(folder) and GridPlan.load(folder.plan_file) != plan:  # an earlier version may have written an equal plan differently
        raise UsageError(
            f"grid {plan.name!r} is running with another plan than its file says now",
            hint=f"wait until it ends, or stop it with `embedlab grid cancel {plan.name}`; finished cells stay",
        )
    plan.save(folder.plan_file)


class Crew:
    """Worker processes on this machine; they end with the block, and with this process."""

    def __init__(self, folder: GridFolder, workers: int, *, gpus: Sequence[str] = (), program: Sequence[str] = PROGRAM) -> None:
        self.folder, self.program, self._since = folder, program, time.time()
        self._gpus = assigned_gpus(workers, gpus)
        self._restarts = [0] * workers
        self._errors = folder.path / "errors.jsonl"  # of the workers
        self._offset = length(self._errors)
        self._processes = [self._start(slot) for slot in range(workers)]

    def _start(self, slot: int) -> "subprocess.Popen[bytes]":
        gpu = ["--gpu", self._gpus[slot]] if self._gpus else []
        options = ["--parent", str(os.getpid()), "--since", str(self._since), *gpu]
        command = python_command(*options, str(self.folder.path), "--", *self.program, module="embedlab.experiments.worker")
        with disk_errors(self.folder.log_file), self.folder.log_file.open("ab") as log:
            env = with_errors_to(self._errors, os.environ)
            # A session of its own: Ctrl-C reaches this process alone, which then stops the workers once.
            return python_processes.start(
                command, environment=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def is_working(self) -> bool:
        """Return whether a worker is alive; one that was killed is replaced."""
        for slot, process in enumerate(self._processes):
            if process.poll() not in {None, ExitCode.OK, ExitCode.INTERRUPTED} and self._restarts[slot] < RESTARTS:
                self._restarts[slot] += 1
                self._processes[slot] = self._start(slot)
        return any(process.poll() is None for process in self._processes)

    def request_stop(self) -> None:
        """Request that every worker saves its cell's checkpoint and ends; a second request kills the cells."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)

    def complaint(self) -> str:
        """Return why a worker gave up, for instance on a full disk; empty when all ended well."""
        if all(process.poll() in {ExitCode.OK, ExitCode.INTERRUPTED} for process in self._processes):
            return ""
        failed = failure_after(self._errors, self._offset)
        return failed.message if failed is not None else "a worker died"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if any(process.poll() is None for process in self._processes):
            self.request_stop()
        deadline = time.monotonic() + CHECKPOINT_GRACE_S
        for process in self._processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def run_local(
    plan: GridPlan,
    folder: GridFolder,
    workers: int,
    *,
    gpus: Sequence[str] = (),
    program: Sequence[str] = PROGRAM,
    show: Callable[[], None] = lambda: None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Run the prepared grid with this many WORKERS until no cell is left; SHOW is called several times a second.

    Raises Interrupted after IS_STOPPING is true and the running cells have saved their checkpoints.
    """
    with Crew(folder, workers, gpus=gpus, program=program) as crew:
        was_stopped = False
        while crew.is_working():
            show()
            if is_stopping() and not was_stopped:
                crew.request_stop()
                was_stopped = True
            time.sleep(POLL_S)
        show()
        complaint = crew.complaint()
    with Queue(folder.queue_file) as queue:
        if not queue.is_open():
            return
    if complaint:
        raise EmbedlabError(
            f"the workers of grid {plan.name!r} gave up: {complaint}", hint=f"see {str(folder.log_file)!r}, then run the grid again"
        )
    raise Interrupted(f"grid {plan.name!r} is stopped; what it did is saved", hint="the same command goes on from there")


def run_cell(plan: GridPlan, folder: GridFolder, number: int, *, program: Sequence[str] = PROGRAM) -> None:
    """Run one cell in this process, without the queue: for a job array on machines that share a network disk.

    The grid finds the cell later by its run. Its output goes to the run's log.
    """
    cell = plan.cell(number)
    returncode, reason = finish_cell(plan, folder, cell, program=program)
    if returncode == ExitCode.INTERRUPTED:
        raise Interrupted(f"cell {number} ({cell.id}) is stopped; a checkpoint is saved", hint="the same command goes on from there")
    if returncode != 0:
        raise EmbedlabError(f"cell {number} ({cell.id}) failed: {reason}", hint=f"embedlab runs log {cell.id}")


def finish_cell(
    plan: GridPlan, folder: GridFolder, cell: Cell, *, program: Sequence[str] = PROGRAM, is_patient: bool = False
) -> tuple[int, str]:
    """Run all remaining steps of a cell in processes of its own; return the last exit code and the error.

    If another process runs the cell: wait if PATIENT, otherwise raise an error.
    """
    run = plan.run(cell)
    last: list[str] | None = None
    while True:
        lock = CellLock(plan, cell)
        try:
            while not lock.acquire():
                if not is_patient:
                    raise EmbedlabError(f"cell {cell.id} is run by another process", hint=f"embedlab runs log {cell.id} --follow")
                time.sleep(POLL_S)
            command = next_command(plan, folder, cell)
            if command is None:
                drop_checkpoints(run)
                return ExitCode.OK, ""
            if command == last:
                return ExitCode.FAILED, f"`embedlab {command[0]}` ended without an error, but its results are not there"
            started = lock.start(program, command, cell_environment(plan, os.environ.get("CUDA_VISIBLE_DEVICES")), run)
        finally:
            lock.close()
        _wait(started.process)
        if started.process.returncode != 0:
            return started.process.returncode, started.reason()
        last = command


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a cell's process, and stop it when this process is stopped."""
    # A signal that is deliberately ignored, as SIGHUP under nohup, stays ignored.
    selected = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: process.send_signal(number)) for number in selected}
    try:
        process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def assigned_gpus(workers: int, gpus: Sequence[str]) -> list[str]:
    """Return the GPU of each worker, cycling through GPUS; empty without GPUs."""
    return [gpus[slot % len(gpus)] for slot in range(workers)] if gpus else []


def visible_gpus(device: str) -> list[str]:
    """Return the GPUs that a cell's CUDA_VISIBLE_DEVICES may name: those of this machine, or those given to this process."""
    if device not in {"auto", "cuda"}:
        return []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name for name in given.split(",") if name]
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    return listed.stdout.split() if listed.returncode == 0 else []
