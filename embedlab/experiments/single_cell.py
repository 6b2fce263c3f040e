"""One cell from its first to its last step, without the queue: a task of a job array, of Ray, or a
job of Slurm.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from embedlab.core.errors import EmbedlabError, ExitCode, Interrupted
from embedlab.core.interrupts import STOPS
from embedlab.experiments.cell import PROGRAM, CellLock, cell_environment, next_command
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs.tidy import drop_checkpoints

LOCK_POLL_S = 0.2


def run_cell(
    plan: GridPlan, folder: GridFolder, number: int, *, program: Sequence[str] = PROGRAM
) -> None:
    """Run one cell in this process, without the queue: for a job array on machines that share a
    network disk.

    The grid finds the cell later by its run. Its output goes to the run's log.
    """
    cell = plan.cell(number)
    returncode, reason = finish_cell(plan, folder, cell, program=program)
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
    folder: GridFolder,
    cell: Cell,
    *,
    program: Sequence[str] = PROGRAM,
    is_patient: bool = False,
) -> tuple[int, str]:
    """Run all remaining steps of a cell in processes of its own; return the last exit code and the
    error.

    If another process runs the cell: wait if PATIENT, otherwise raise an error.
    """
    run, gpus = plan.run(cell), os.environ.get("CUDA_VISIBLE_DEVICES")
    last: list[str] | None = None
    while True:
        lock = CellLock(plan, cell)
        try:
            while not lock.acquire():
                if not is_patient:
                    raise EmbedlabError(
                        f"cell {cell.id} is run by another process",
                        hint=f"embedlab runs log {cell.id} --follow",
                    )
                time.sleep(LOCK_POLL_S)
            command = next_command(plan, folder, cell, gpus=len((gpus or "").split(",")))
            if command is None:
                drop_checkpoints(run)
                return ExitCode.OK, ""
            if command == last:
                return (
                    ExitCode.FAILED,
                    f"`embedlab {command[0]}` ended without an error, but its results are "
                    f"not there",
                )
            started = lock.start(program, command, cell_environment(plan, gpus), run)
        finally:
            lock.close()
        _wait(started.process)
        if started.process.returncode != 0:
            return started.process.returncode, started.reason()
        last = command


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a cell's process, and stop it when this process is stopped."""
    # A signal that is deliberately ignored, as SIGHUP under nohup, stays ignored.
    selected = [number for number in STOPS if signal.getsignal(number) != signal.SIG_IGN]
    before = {
        number: signal.signal(number, lambda number, _: process.send_signal(number))
        for number in selected
    }
    try:
        process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finish_patiently(
    plan: GridPlan, folder: GridFolder, cell: Cell, program: Sequence[str]
) -> tuple[int, str]:
    """Finish a cell on another machine than the queue's; return the exit code and the reason, of
    errors too.
    """
    try:
        return finish_cell(plan, folder, cell, program=program, is_patient=True)
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
    typed = parser.parse_args()
    folder = GridFolder(typed.folder)
    plan = GridPlan.load(folder.plan_file)
    returncode, reason = finish_patiently(plan, folder, plan.cell(typed.number), typed.program)
    sys.stdout.write(json.dumps({"returncode": int(returncode), "reason": reason}) + "\n")
    return int(returncode) if returncode >= 0 else 128 - returncode


if __name__ == "__main__":
    sys.exit(main())
