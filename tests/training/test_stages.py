"""Whole runs on `--data tiny`: what they learn, leave behind and refuse."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from embedlab.core.errors import EmbedlabError, RecipeValue, UsageError
from embedlab.core.overrides import set_values
from embedlab.core.recipe import EvaluateSection, Recipe, from_table, recipe_to_table
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.checkpointing import Best, Checkpoints
from embedlab.training.learner import Learner
from embedlab.training.meter import SpreadMeter
from embedlab.training.parallel import Team
from tests.training.small_runs import (
    Train,
    assert_close,
    events_of,
    joint_stages,
    last_checkpoint,
    length_of_a_vector,
    recipe_of,
    save_checkpoints,
    saved_bytes,
    scores_in_turn,
    short_stages,
    stage,
    two_stages,
    weights_of,
)


def test_a_run_reports_the_steps_that_it_records(train: Train, tiny_encoder: Path) -> None:
    reported: list[events.Event] = []
    run = train(short_stages(tiny_encoder), report=reported.append)
    steps = events_of(run, events.Step)
    assert steps == [event for event in reported if isinstance(event, events.Step)]
    assert steps[-1].step == steps[-1].steps
    assert steps[-1].epoch == pytest.approx(1.5)


def test_another_seed_gives_another_model(train: Train, tiny_encoder: Path) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=16, positives=1, negatives=3))
    first, other = (saved_bytes(train(recipe, seed=seed)) for seed in (1, 2))
    assert first["heads.safetensors"] != other["heads.safetensors"]


def test_what_is_measured_does_not_change_the_trained_weights(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = short_stages(tiny_encoder)
    measured = train(recipe, "measured", dev_score=length_of_a_vector)
    monkeypatch.setattr(SpreadMeter, "__init__", lambda self, *_, **__: None)
    monkeypatch.setattr(SpreadMeter, "measure", lambda self, *_, **__: iter(()))
    assert saved_bytes(train(recipe, "unmeasured")) == saved_bytes(measured)


def test_the_best_dev_score_decides_the_model_when_the_recipe_says_so(
    train: Train, tiny_encoder: Path
) -> None:
    scores = scores_in_turn(float("nan"), 7.0, 1.0, 3.0)
    run = train(recipe_of(tiny_encoder, every=0.25, keep="best"), dev_score=scores)
    second = events_of(run, events.Dev)[1].step
    best = Checkpoints(run.checkpoints).read_best(Best(score=7.0, step=second))
    assert_close(weights_of(run), best.encoder, rtol=0, atol=0)
    assert_close(load_file(run.path / "heads.safetensors"), best.heads, rtol=0, atol=0)


def test_stages_before_the_last_store_no_best_model(train: Train, tiny_encoder: Path) -> None:
    recipe = replace(short_stages(tiny_encoder), evaluate=EvaluateSection(every=0.0, keep="best"))
    run = train(recipe, dev_score=scores_in_turn(9.0, 8.0, 2.0, 1.0))
    assert not list(run.checkpoints.glob("best-*"))


def test_only_the_leader_takes_up_the_best_state_and_writes_it(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Team, "is_leader", False)
    scores = scores_in_turn(1.0, 7.0, 2.0, 3.0)
    run = train(recipe_of(tiny_encoder, every=0.25, keep="best"), dev_score=scores)
    assert not run.model.exists()
    assert run.events_file.read_text() == ""


def test_keeping_the_best_without_a_dev_score_is_refused(train: Train, tiny_encoder: Path) -> None:
    with pytest.raises(UsageError, match="no dev score"):
        train(recipe_of(tiny_encoder, keep="best"))


def poison(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let the loss of a batch behind COUNT others be no number."""
    forward, calls = Learner.forward, iter(range(1000))

    def poisoned(learner: Learner, batch: object) -> torch.Tensor:
        return forward(learner, batch) * (float("nan") if next(calls) == count else 1.0)  # type: ignore[arg-type]

    monkeypatch.setattr(Learner, "forward", poisoned)


@pytest.mark.parametrize(
    ("stages", "count", "section"),
    [(recipe_of, 0, "optim"), (two_stages, 11, "stage.1.optim"), (joint_stages, 9, "stages.optim")],
)
def test_what_may_help_a_training_that_diverges_can_be_typed(
    stages: Callable[[Path], Recipe],
    count: int,
    section: str,
    train: Train,
    tiny_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poison(monkeypatch, count)
    with pytest.raises(EmbedlabError, match="training diverged") as error:
        train(stages(tiny_encoder))
    assert f"--set {section}.lr=0.0003" in error.value.hint
    changes = [str(part) for part in error.value.advice.parts if isinstance(part, RecipeValue)]
    values = recipe_to_table(stages(tiny_encoder))
    set_values(values, [change.removeprefix("--set ") for change in changes])
    from_table(values, name="small", where="test")


def test_a_loss_that_is_not_a_number_ends_the_run_and_keeps_the_last_checkpoint(
    train: Train, small: RunFolder, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, 6)
    save_checkpoints(monkeypatch, every=3)
    said = r"diverged at step 7: the loss is nan at learning rate .*; the checkpoint of step 6 is stored"
    with pytest.raises(EmbedlabError, match=said):
        train(recipe_of(tiny_encoder, every=0.25), dev_score=length_of_a_vector)
    stored = last_checkpoint(small).encoder
    assert all(tensor.isfinite().all() for tensor in stored.values())


def test_a_run_can_start_from_the_same_seed_of_another_run(
    train: Train, tiny_encoder: Path
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=16))
    _, start = (train(recipe, "before", seed=seed) for seed in (1, 2))
    after = train(recipe_of(Path("before"), stage(rows=16, optim={"lr": 1e-12})), "after", seed=2)
    assert_close(weights_of(after), weights_of(start), rtol=0, atol=1e-6)
    with pytest.raises(UsageError, match="no finished seed 3"):
        train(recipe_of(Path("before")), "later", seed=3)
