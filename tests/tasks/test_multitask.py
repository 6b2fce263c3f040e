"""The multitask evaluation: each number beside a loop over predictions that are given, and what is
refused before a model is loaded.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.objectives.objective import Trained
from embedlab.tasks import _heads
from embedlab.tasks._heads import Prediction
from embedlab.tasks.multitask import MULTITASK_DATASETS, TASK
from embedlab.tasks.task import Selection, TaskResult
from tests.tasks.labelled_sentences import WordEncoder

DICE = ModelSpec(name="dice", kind="dice")
SAMPLE = Source(folder=TINY_FOLDER)
SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1)


@pytest.fixture
def given() -> dict[str, Prediction]:
    """What a model is said to predict: probabilities of five sentiments, of paraphrases, and
    similarities.
    """
    rng = np.random.default_rng(0)
    rows = {name: len(SAMPLE.open(name, "dev").frame) for name in MULTITASK_DATASETS}
    return {
        "sentiment": Prediction(values=rng.random((rows["sentiment"], 5), np.float32), by="a head"),
        "paraphrases": Prediction(
            values=rng.random(rows["paraphrases"], np.float32), by="a head", threshold=0.3
        ),
        "sts-course": Prediction(values=rng.random(rows["sts-course"], np.float32), by="a head"),
    }


@pytest.fixture
def trained(given: Mapping[str, Prediction], monkeypatch: pytest.MonkeyPatch) -> Trained:
    found = Trained(encoder=WordEncoder(), objectives=())
    monkeypatch.setattr(_heads, "load_trained", lambda *_: found)
    monkeypatch.setattr(_heads, "predict_all", lambda *_: dict(given))
    return found


def by_loops(given: Mapping[str, Prediction]) -> dict[str, float]:
    """The three numbers, a row after the other."""
    sentiment, paraphrases, sts = (SAMPLE.open(name, "dev").frame for name in MULTITASK_DATASETS)
    right = sum(
        max(range(5), key=list(row).__getitem__) == gold
        for row, gold in zip(given["sentiment"].values, sentiment["label"], strict=True)
    )
    also = sum(
        (value > 0.3) == bool(gold)
        for value, gold in zip(
            given["paraphrases"].values, paraphrases["is_duplicate"], strict=True
        )
    )
    return {
        "sentiment": right / len(sentiment),
        "paraphrases": also / len(paraphrases),
        "sts-course": float(pearsonr(given["sts-course"].values, sts["gold"]).statistic),
    }


def evaluated() -> TaskResult:
    return TASK.evaluate(DICE, SETTINGS, lambda _: lambda *_: None, Selection())


@pytest.mark.usefixtures("trained")
def test_every_number_is_that_of_a_loop_and_the_mean_is_theirs(
    given: Mapping[str, Prediction],
) -> None:
    expected, scores = by_loops(given), evaluated().evaluation.scores
    rows = {name: len(prediction.values) for name, prediction in given.items()}
    found = {
        (score.by, score.slice, score.metric, score.split): (score.value, score.items)
        for score in scores
    }
    metrics = {"sentiment": "accuracy", "paraphrases": "accuracy", "sts-course": "pearson"}
    for name, value in expected.items():
        assert found.pop(("dataset", name, metrics[name], "dev")) == (
            pytest.approx(value, abs=1e-6),
            rows[name],
        )
    mean = found.pop(("average", "mean", "of the three", "dev"))
    assert mean == (pytest.approx(sum(expected.values()) / 3, abs=1e-6), sum(rows.values()))
    assert not found


@pytest.mark.usefixtures("trained")
def test_the_items_behind_the_numbers_give_the_numbers(given: Mapping[str, Prediction]) -> None:
    expected = by_loops(given)
    for outcomes in evaluated().outcomes:
        items, value = outcomes.items, expected[outcomes.dataset]
        if outcomes.classes:
            assert (items["gold"] == items["predicted"]).mean() == pytest.approx(value)
        else:
            assert pearsonr(
                items["gold"].cast(float), items["predicted"].cast(float)
            ).statistic == pytest.approx(value)
        assert items["item"].to_list() == list(range(len(items)))


def test_without_a_prediction_of_each_there_is_no_mean(
    trained: Trained, given: dict[str, Prediction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        _heads,
        "predict_all",
        lambda *_: {name: given[name] for name in ("paraphrases", "sts-course")},
    )
    result = evaluated()
    assert [score.slice for score in result.evaluation.scores] == ["paraphrases", "sts-course"]
    assert [note for note in result.evaluation.notes if note.endswith(": no head")] == [
        "sentiment: no head"
    ]
    assert [note for note in result.evaluation.notes if note.endswith(": a head")] == [
        "paraphrases: a head",
        "sts-course: a head",
    ]
    assert [part.state.name for part in result.tested] == ["paraphrases", "sts-course"]


def test_the_dev_score_is_the_mean_of_what_can_be_predicted(
    trained: Trained, given: dict[str, Prediction]
) -> None:
    expected = by_loops(given)
    assert TASK.dev_score(SAMPLE, "multitask")(trained) == pytest.approx(
        100 * sum(expected.values()) / 3, abs=1e-4
    )
    del given["sentiment"]
    assert TASK.dev_score(SAMPLE, "multitask")(trained) == pytest.approx(
        100 * (expected["paraphrases"] + expected["sts-course"]) / 2, abs=1e-4
    )


def test_a_model_without_a_paraphrase_head_needs_the_pairs_that_set_its_threshold(
    tmp_path: Path,
) -> None:
    nothing = Settings(data=tmp_path, offline=True)
    with pytest.raises(MissingError, match="'paraphrases'"):
        TASK.check(DICE, nothing)
    TASK.check(DICE, SETTINGS)
    with pytest.raises(MissingError, match="'paraphrases'"):
        TASK.check_recipe(load_recipe("snli-ce"), Source.from_settings(nothing))
    TASK.check_recipe(load_recipe("multitask"), Source.from_settings(nothing))
