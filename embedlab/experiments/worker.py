"""A worker: takes one cell after the other from the queue and runs its process to the end."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from uuid import uuid4

from embedlab.core.crash_reports import run_guarded, show_in_log
from embedlab.core.disk import disk_errors, wait_for_lock
from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.interrupts import STOPS
from embedlab.core.settings import errors_to
from embedlab.experiments.cell import (
    PROGRAM,
    CellLock,
    CellProcess,
    cell_environment,
    ending_of,
    is_held,
    next_command,
)
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.experiments.queue import Ending, Queue, QueueEntry
from embedlab.runs.endings import EndingReport
from embedlab.runs.tidy import drop_checkpoints

TICK_S = 0.1  # between two checks of a cell's process
RENEW_S = 0.5  # between two renewals of the claim
IDLE_S = 0.2  # between two checks for work while other workers have all remaining cells
CHECKPOINT_GRACE_S = 300.0  # for a checkpoint, after a stop request


class Worker:
    """Runs cells one after the other."""

    def __init__(
        self,
        folder: GridFolder,
        *,
        parent: int,
        since: float,
        gpu: str | None = None,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self.folder, self.gpu, self.program = folder, gpu, program
        self.plan = GridPlan.load(folder.plan_file)
        self.queue = Queue(folder.queue_file)
        self.name = worker_name()
        # start of the grid: a stop may have been requested while this process was loading
        self.since = since
        self.parent = parent
        self.stops = 0  # number of stop requests

    def work(self) -> ExitCode:
        """Run cells until none is left or a stop is requested."""
        with alive(self.folder.workers / self.name):
            while not self._should_stop():
                entry = self.queue.claim(self.name, dead_workers(self.folder))
                if entry is not None:
                    self._do(entry)
                elif self.queue.is_open():
                    time.sleep(IDLE_S)
                else:
                    return ExitCode.OK
        return ExitCode.INTERRUPTED

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Receive a stop signal: the cell saves a checkpoint; a second signal kills it."""
        self.stops += 1

    def _should_stop(self) -> bool:
        """Return whether a stop was requested, the grid was cancelled, or the parent process is
        gone.
        """
        return self.stops > 0 or os.getppid() != self.parent or self.queue.is_cancelled(self.since)

    def _do(self, entry: QueueEntry) -> None:
        began = time.monotonic()
        try:
            ending = self._bring_to_end(entry, self.plan.cell(entry.number))
        except EmbedlabError as error:  # a full disk or forbidden folder may not affect other cells
            ending = ending_of(entry, error.exit_code, error.message)
        if ending is not None:
            self.queue.settle(entry, ending, time.monotonic() - began)

    def _bring_to_end(self, entry: QueueEntry, cell: Cell) -> Ending | None:
        """Run a cell's remaining steps, one process after the other; None when another worker has
        taken the claim.
        """
        last: list[str] | None = None
        while True:
            lock = CellLock(self.plan, cell)
            try:
                # The process of a dead worker may still be running: wait for its end, so that no
                # step runs twice.
                while not lock.acquire():
                    if not self.queue.renew(entry):
                        return None
                    if self._should_stop():
                        return Ending(state="waiting")
                    time.sleep(TICK_S)
                command = next_command(self.plan, self.folder, cell)
                if command is None:
                    drop_checkpoints(self.plan.run(cell))
                    return Ending(state="done")
                if self._should_stop():
                    return Ending(state="waiting")
                if command == last:
                    return Ending(
                        state="failed",
                        reason=f"`embedlab {command[0]}` ended without an error, but its results "
                        f"are not there",
                    )
                run = self.plan.run(cell)
                started = lock.start(
                    self.program, command, cell_environment(self.plan, self.gpu), run
                )
            finally:
                lock.close()
            ending = self._wait_for(started, entry)
            if ending is not None or started.process.returncode is None:
                return ending
            last = command

    def _wait_for(self, started: CellProcess, entry: QueueEntry) -> Ending | None:
        """Wait for a process to end; None when it ended well, or still runs while another worker
        has the claim.
        """
        process = started.process
        stopped_at: float | None = None
        beat = 0.0
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK_S)
                break
            now = time.monotonic()
            if stopped_at is not None and (self.stops > 1 or now - stopped_at > CHECKPOINT_GRACE_S):
                _signal(process, signal.SIGKILL)
            if now - beat < RENEW_S and self.stops == 0:
                continue
            beat = now
            if not self.queue.renew(entry, pid=process.pid):
                return None
            if stopped_at is None and self._should_stop():
                _signal(process, signal.SIGTERM)
                stopped_at = now
        if process.returncode == 0:
            return None
        if stopped_at is not None:
            return Ending(state="waiting")
        return ending_of(entry, process.returncode, started.reason())


def worker_name() -> str:
    """Return a name that no other worker has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"


def dead_workers(folder: GridFolder) -> list[str]:
    """Return the names of workers of this machine that died silently; each is reported once."""
    dead = [path for path in folder.workers.glob("[!.]*") if not is_held(path)]
    for path in dead:
        path.unlink(missing_ok=True)
    return [path.name for path in dead]


def is_alive(folder: GridFolder) -> bool:
    """Return whether a worker of this machine, or the process that starts workers, is active for
    the grid.
    """
    return any(is_held(path) for path in folder.workers.glob("[!.]*"))


@contextmanager
def alive(path: Path) -> Iterator[None]:
    """Hold the lock that shows that the worker of this name is alive."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f".{path.name}")  # must not be found before it is locked
        with hidden.open("wb") as file:
            wait_for_lock(file.fileno())
            hidden.rename(path)
            yield
            path.unlink(missing_ok=True)


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Signal the whole session of a cell's process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def main() -> int:
    """Work in the grid folder that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m embedlab.experiments.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--since", type=float, required=True)
    parser.add_argument("--gpu")
    parser.add_argument("program", nargs="*", default=PROGRAM)
    typed = parser.parse_args()
    ending = EndingReport(file) if (file := errors_to()) is not None else None

    def work() -> int:
        worker = Worker(
            GridFolder(typed.folder),
            parent=typed.parent,
            since=typed.since,
            gpu=typed.gpu,
            program=typed.program,
        )
        for number in STOPS:
            signal.signal(number, worker.receive)
        return worker.work()

    def show(error: EmbedlabError) -> None:
        show_in_log(error)
        if ending is not None:
            ending.write(error.message, hint=error.hint, exit_code=error.exit_code)

    return run_guarded(work, show)


if __name__ == "__main__":
    sys.exit(main())
