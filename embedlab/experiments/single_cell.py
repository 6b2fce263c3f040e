"""One cell from its first to its last step, in processes of its own."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from embedlab.core.crash_reports import run_guarded, show_in_log
from embedlab.core.errors import MEMORY, EmbedlabError, ExitCode, Interrupted
from embedlab.core.interrupts import handle_stops
from embedlab.experiments.cells import PROGRAM, CellLock, cell_environment, next_command
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs.launch import Detached, describe_ending
from embedlab.runs.tidy import drop_checkpoints

LOCK_POLL_S = 0.2
TICK_S = 0.1  # between two looks at a cell's process
CHECKPOINT_GRACE_S = 300.0  # for a checkpoint, after a stop request


def run_cell(plan: GridPlan, number: int, *, program: Sequence[str] = PROGRAM) -> None:
    """Run one cell, as a task of a job array on machines that share a network disk.

    The grid finds the cell later by its run. Its output goes to the run's log.
    """
    cell = plan.cell(number)
    with CellLock(cell) as lock:
        if not lock.acquire():
            raise EmbedlabError(
                f"cell {cell.id} is run by another process",
                hint=f"embedlab runs log {cell.id} --follow",
            )
        returncode, reason = finish_cell(plan, cell, lock, program=program)
    if returncode == ExitCode.INTERRUPTED:
        raise Interrupted(
            f"cell {number} ({cell.id}) is stopped; a checkpoint is saved",
            hint="the same command goes on from there",
        )
    if returncode != 0:
        raise EmbedlabError(
            f"cell {number} ({cell.id}) failed: {reason}", hint=f"embedlab runs log {cell.id}"
        )


def finish_cell(
    plan: GridPlan,
    cell: Cell,
    lock: CellLock,
    *,
    program: Sequence[str] = PROGRAM,
    parent: int | None = None,
) -> tuple[int, str]:
    """Run all remaining steps of a cell whose LOCK is held, in processes that inherit it; return
    the last exit code and the error.

    It stops when this process is stopped, or when PARENT is not its parent any more.
    """
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
    last_command: list[str] | None = None
    with _stops(parent) as wait:
        while True:
            command = next_command(plan, cell, gpus=len((gpus or "").split(",")))
            if command is None:
                drop_checkpoints(cell.run)
                return ExitCode.OK, ""
            if command == last_command:
                return (
                    ExitCode.USAGE,
                    f"`embedlab {command[0]}` ended without an error, but its results are not "
                    f"there",
                )
            started = lock.start(program, command, cell_environment(plan, gpus), cell.run)
            is_stopped = wait(started.process)
            if started.process.returncode != 0:
                return started.process.returncode, _reason(started)
            if is_stopped:
                return ExitCode.INTERRUPTED, ""
            last_command = command


@contextmanager
def _stops(parent: int | None) -> Iterator[Callable[["subprocess.Popen[bytes]"], bool]]:
    """Yield what waits for a cell's process and gives whether it was stopped: the signals that stop
    this process go to it, and what does not save its checkpoint in time is killed.
    """
    signals: list[tuple[int, float]] = []  # the signals, each with its time

    def wait(process: "subprocess.Popen[bytes]") -> bool:
        sent = 0
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK_S)
                return bool(signals)
            if not signals and parent not in {None, os.getppid()}:
                signals.append((signal.SIGTERM, time.monotonic()))
            for number, _ in signals[sent:]:
                process.send_signal(number)
            sent = len(signals)
            if signals and time.monotonic() - signals[0][1] > CHECKPOINT_GRACE_S:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    with handle_stops(lambda number, _: signals.append((number, time.monotonic()))):
        yield wait


def _reason(started: Detached) -> str:
    """Return in one line why a cell's process ended with an error: its own report, else how it
    ended.
    """
    returncode, failed = started.process.returncode, started.ending.failed
    if returncode < 0 or failed is None:
        return describe_ending(returncode)
    return f"out of memory: {failed.message}" if failed.cause == MEMORY else failed.message


def finish_patiently(
    plan: GridPlan,
    cell: Cell,
    program: Sequence[str],
    *,
    inherited: int | None = None,
    parent: int | None = None,
) -> tuple[int, str]:
    """Finish a cell, when no other process runs it any more, or under the lock that was INHERITED
    from PARENT; return the exit code and the reason, of errors too.
    """
    try:
        with CellLock(cell, inherited=inherited) as lock:
            while inherited is None and not lock.acquire():
                time.sleep(LOCK_POLL_S)
            return finish_cell(plan, cell, lock, program=program, parent=parent)
    except EmbedlabError as error:
        return error.exit_code, error.message


def main() -> int:
    """Finish the cell that the command line names; the last line of the output is how it ended, as
    JSON.
    """
    parser = argparse.ArgumentParser(prog="python -m embedlab.experiments.single_cell")
    parser.add_argument("folder", type=Path)
    parser.add_argument("number", type=int)
    parser.add_argument("program", nargs="*", default=PROGRAM)
    # of a process of this machine, which ends when that one does and inherits the lock
    parser.add_argument("--parent", type=int)
    parser.add_argument("--lock", type=int)
    arguments = parser.parse_args()
    plan = GridPlan.load(GridFolder(arguments.folder).plan_file)
    cell, lock = plan.cell(arguments.number), arguments.lock
    returncode, reason = finish_patiently(
        plan, cell, arguments.program, inherited=lock, parent=arguments.parent
    )
    sys.stdout.write(json.dumps({"returncode": int(returncode), "reason": reason}) + "\n")
    return int(returncode) if returncode >= 0 else 128 - returncode


def read_ending(line: str | bytes) -> tuple[int, str] | None:
    """Return the exit code and the reason in the last LINE of `main`'s output; None where it did
    not come to write it.
    """
    try:
        values = json.loads(line)
        return int(values["returncode"]), str(values["reason"])
    except (ValueError, KeyError, TypeError):
        return None


if __name__ == "__main__":
    sys.exit(run_guarded(main, show_in_log))
