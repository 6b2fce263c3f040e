"""GLUE's metrics against scikit-learn, and a trained classifier on its validation split."""

from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.device import Machine
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder
from embedlab.tasks.glue import (
    TASK,
    classifier_stage,
    glue_f1,
    glue_matthews,
)
from embedlab.tasks.task import Selection
from embedlab.training.stages import train_run
from tests.stored_scores import begin_run

SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)
MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
SAMPLE = Source(folder=TINY_FOLDER)


@pytest.mark.parametrize("classes", [(0, 1), (0,), (1,)])
def test_the_metrics_equal_scikit_learn(classes: tuple[int, ...]) -> None:
    from sklearn.metrics import f1_score, matthews_corrcoef

    rng = np.random.default_rng(1)
    for _ in range(20):
        gold, predicted = rng.integers(2, size=9), rng.choice(classes, 9)
        f1 = f1_score(gold, predicted, zero_division=0)
        assert glue_f1(gold, predicted) == pytest.approx(f1)
        assert glue_matthews(gold, predicted) == pytest.approx(matthews_corrcoef(gold, predicted))


def trained(tmp_path: Path, encoder: Path, recipe: str, *changes: str) -> RunFolder:
    run = RunFolder.of(tmp_path / "runs", recipe, 1)
    chosen = load_recipe(
        recipe, ["encoder.max_tokens=32", "stage.0.data.rows=128", *changes], encoder=str(encoder)
    )
    train_run(chosen, SAMPLE, MACHINE, run, 1)
    return run


def result(run: RunFolder) -> Evaluation:
    spec = ModelSpec(name=run.id, kind="run", location=str(run.model))
    return TASK.evaluate(spec, SETTINGS, lambda _: lambda done, total: None, Selection()).evaluation


def test_a_classifier_learns_a_generated_task(tmp_path: Path, tiny_encoder: Path) -> None:
    run = trained(
        tmp_path, tiny_encoder, "glue-finetune", "stage.0.optim.lr=2e-3", "encoder.pooling=mean"
    )
    found = result(run)
    assert [score.metric for score in found.scores] == ["matthews", "accuracy", "glue"]
    assert found.scores[2].value == found.scores[0].value  # GLUE counts Matthews alone
    assert found.marks == ("generated",)
    assert {score.setting for score in found.scores} == {"validation"}
    assert found.scores[1].items == 200


def test_mnli_is_scored_on_both_of_its_validation_splits(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    run = trained(tmp_path, tiny_encoder, "glue-finetune", "data.task=mnli", "stage.0.data.rows=32")
    matched, mismatched, overall = result(run).scores
    assert [matched.split, mismatched.split] == ["dev-matched", "dev-mismatched"]
    assert overall.value == pytest.approx((matched.value + mismatched.value) / 2)
    assert (overall.by, overall.slice, overall.split) == ("average", "glue-mnli", "dev")
    assert overall.items == matched.items + mismatched.items
    items = TASK.items(SAMPLE, ["glue-mnli", "glue-cola"])
    assert [one.split for one in items[:2]] == ["dev-matched", "dev-mismatched"]
    assert [len(one.rows) for one in items[:2]] == [matched.items, mismatched.items]


def test_a_regression_is_scored_by_correlations(tmp_path: Path, tiny_encoder: Path) -> None:
    changes = ["data.task=stsb", "optim.lr=2e-3", "encoder.pooling=mean"]
    found = result(trained(tmp_path, tiny_encoder, "glue-finetune", *changes))
    pearson, spearman, overall = found.scores
    assert [pearson.metric, spearman.metric, overall.metric] == ["pearson", "spearman", "glue"]
    assert overall.value == pytest.approx((pearson.value + spearman.value) / 2)


def test_a_run_is_scored_on_the_task_that_its_classifier_was_trained_on(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path / "runs", "mine", 1)
    spec = ModelSpec(name=run.id, kind="run", location=str(run.model))
    begin_run(run, load_recipe("glue-finetune", ["data.task=rte"]))
    with pytest.raises(MissingError, match="is not finished"):
        TASK.check(spec, SETTINGS)
    run.model.mkdir(parents=True)
    TASK.check(spec, SETTINGS)
    with pytest.raises(MissingError, match=r"'glue-rte' .dev."):
        TASK.check(spec, Settings(data=tmp_path, offline=True))


def test_what_is_not_a_run_with_a_classifier_of_glue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run: GLUE scores trained classifiers"):
        classifier_stage(ModelSpec(name="dice", kind="dice"))
    with pytest.raises(UsageError, match="has no classifier of a GLUE task"):
        TASK.check_recipe(load_recipe("snli-ce"), SAMPLE)
    TASK.check_recipe(load_recipe("glue-finetune"), SAMPLE)
    with pytest.raises(MissingError, match=r"'glue-cola' .dev."):
        TASK.check_recipe(load_recipe("glue-finetune"), Source(folder=tmp_path, offline=True))
