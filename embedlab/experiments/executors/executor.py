"""What runs the cells of a grid on any kind of machines, the loop that all share, and cells on this
machine: a process each, as many at once as there is room for.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import cycle, takewhile
from typing import Any, Generic, Self, TypeVar

from embedlab.core import python_processes
from embedlab.core.disk import as_disk_errors
from embedlab.core.errors import Interrupted
from embedlab.core.foreign_files import open_own
from embedlab.core.python_processes import python_command
from embedlab.experiments.cells import PROGRAM, CellEntry, CellLock, Cells, CellState, show_alive
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.single_cell import CHECKPOINT_GRACE_S, read_ending
from embedlab.runs.events import Attempt
from embedlab.runs.launch import describe_ending

POLL_S = 0.2
_GPU_NAME = re.compile(r"\s*([0-9]+|(GPU|MIG)-.+)")

Job = TypeVar("Job", bound=Hashable)


class Executor(Generic[Job]):
    """Runs the cells of a grid that wait, as jobs of this machine or of another system."""

    def __init__(self, plan: GridPlan, at_once: int) -> None:
        self.plan, self.at_once = plan, at_once
        self.cells, self.is_cancelled = Cells(plan), False
        # those that have not ended: the cell of each, and the time when it was submitted
        self.jobs: dict[Job, tuple[CellEntry, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End what must not outlive this process: of another system nothing."""

    def submit(self) -> None:
        """Start work on cells that wait, as much as there is room for."""
        raise NotImplementedError

    def check_jobs(self) -> None:
        """Wait a moment at most, and settle what ended."""
        raise NotImplementedError

    def stop(self) -> None:
        """Request that every running cell saves its checkpoint and stops."""
        raise NotImplementedError

    def poll(self) -> bool:
        """Look at the jobs, and return whether there is anything left to wait for."""
        self.check_jobs()
        return bool(self.jobs) or (not self.is_cancelled and self.cells.is_open())

    def cancel(self) -> None:
        """Stop the cells; they wait for another start."""
        self.is_cancelled = True
        self.stop()

    def waiting(self, *states: CellState) -> Iterator[CellEntry]:
        """Yield cells in one of these STATES that have no job while fewer have one than run at
        once; those to run must be given a job with `hold`.
        """
        held_cells = {entry.cell.number for entry, _ in self.jobs.values()}
        for cell in self.plan.cells:
            if len(self.jobs) >= self.at_once:
                return
            if cell.number not in held_cells and (entry := self.cells.entry(cell)).state in states:
                yield entry

    def hold(self, job: Job, entry: CellEntry) -> None:
        """Note the JOB of a cell."""
        self.jobs[job] = entry, time.monotonic()

    def record_end(self, job: Job, returncode: int, reason: str) -> None:
        """Record how a job ended; a job that this process stopped waits."""
        entry, began = self.jobs.pop(job)
        attempt = entry.ended(returncode, reason, time.monotonic() - began)
        if self.is_cancelled and returncode != 0:
            attempt = Attempt(state="waiting", seconds=attempt.seconds)
        self.cells.record(entry.cell, attempt)


def run_cells(
    plan: GridPlan,
    executor: AbstractContextManager[Executor[Any]],
    *,
    show: Callable[[], None] = lambda: None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Run the prepared grid until no cell is left; SHOW is called several times a second.

    Raises Interrupted after IS_STOPPING is true, or the grid was cancelled, and the running cells
    have saved their checkpoints.
    """
    since, cells = time.time(), Cells(plan)
    with show_alive(plan.folder), executor as machines:
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


Process = subprocess.Popen[bytes]


class LocalTasks(Executor[Process]):
    """The cells of one grid as processes of this machine, which end with the block, and with this
    process.
    """

    def __init__(
        self,
        plan: GridPlan,
        at_once: int,
        *,
        gpus: Sequence[str] = (),
        program: Sequence[str] = PROGRAM,
    ) -> None:
        super().__init__(plan, at_once)
        self.program = program
        # small cells share a GPU
        self._free = [gpu for gpu, _ in zip(cycle(gpus or [None]), range(at_once), strict=False)]
        self._gpus: dict[Process, str | None] = {}

    def submit(self) -> None:
        """Start cells that wait; one that another process holds is left to it."""
        for entry in self.waiting("waiting"):
            with CellLock(entry.cell) as lock:
                if lock.acquire():
                    self._start(entry, lock)

    def _start(self, entry: CellEntry, lock: CellLock) -> None:
        gpu = self._free.pop(0)
        options = ["--parent", str(os.getpid()), "--lock", str(lock.descriptor)]
        command = python_command(
            *options,
            str(self.plan.folder.path),
            str(entry.cell.number),
            "--",
            *self.program,
            module="embedlab.experiments.single_cell",
        )
        environment = {**os.environ}
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        path = self.plan.folder.log_file
        with as_disk_errors(path), open_own(path) as log:
            # A session of its own: Ctrl-C reaches this process alone, which then stops them once.
            process = python_processes.start(
                command,
                environment=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock.descriptor,),
            )
        self._gpus[process] = gpu
        self.hold(process, entry)

    def check_jobs(self) -> None:
        """Wait a moment; record the cells that ended."""
        time.sleep(POLL_S)
        for process in [*self.jobs]:
            if process.poll() is not None:
                self._free.append(self._gpus.pop(process))
                self.record_end(process, *self._ending(process))

    def _ending(self, process: Process) -> tuple[int, str]:
        assert process.stdout is not None
        with process.stdout as output:
            if (reported := read_ending(output.read())) is not None:
                return reported
        ending, log = describe_ending(process.returncode), str(self.plan.folder.log_file)
        return process.returncode or 1, f"its process ended: {ending}; {log!r} may say more"

    def stop(self) -> None:
        """Request that every cell saves its checkpoint and ends."""
        for process in self.jobs:
            process.send_signal(signal.SIGTERM)

    def __exit__(self, *error: object) -> None:
        self.cancel()
        deadline = time.monotonic() + CHECKPOINT_GRACE_S
        for process in self.jobs:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))


def visible_gpus(device: str) -> list[str]:
    """Return the GPUs that a cell's CUDA_VISIBLE_DEVICES may name: those of this machine, or those
    given to this process.
    """
    if device not in {"auto", "cuda"}:
        return []
    if (variable := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        # CUDA ignores what follows a name that is none, such as -1, which hides all
        return list(takewhile(_GPU_NAME.fullmatch, variable.split(",")))
    if shutil.which("nvidia-smi") is None:
        return []
    query = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    return query.stdout.split() if query.returncode == 0 else []
