"""The multitask evaluation beside loops over what the heads of runs predict, over cosines where a
model has no head, and over averages of runs; and what is refused before a model is loaded.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from scipy.spatial.distance import cosine
from scipy.stats import pearsonr

from embedlab.analysis.measures import best_threshold
from embedlab.api import NotebookSession
from embedlab.commands.compare import CompareOptions, compare
from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.device import Machine
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder
from embedlab.scoring.dev_score import dev_score
from embedlab.scoring.stored_intervals import stored_intervals
from embedlab.tasks import _heads
from embedlab.tasks._heads import load_trained, predict_rows
from embedlab.tasks.multitask import METRICS, TASK
from embedlab.tasks.task import Selection, TaskResult
from embedlab.training.stages import train_run

MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
SAMPLE = Source(folder=TINY_FOLDER)
SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)
FRAMES = {name: SAMPLE.open(name, "dev").frame for name in METRICS}
Predictions = Mapping[str, NDArray[np.float32]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """A run with three heads and one with a sentiment head alone."""
    folder = tmp_path_factory.mktemp("multitask") / "runs"
    changes = ["stages.data.rows=64", "stages.optim.epochs=1", "encoder.max_tokens=32"]
    for name in ("multitask", "multitask-baseline"):
        recipe = load_recipe(name, changes, encoder=str(tiny_encoder))
        score = dev_score(SAMPLE, "sentiment")
        train_run(recipe, SAMPLE, MACHINE, RunFolder.of(folder, name, 1), 1, dev_score=score)
    return folder


def spec_of(name: str, runs: Path) -> ModelSpec:
    (spec,) = resolve(name, runs).members
    return spec


def evaluated(spec: ModelSpec) -> TaskResult:
    return TASK.evaluate(spec, SETTINGS, lambda _: lambda *_: None, Selection())


def by_loops(predictions: Predictions, threshold: float = 0.5) -> dict[str, float]:
    """The numbers, a row after the other."""
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
    return found


def values_of(result: TaskResult) -> dict[str, float]:
    return {one.slice: one.value for one in result.evaluation.scores}


def head_values(name: str, runs: Path, *datasets: str) -> dict[str, Any]:
    trained = load_trained(spec_of(name, runs), SETTINGS)
    return {each: predict_rows(trained, each, FRAMES[each]) for each in datasets or METRICS}


def test_every_number_is_that_of_a_loop_over_the_heads_and_the_mean_is_theirs(runs: Path) -> None:
    predictions = head_values("multitask", runs)
    expected, spec = by_loops(predictions), spec_of("multitask", runs)
    result = evaluated(spec)
    *own, mean = result.evaluation.scores
    assert {one.slice: one.metric for one in own} == METRICS
    assert values_of(result) == pytest.approx({**expected, "mean": sum(expected.values()) / 3})
    for one, outcomes in zip(own, result.outcomes, strict=True):
        assert (one.by, one.split, one.items) == ("dataset", "dev", len(FRAMES[one.slice]))
        gold, predicted = (outcomes.items[name] for name in ("gold", "predicted"))
        behind = (
            (gold == predicted).mean()
            if outcomes.classes
            else pearsonr(gold.cast(float), predicted.cast(float)).statistic
        )
        assert behind == pytest.approx(one.value)
    assert (mean.by, mean.metric, mean.items) == (
        "average",
        "of the three",
        sum(map(len, FRAMES.values())),
    )
    # the head itself, without dropout
    trained = load_trained(spec, SETTINGS)
    vectors = trained.encoder.encode(FRAMES["sentiment"]["sentence"].to_list())
    logits = trained.objectives[0].eval().logits(torch.from_numpy(vectors))  # type: ignore[operator]
    assert np.allclose(predictions["sentiment"], logits.softmax(dim=1).detach(), atol=1e-6)
    for name, value in (("multitask", mean.value), ("sentiment", expected["sentiment"])):
        assert TASK.dev_score(SAMPLE, name)(trained) == pytest.approx(100 * value, abs=1e-4)


def test_what_has_no_head_is_a_cosine_and_only_paraphrases_have_a_threshold(
    tiny_encoder: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_heads, "THRESHOLD_PAIRS", 30)
    spec = spec_of(f"{tiny_encoder}?pooling=mean", runs)
    trained, result = load_trained(spec, SETTINGS), evaluated(spec)
    training = SAMPLE.open("paraphrases", "train").frame
    rows = sorted(np.random.default_rng(0).permutation(len(training))[:30].tolist())
    values = _heads.plain_cosines(trained.encoder, training[rows])
    labels = training[rows]["is_duplicate"].to_numpy().astype(float)
    threshold = best_threshold(labels, values.astype(float), by_f1=False)
    predictions = {}
    for name in ("paraphrases", "sts-course"):
        sides = (FRAMES[name][side].to_list() for side in ("sentence1", "sentence2"))
        pairs = zip(*(trained.encoder.encode(side).astype(float) for side in sides), strict=True)
        predictions[name] = np.array([1 - cosine(a, b) for a, b in pairs], np.float32)
    expected = by_loops(predictions, threshold)
    assert values_of(result) == pytest.approx(expected, abs=1e-6)  # no sentiment, and no mean
    assert [part.state.name for part in result.tested] == [*expected]
    assert {
        "sentiment: no head",
        "sts-course: plain cosine",
        f"paraphrases: plain cosine above {threshold:.3f}, which is best on 30 training pairs",
    } <= {*result.evaluation.notes}
    assert TASK.dev_score(SAMPLE, "multitask")(trained) == pytest.approx(
        50 * sum(expected.values()), abs=1e-4
    )


def test_an_average_is_of_the_members_with_a_head_and_names_them(runs: Path) -> None:
    names = ("multitask", "multitask-baseline")
    result = evaluated(spec_of(f"ensemble:{','.join(names)}", runs))
    first, second = (head_values(name, runs, "sentiment")["sentiment"] for name in names)
    predictions = {**head_values("multitask", runs), "sentiment": (first + second) / 2}
    expected = by_loops(predictions)
    assert values_of(result) == pytest.approx({**expected, "mean": sum(expected.values()) / 3})
    notes = {
        "sentiment: average of multitask@1, multitask-baseline@1",
        "paraphrases: head of multitask@1",
    }
    assert notes <= {*result.evaluation.notes}


def test_heads_come_back_from_the_run(runs: Path) -> None:
    saved = load_file(runs / "multitask" / "seed-1" / "heads.safetensors")
    assert "1.layers.first.weight" in saved
    assert "2.layers.first.weight" not in saved  # shared: saved once
    (spec,) = resolve("multitask", runs).members
    trained = load_trained(spec, SETTINGS)
    assert torch.equal(trained.objectives[2].layers.first.weight, saved["1.layers.first.weight"])  # type: ignore[union-attr, arg-type]
    assert not any(objective.training for objective in trained.objectives)  # no dropout
    frame = SAMPLE.open("sts-course", "dev").frame.head(5)
    assert np.array_equal(
        predict_rows(trained, "sts-course", frame),
        predict_rows(load_trained(spec, SETTINGS), "sts-course", frame),
    )  # type: ignore[arg-type]


def test_the_mean_of_the_three_tasks_has_an_interval(runs: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, runs=runs, cache=tmp_path)
    options = CompareOptions(models=["multitask", "multitask-baseline"], suites=["multitask"])
    (table,) = compare(options, NotebookSession(settings=settings)).tables
    rows = {str(getattr(row["slice"], "value", "")): row for row in table.rows}
    assert list(rows) == ["sentiment", "paraphrases", "sts-course", "mean"]
    cells = [row["multitask-baseline.delta"] for row in rows.values()]
    differences = [getattr(cell, "value", 0.0) for cell in cells]
    assert differences[-1] == pytest.approx(np.mean(differences[:3]))
    assert all("[" in getattr(cell, "text", "") for cell in cells)

    place = ScorePlace.of(resolve("multitask@1", runs).members[0], settings)
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
    dice = ModelSpec(name="dice", kind="dice")
    nothing = Settings(data=tmp_path, offline=True)
    with pytest.raises(MissingError, match="'paraphrases'"):
        TASK.check(dice, nothing)
    TASK.check(dice, SETTINGS)
    with pytest.raises(MissingError, match="'paraphrases'"):
        TASK.check_recipe(load_recipe("snli-ce"), Source.from_settings(nothing))
    TASK.check_recipe(load_recipe("multitask"), Source.from_settings(nothing))
