"""GLUE's metrics against scikit-learn, and a trained classifier on its validation split."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.runs.store import RunFolder
from embedlab.tasks.glue import TASK
from tests.stored_scores import begin_run
from tests.tasks.evaluated import SETTINGS, evaluated, spec_of, trained
from tests.training.small_runs import SAMPLE


@pytest.mark.parametrize(
    ("task", "metrics", "counted"),
    [("cola", ["matthews", "accuracy"], 1), ("stsb", ["pearson", "spearman"], 2)],
)
def test_the_overall_score_is_the_mean_of_what_glue_counts(
    task: str, metrics: list[str], counted: int, tmp_path: Path, tiny_encoder: Path
) -> None:
    spec = trained(tmp_path, tiny_encoder, "glue-finetune", f"data.task={task}")
    *own, overall = evaluated("glue", spec).evaluation.scores
    assert [score.metric for score in (*own, overall)] == [*metrics, "glue"]
    assert overall.value == pytest.approx(np.mean([score.value for score in own[:counted]]))


def test_mnli_is_scored_on_both_of_its_validation_splits(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    spec = trained(tmp_path, tiny_encoder, "glue-finetune", "data.task=mnli")
    found = evaluated("glue", spec).evaluation
    matched, mismatched, overall = found.scores
    assert (found.marks, matched.setting) == (("generated",), "validation")
    items = TASK.items(SAMPLE, ["glue-mnli", "glue-cola"])[:2]
    splits = [(score.split, score.items) for score in (matched, mismatched)]
    assert splits == [(one.split, len(one.rows)) for one in items]
    assert [split for split, _ in splits] == ["dev-matched", "dev-mismatched"]
    assert overall.value == pytest.approx((matched.value + mismatched.value) / 2)
    assert (overall.by, overall.slice, overall.split) == ("average", "glue-mnli", "dev")
    assert overall.items == matched.items + mismatched.items


def test_a_run_is_scored_on_the_task_that_its_classifier_was_trained_on(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path, "mine", 1)
    begin_run(run, load_recipe("glue-finetune", ["data.task=rte"]))
    run.model.mkdir(parents=True)
    spec = spec_of(run.id, tmp_path)
    TASK.check(spec, SETTINGS)
    with pytest.raises(MissingError, match=r"'glue-rte' .dev."):
        TASK.check(spec, Settings(data=tmp_path, offline=True))
    run.model.rmdir()
    with pytest.raises(MissingError, match="is not finished"):
        TASK.check(spec, SETTINGS)


def test_a_recipe_without_a_classifier_of_glue_or_without_its_data_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="has no classifier of a GLUE task"):
        TASK.check_recipe(load_recipe("snli-ce"), SAMPLE)
    TASK.check_recipe(load_recipe("glue-finetune"), SAMPLE)
    with pytest.raises(MissingError, match=r"'glue-cola' .dev."):
        TASK.check_recipe(load_recipe("glue-finetune"), Source(folder=tmp_path, offline=True))
