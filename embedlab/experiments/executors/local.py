"""Cells on this machine: worker processes that share the queue."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from embedlab.core import python_processes
from embedlab.core.disk import disk_errors
from embedlab.core.errors import ExitCode
from embedlab.core.foreign_files import open_own
from embedlab.core.python_processes import python_command
from embedlab.experiments.cell import PROGRAM
from embedlab.experiments.executors.executor import POLL_S
from embedlab.experiments.plan import GridFolder
from embedlab.experiments.worker import CHECKPOINT_GRACE_S
from embedlab.runs.endings import failure_after, length, with_errors_to

RESTARTS = 5  # restarts of each worker: if it dies more often, a restart does not help


class LocalWorkers:
    """Worker processes on this machine, which take cells from the queue; they end with the block,
    and with this process.
    """

    def __init__(
        self,
        folder: GridFolder,
        workers: int,
        *,
        gpus: Sequence[str] = (),
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self.folder, self.program, self._since = folder, program, time.time()
        self._gpus = assigned_gpus(workers, gpus)
        self._restarts = [0] * workers
        self._errors = folder.path / "errors.jsonl"  # of the workers
        self._offset = length(self._errors)
        self._processes = [self._start(slot) for slot in range(workers)]

    def _start(self, slot: int) -> "subprocess.Popen[bytes]":
        gpu = ["--gpu", self._gpus[slot]] if self._gpus else []
        options = ["--parent", str(os.getpid()), "--since", str(self._since), *gpu]
        command = python_command(
            *options,
            str(self.folder.path),
            "--",
            *self.program,
            module="embedlab.experiments.worker",
        )
        with disk_errors(self.folder.log_file), open_own(self.folder.log_file) as log:
            env = with_errors_to(self._errors, os.environ)
            # A session of its own: Ctrl-C reaches this process alone, which then stops the workers
            # once.
            return python_processes.start(
                command,
                environment=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def submit(self) -> None:
        """Replace workers that were killed; the others take the cells that wait."""
        for slot, process in enumerate(self._processes):
            if (
                process.poll() not in {None, ExitCode.OK, ExitCode.INTERRUPTED}
                and self._restarts[slot] < RESTARTS
            ):
                self._restarts[slot] += 1
                self._processes[slot] = self._start(slot)

    def poll(self) -> bool:
        """Wait a moment; return whether a worker is alive."""
        is_working = any(process.poll() is None for process in self._processes)
        if is_working:
            time.sleep(POLL_S)
        return is_working

    def cancel(self) -> None:
        """Request that every worker saves its cell's checkpoint and ends; a second request kills
        the cells.
        """
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)

    def complaint(self) -> str:
        """Return why a worker gave up, for instance on a full disk; empty when all ended well."""
        if all(
            process.poll() in {ExitCode.OK, ExitCode.INTERRUPTED} for process in self._processes
        ):
            return ""
        failed = failure_after(self._errors, self._offset)
        return failed.message if failed is not None else "a worker died"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if any(process.poll() is None for process in self._processes):
            self.cancel()
        deadline = time.monotonic() + CHECKPOINT_GRACE_S
        for process in self._processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def assigned_gpus(workers: int, gpus: Sequence[str]) -> list[str]:
    """Return the GPU of each worker, cycling through GPUS; empty without GPUs."""
    return [gpus[slot % len(gpus)] for slot in range(workers)] if gpus else []


def visible_gpus(device: str) -> list[str]:
    """Return the GPUs that a cell's CUDA_VISIBLE_DEVICES may name: those of this machine, or those
    given to this process.
    """
    if device not in {"auto", "cuda"}:
        return []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [name for name in given.split(",") if name]
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.split() if listed.returncode == 0 else []
