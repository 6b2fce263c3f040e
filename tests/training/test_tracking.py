"""Experiment trackers, through accelerate."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from accelerate import Accelerator

from embedlab.commands.training import start_detached_training
from embedlab.core.errors import MissingError
from embedlab.runs.events import Step
from embedlab.runs.store import RunFolder
from tests.refusal import refused
from tests.training.small_runs import events_of, recipe_of, stage


def test_a_tracker_that_is_not_installed_is_refused_before_anything_is_written(
    train: Callable[..., RunFolder],
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with refused("'wandb' is not installed", "pip install wandb", MissingError):
        train(recipe_of(tiny_encoder), track="wandb")
    assert not (tmp_path / "runs").exists()
    with refused("'wandb' is not installed", "pip install wandb", MissingError):
        start_detached_training(Mock(options=Mock(track="wandb")), Mock())


def test_a_tracker_gets_the_numbers_of_each_event(
    train: Callable[..., RunFolder], tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: dict[int, dict[str, float]] = {}

    def log(_: Accelerator, values: dict[str, float], step: int) -> None:
        logged.setdefault(step, {}).update(values)

    monkeypatch.setattr(Accelerator, "log", log)
    run = train(recipe_of(tiny_encoder, stage(rows=32)))
    steps = events_of(run, Step)
    names = ("loss", "lr", "rows_per_s", "epoch")
    assert len(steps) > 1
    for event in steps:
        assert [logged[event.step][name] for name in names] == [
            getattr(event, name) for name in names
        ]


def test_tensorboard_gets_the_loss(train: Callable[..., RunFolder], tiny_encoder: Path) -> None:
    pytest.importorskip("tensorboard")
    run = train(recipe_of(tiny_encoder, stage(rows=32)), track="tensorboard")
    assert list((run.path / "tracking").rglob("events.out.tfevents.*"))
