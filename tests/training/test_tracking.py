"""Experiment trackers, through accelerate."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from embedlab.commands.training import start_detached_training
from embedlab.core.errors import MissingError
from embedlab.runs.store import RunFolder
from tests.refusal import refused
from tests.training.small_runs import recipe_of, stage


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


def test_tensorboard_gets_the_loss(train: Callable[..., RunFolder], tiny_encoder: Path) -> None:
    pytest.importorskip("tensorboard")
    run = train(recipe_of(tiny_encoder, stage(rows=32)), track="tensorboard")
    assert list((run.path / "tracking").rglob("events.out.tfevents.*"))
