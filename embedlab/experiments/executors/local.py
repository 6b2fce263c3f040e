"""Cells on this machine: a process each, as many at once as there is room for."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from typing import Self

from embedlab.core import python_processes
from embedlab.core.disk import disk_errors
from embedlab.core.foreign_files import open_own
from embedlab.core.python_processes import python_command
from embedlab.experiments.cells import PROGRAM, CellEntry, CellLock
from embedlab.experiments.executors.executor import POLL_S, Executor
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.single_cell import CHECKPOINT_GRACE_S

Process = subprocess.Popen[bytes]


class LocalTasks(Executor[Process]):
    """The cells of one grid as processes of this machine, which end with the block, and with this
    process.
    """

    def __init__(
        self,
        plan: GridPlan,
        folder: GridFolder,
        at_once: int,
        *,
        gpus: Sequence[str] = (),
        program: Sequence[str] = PROGRAM,
    ) -> None:
        super().__init__(plan, folder, at_once)
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
            str(self.folder.path),
            str(entry.cell.number),
            "--",
            *self.program,
            module="embedlab.experiments.single_cell",
        )
        environment = {**os.environ, **({} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu})}
        with disk_errors(self.folder.log_file), open_own(self.folder.log_file) as log:
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

    def look(self) -> None:
        """Wait a moment; record the cells that ended."""
        time.sleep(POLL_S)
        for process in [*self.jobs]:
            if process.poll() is not None:
                self._free.append(self._gpus.pop(process))
                self.settle(process, *self._ending(process))

    def _ending(self, process: Process) -> tuple[int, str]:
        assert process.stdout is not None
        with process.stdout as output, suppress(ValueError, KeyError, TypeError):
            values = json.loads(output.read())
            return int(values["returncode"]), str(values["reason"])
        code = process.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return code or 1, f"its process ended: {how}; {str(self.folder.log_file)!r} may say more"

    def stop(self) -> None:
        """Request that every cell saves its checkpoint and ends."""
        for process in self.jobs:
            process.send_signal(signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

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
    if (given := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
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
