"""A process that trains `two_stages` and kills itself: `killed_run.py ENCODER FOLDER MOMENT`."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import torch
from small_runs import MACHINE, SAMPLE, length_of_a_vector, two_stages

from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import checkpointing, loop
from embedlab.training.stages import train_run


def kill() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def kill_in_mid_epoch() -> None:
    """After the 16th step, which lies between two checkpoints of the second stage."""
    take = loop._is_time

    def after_step(session: loop.Session) -> bool:
        if session.step == int(os.environ["KILL_AT"]):
            kill()
        return take(session)

    loop._is_time = after_step


def kill_while_a_checkpoint_is_written() -> None:
    """When half of the third checkpoint's optimizer is on the disk."""
    write, seen = checkpointing.save_file, []

    def half(tensors: dict[str, torch.Tensor], path: Path) -> None:
        write(tensors, path)
        seen.append(path)
        if len(seen) == 11:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            kill()

    checkpointing.save_file = half


def main(encoder: str, folder: str, moment: str) -> None:
    torch.set_num_threads(1)
    {"epoch": kill_in_mid_epoch, "checkpoint": kill_while_a_checkpoint_is_written}[moment]()
    train_run(two_stages(Path(encoder)), SAMPLE, MACHINE, RunFolder(Path(folder)), 1, dev_score=length_of_a_vector, report=show)


def show(event: events.Event) -> None:
    if isinstance(event, events.Checkpoint):
        sys.stdout.write(f"{event.step}\n")
        sys.stdout.flush()


main(*sys.argv[1:])
