"""A disk without room for a checkpoint, and signals of batch systems: what was trained is saved."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from embedlab.core.disk import FullDiskError
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.data.source import Source
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from embedlab.training.checkpointing import Checkpoints
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, notes_of


@pytest.fixture
def recipe(tiny_encoder: Path, tmp_path: Path) -> Recipe:
    file = tmp_path / "pairs.csv"
    lines = (f"question {number},answer {number}" for number in range(24))
    file.write_text("\n".join(["anchor,positive", *lines]) + "\n")
    small = ("optim.batch_size=4", "optim.epochs=1", "evaluate.log_every=1")
    return load_recipe(
        "own-pairs",
        [f"data.files={file}", "evaluate.dev=none", "evaluate.tasks=[]", *small],
        encoder=str(tiny_encoder),
    )


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.of(tmp_path / "runs", "small", 1)


class Disk(NamedTuple):
    total: int
    used: int
    free: int


def test_a_model_is_written_where_no_checkpoint_has_room(
    recipe: Recipe, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise FullDiskError("no space left to write 'step-6'")

    monkeypatch.setattr(Checkpoints, "save", full)
    train_run(recipe, Source(folder=tmp_path), MACHINE, run, 1)
    assert run_status(run).state == "finished"
    assert run.model.is_dir()
    assert "no checkpoint after step 6: no space left" in "".join(notes_of(run))


def test_room_is_estimated_before_the_first_step(
    recipe: Recipe, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[events.Event] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10, 9, 1))
    with pytest.raises(FullDiskError, match="no room for the model"):
        train_run(recipe, Source(folder=tmp_path), MACHINE, run, 1, report=taken.append)
    assert not any(isinstance(event, events.Step) for event in taken)


def test_too_little_room_for_a_checkpoint_is_said(
    recipe: Recipe,
    run: RunFolder,
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = (tiny_encoder / "model.safetensors").stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(2 * free, free, free))
    train_run(recipe, Source(folder=tmp_path), MACHINE, run, 1)
    assert "room for the model" in "".join(notes_of(run))
    assert "not for a checkpoint" in "".join(notes_of(run))
