"""A disk without room for a checkpoint, and signals of batch systems: what was trained is saved."""

import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from embedlab.core.disk import FullDiskError
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.training.checkpointing import Checkpoints
from tests.training.small_runs import Train, notes_of, recipe_of, stage


def set_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))


def set_limit(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))


def test_a_model_is_written_where_no_checkpoint_has_room(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise FullDiskError("no space left to write 'step-2'")

    monkeypatch.setattr(Checkpoints, "save", full)
    run = train(recipe_of(tiny_encoder, stage(rows=16)))
    assert run_status(run).state == "finished"
    assert run.model.is_dir()
    assert any("no checkpoint after step" in note for note in notes_of(run))


@pytest.mark.parametrize("limit", [set_free, set_limit])
def test_room_is_estimated_before_the_first_step(
    train: Train,
    tiny_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: Callable[[pytest.MonkeyPatch, int], None],
) -> None:
    reported: list[events.Event] = []
    limit(monkeypatch, 1)
    with pytest.raises(FullDiskError, match="no room for the model"):
        train(recipe_of(tiny_encoder), report=reported.append)
    assert not any(isinstance(event, events.Step) for event in reported)


def test_too_little_room_for_a_checkpoint_is_said(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_free(monkeypatch, (tiny_encoder / "model.safetensors").stat().st_size)
    (said,) = notes_of(train(recipe_of(tiny_encoder, stage(rows=16))))
    assert "room for the model" in said
    assert "not for a checkpoint" in said
