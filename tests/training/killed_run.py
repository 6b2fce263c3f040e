"""A process that trains `two_stages` or `short_stages` and kills itself."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import torch

from embedlab.core.recipe import LoraSection, Recipe
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import checkpointing, loop, stages
from embedlab.training.checkpointing import Checkpoints
from tests.training.small_runs import length_of_a_vector, short_stages, train_in, two_stages

EVERY = 3  # steps from one checkpoint to the next
# the file in the runs folder with the step of each checkpoint that was reported
COMPLETE = "complete"


def kill() -> NoReturn:
    signal.raise_signal(signal.SIGKILL)
    raise AssertionError("still alive")


def kill_after(step: int) -> None:
    def after_step(session: loop.TrainingSession) -> bool:
        if session.step == step:
            kill()
        return session.step % EVERY == 0

    loop._is_checkpoint_due = after_step


def kill_while_a_checkpoint_is_written() -> None:
    """When half of the third checkpoint's optimizer is on the disk."""
    loop._is_checkpoint_due = lambda session: session.step % EVERY == 0
    write, seen = checkpointing.save_file, []

    def half(tensors: dict[str, torch.Tensor], path: Path) -> None:
        write(tensors, path)
        seen.append(path)
        if len(seen) == 11:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            kill()

    checkpointing.save_file = half


def kill_at_the_end(moment: str) -> None:
    """In one of the windows between the last checkpoint and the end of the process."""
    save, drop = stages.save_model, stages.drop_checkpoints

    def half_a_model(*given: Any, **more: Any) -> None:
        save(*given, **{**more, "add": lambda _: kill()})

    def a_whole_model(*given: Any, **more: Any) -> None:
        save(*given, **more)
        kill()

    def half_the_checkpoints(run: RunFolder) -> int:
        newest = Checkpoints(run.checkpoints).steps()[-1]
        (Checkpoints(run.checkpoints).path(newest) / checkpointing.STATE).unlink()
        kill()

    def all_checkpoints(run: RunFolder) -> int:
        drop(run)
        kill()

    match moment:
        case "while the heads are written":
            stages.write_sealed_tensors = lambda path, _: (path.write_bytes(b"half"), kill())
        case "while the model is written":
            stages.save_model = half_a_model
        case "before the run is finished":
            stages.save_model = a_whole_model
        case "before the checkpoints go":
            stages.drop_checkpoints = lambda _: kill()
        case "while the checkpoints go":
            stages.drop_checkpoints = half_the_checkpoints
        case _:
            stages.drop_checkpoints = all_checkpoints


def end_at(moment: str, encoder: Path, runs: Path, name: str) -> None:
    """Train to the end and be killed at this MOMENT of it."""
    kill_at_the_end(moment)
    options = {"resume": True, "dev_score": length_of_a_vector, "keeps_checkpoints": False}
    train_in(runs, short_stages(encoder), name, **options)


def with_lora(recipe: Recipe) -> Recipe:
    """The same training of changes of low rank."""
    return replace(recipe, encoder=replace(recipe.encoder, lora=LoraSection(rank=4, dropout=0.1)))


def train_until(moment: str, step: int, encoder: Path, runs: Path) -> None:
    if moment == "while a checkpoint is written":
        kill_while_a_checkpoint_is_written()
    else:
        kill_after(step)

    def note(event: events.Event) -> None:
        if isinstance(event, events.Checkpoint):
            with (runs / COMPLETE).open("a") as file:
                file.write(f"{event.step}\n")

    train_in(runs, two_stages(encoder), dev_score=length_of_a_vector, report=note, resume=True)
