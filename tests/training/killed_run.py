"""A process that trains `two_stages` and kills itself."""

import os
import signal
from pathlib import Path
from typing import NoReturn

import torch

from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import checkpointing, loop
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE, length_of_a_vector, two_stages

COMPLETE = "complete"  # the file of a run's folder with the step of each checkpoint that was told


def kill() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def kill_after(step: int) -> None:
    take = loop._is_time

    def after_step(session: loop.Session) -> bool:
        if session.step == step:
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


def train_until(moment: str, step: int, encoder: Path, folder: Path, resume: bool) -> None:
    torch.set_num_threads(1)
    if moment == "while a checkpoint is written":
        kill_while_a_checkpoint_is_written()
    else:
        kill_after(step)

    def note(event: events.Event) -> None:
        if isinstance(event, events.Checkpoint):
            with (folder / COMPLETE).open("a") as file:
                file.write(f"{event.step}\n")

    train_run(two_stages(encoder), SAMPLE, MACHINE, RunFolder(folder), 1, resume=resume, dev_score=length_of_a_vector, report=note)
