"""The multitask evaluation beside loops over what the heads of runs predict, over cosines where a
model has no head, and over averages of runs; and what is refused before a model is loaded.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import cosine
from scipy.stats import pearsonr

import embedlab
from embedlab.analysis.measures import best_threshold
from embedlab.core.errors import MissingError
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.stored_intervals import stored_intervals
from embedlab.tasks import _heads
from embedlab.tasks._heads import load_trained, predict_rows
from embedlab.tasks.multitask import METRICS, TASK
from embedlab.tasks.task import TaskResult
from tests.tasks.evaluated import DICE, SETTINGS, evaluated, spec_of, trained
from tests.training.small_runs import SAMPLE

FRAMES = {name: SAMPLE.open(name, "dev").frame for name in METRICS}
NAMES = ("multitask", "multitask-baseline")
Predictions = Mapping[str, NDArray[np.floating]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """A run with three heads and one with a sentiment head alone."""
    folder = tmp_path_factory.mktemp("multitask")
    for name in NAMES:
        trained(folder, tiny_encoder, name, "stages.optim.epochs=1")
    return folder / "runs"


def by_loops(predictions: Predictions, threshold: float = 0.5) -> dict[str, float]:
    """The numbers, a row after the other, and the mean of all three."""
    found = {}
    for name, values in predictions.items():
        gold = FRAMES[name].to_series(-1 if name != "sts-course" else 2).to_list()
        if name == "sts-course":
            found[name] = float(pearsonr(values, gold).statistic)
            continue
        called = [
            max(range(5), key=list(row).__getitem__) if name == "sentiment" else row > threshold
            for row in values
        ]
        found[name] = sum(one == other for one, other in zip(called, gold, strict=True)) / len(gold)
    if len(found) == 3:
        found["mean"] = sum(found.values()) / 3
    return found


def values_of(result: TaskResult) -> dict[str, float]:
    return {one.slice: one.value for one in result.evaluation.scores}


def head_values(name: str, runs: Path) -> Predictions:
    model = load_trained(spec_of(name, runs), SETTINGS)
    kinds = METRICS if name == "multitask" else ("sentiment",)
    return {each: predict_rows(model, each, FRAMES[each]) for each in kinds}  # type: ignore[misc]


def test_every_number_is_that_of_a_loop_over_the_heads_and_the_mean_is_theirs(runs: Path) -> None:
    predictions = head_values("multitask", runs)
    expected, spec = by_loops(predictions), spec_of("multitask", runs)
    result = evaluated("multitask", spec)
    *own, mean = result.evaluation.scores
    assert {one.slice: one.metric for one in own} == METRICS
    assert values_of(result) == pytest.approx(expected)
    for one, outcomes in zip(own, result.outcomes, strict=True):
        assert (one.by, one.split, one.items) == ("dataset", "dev", len(FRAMES[one.slice]))
        gold, predicted = (outcomes.items[name] for name in ("gold", "predicted"))
        behind = (
            (gold == predicted).mean()
            if outcomes.classes
            else pearsonr(gold.cast(float), predicted.cast(float)).statistic
        )
        assert behind == pytest.approx(one.value)
    items = sum(map(len, FRAMES.values()))
    assert (mean.by, mean.metric, mean.items) == ("average", "of the three", items)
    # the head itself, without dropout
    model = load_trained(spec, SETTINGS)
    vectors = model.encoder.encode(FRAMES["sentiment"]["sentence"].to_list())
    logits = model.objectives[0].eval().logits(torch.from_numpy(vectors))  # type: ignore[operator]
    assert np.allclose(predictions["sentiment"], logits.softmax(dim=1).detach(), atol=1e-6)
    for name, value in (("multitask", mean.value), ("sentiment", expected["sentiment"])):
        assert TASK.dev_score(SAMPLE, name)(model) == pytest.approx(100 * value, abs=1e-4)


def test_what_has_no_head_is_a_cosine_and_only_paraphrases_have_a_threshold(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_heads, "THRESHOLD_PAIRS", 30)
    spec = spec_of(f"{tiny_encoder}?pooling=mean")
    model, result = load_trained(spec, SETTINGS), evaluated("multitask", spec)
    training = SAMPLE.open("paraphrases", "train").frame
    rows = sorted(np.random.default_rng(0).permutation(len(training))[:30].tolist())
    values = _heads.plain_cosines(model.encoder, training[rows])
    labels = training[rows]["is_duplicate"].to_numpy().astype(float)
    threshold = best_threshold(labels, values.astype(float), by_f1=False)
    predictions = {}
    for name in ("paraphrases", "sts-course"):
        sides = (FRAMES[name][side].to_list() for side in ("sentence1", "sentence2"))
        pairs = zip(*(model.encoder.encode(side).astype(float) for side in sides), strict=True)
        predictions[name] = np.array([1 - cosine(a, b) for a, b in pairs], np.float32)
    expected = by_loops(predictions, threshold)
    assert values_of(result) == pytest.approx(expected, abs=1e-6)  # no sentiment, and no mean
    assert [part.state.name for part in result.tested] == [*expected]
    assert {
        "sentiment: no head",
        "sts-course: plain cosine",
        f"paraphrases: plain cosine above {threshold:.3f}, which is best on 30 training pairs",
    } <= {*result.evaluation.notes}
    dev = 50 * sum(expected.values())
    assert TASK.dev_score(SAMPLE, "multitask")(model) == pytest.approx(dev, abs=1e-4)


def test_an_average_is_of_the_members_with_a_head_and_names_them(runs: Path) -> None:
    result = evaluated("multitask", spec_of(f"ensemble:{','.join(NAMES)}", runs))
    first, second = (head_values(name, runs) for name in NAMES)
    average = (first["sentiment"] + second["sentiment"]) / 2
    assert values_of(result) == pytest.approx(by_loops({**first, "sentiment": average}))
    notes = {
        "sentiment: average of multitask@1, multitask-baseline@1",
        "paraphrases: head of multitask@1",
    }
    assert notes <= {*result.evaluation.notes}


def test_the_mean_of_the_three_tasks_has_an_interval(runs: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, runs=runs, cache=tmp_path)
    options = {"data": "tiny", "runs": runs, "cache": tmp_path}
    second = embedlab.compare([*NAMES], suite="multitask", **options).frame[1::2]  # type: ignore[arg-type]
    assert second["slice"].to_list() == [*METRICS, "mean"]
    *own, mean = second["difference"]
    assert mean == pytest.approx(np.mean(own))
    assert second["difference_low"].is_not_null().all()

    place = ScorePlace.of(spec_of("multitask@1", runs), settings)
    evaluation = Evaluation.load(place.evaluations / "multitask.json")
    assert "generated" in evaluation.marks
    intervals = stored_intervals(evaluation, place, settings)
    assert intervals is not None
    for score in evaluation.scores:  # of the model card
        low, high = intervals[score]
        assert low < score.value < high


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
