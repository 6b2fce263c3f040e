"""What heads predict: thresholds against every cut, sharing and saving of layers, averages of
runs.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.spatial.distance import cosine

from embedlab.api import NotebookSession
from embedlab.commands.compare import CompareOptions, compare
from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.device import Machine
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.objectives.objective import Trained, build_objectives
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder
from embedlab.scoring.dev_score import dev_score
from embedlab.scoring.stored_intervals import stored_intervals
from embedlab.tasks import _heads
from embedlab.tasks._heads import (
    best_threshold,
    load_trained,
    predict_all,
    predict_averages,
    predict_rows,
)
from embedlab.tasks.multitask import MULTITASK_DATASETS, TASK
from embedlab.tasks.task import Selection
from embedlab.training.stages import train_run
from tests.tasks.labelled_sentences import WordEncoder

MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)

SAMPLE = Source(folder=TINY_FOLDER)
SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_the_highest_of_the_best_and_halfway_between_two_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, rng.integers(2, 12)).astype(np.float32) / 4  # exact in binary
    labels = rng.integers(2, size=len(values))
    steps = sorted({*values.tolist()}, reverse=True)
    cuts = [steps[0] + 1e-6, *((high + low) / 2 for high, low in pairwise(steps)), steps[-1] - 5e-7]
    errors = [
        sum((value > cut) != label for value, label in zip(values.tolist(), labels, strict=True))
        for cut in cuts
    ]
    assert best_threshold(values, labels) == pytest.approx(
        cuts[errors.index(min(errors))], abs=1e-9
    )


def test_a_head_predicts_without_dropout_and_goes_on_with_it() -> None:
    torch.manual_seed(0)
    (head, *_) = build_objectives(load_recipe("multitask"), WordEncoder.dim)
    trained, frame = (
        Trained(encoder=WordEncoder(), objectives=[head]),
        SAMPLE.open("sentiment", "dev").frame.head(20),
    )
    for is_training in (True, False):
        head.train(is_training)
        found = predict_rows(trained, "sentiment", frame)
        assert head.training is is_training
        vectors = torch.from_numpy(WordEncoder().encode(frame["sentence"].to_list()))
        with torch.no_grad():
            expected = head.eval().logits(vectors).softmax(dim=1).numpy()  # type: ignore[operator]
        assert found is not None
        assert np.allclose(found, expected, atol=1e-6)


def test_what_has_no_head_says_its_cosine_and_only_paraphrases_have_a_threshold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_heads, "THRESHOLD_PAIRS", 30)
    parts = {name: SAMPLE.open(name, "dev") for name in MULTITASK_DATASETS}
    found = predict_all(Trained(encoder=WordEncoder(), objectives=[]), parts, SAMPLE)
    assert set(found) == {"paraphrases", "sts-course"}
    assert found["sts-course"].by == "plain cosine"
    assert found["sts-course"].threshold == 0.5
    for name, one in found.items():
        frame = parts[name].frame
        first, second = (
            WordEncoder().encode(frame[side].to_list()).astype(float)
            for side in ("sentence1", "sentence2")
        )
        assert np.allclose(
            one.values, [1 - cosine(a, b) for a, b in zip(first, second, strict=True)], atol=1e-6
        )
    pairs = SAMPLE.open("paraphrases", "train").frame
    assert len(pairs) > 30
    chosen = pairs[sorted(np.random.default_rng(0).permutation(len(pairs))[:30].tolist())]
    threshold = best_threshold(
        _heads.plain_cosines(WordEncoder(), chosen),
        chosen["is_duplicate"].to_numpy().astype(int),
    )
    assert found["paraphrases"].threshold == threshold
    assert (
        found["paraphrases"].by
        == f"plain cosine above {threshold:.3f}, which is best on 30 training pairs"
    )


def test_an_average_is_the_mean_of_its_members_and_names_them() -> None:
    heads = [build_objectives(load_recipe("multitask"), WordEncoder.dim)[0] for _ in range(2)]
    members = [Trained(encoder=WordEncoder(), objectives=[head]) for head in heads]
    spec = ModelSpec(
        name="both",
        kind="ensemble",
        parts=tuple(ModelSpec(name=name, kind="run") for name in ("one", "two")),
    )
    parts = {"sentiment": SAMPLE.open("sentiment", "dev")}
    counted: list[str] = []

    def start(name: str) -> Callable[[int, int], None]:
        counted.append(name)
        return lambda done, total: None

    both = predict_averages(spec, members, parts, start)["sentiment"]
    assert counted == ["sentiment", "sentiment"]
    own = [predict_rows(member, "sentiment", parts["sentiment"].frame) for member in members]
    assert np.allclose(both.values, sum(own) / 2)  # type: ignore[arg-type]
    assert both.by == "average of one, two"
    alone = predict_averages(spec, [members[0], replace(members[1], objectives=[])], parts, start)[
        "sentiment"
    ]
    assert alone.by == "head of one"
    assert np.array_equal(alone.values, own[0])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """A run with three heads and one with a sentiment head alone."""
    folder = tmp_path_factory.mktemp("multitask") / "runs"
    for name in ("multitask", "multitask-baseline"):
        changes = [
            "stages.data.rows=64",
            "stages.optim.epochs=1",
            "stages.optim.lr=2e-3",
            "encoder.max_tokens=32",
        ]
        recipe = load_recipe(name, changes, encoder=str(tiny_encoder))
        train_run(
            recipe,
            SAMPLE,
            MACHINE,
            RunFolder.of(folder, name, 1),
            1,
            dev_score=dev_score(SAMPLE, "sentiment"),
        )
    return folder


def scores(name: str, runs: Path) -> dict[str, float]:
    (spec,) = resolve(name, runs).members
    result = TASK.evaluate(spec, SETTINGS, lambda _: lambda done, total: None, Selection())
    assert result.evaluation.marks == ("generated",)
    assert {score.split for score in result.evaluation.scores} == {"dev"}
    return {score.slice: score.value for score in result.evaluation.scores}


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
    session = NotebookSession(
        settings=replace(SETTINGS, runs=runs.with_name("runs"), cache=tmp_path)
    )
    options = CompareOptions(models=["multitask", "multitask-baseline"], suites=["multitask"])
    (table,) = compare(options, session).tables
    rows = {str(getattr(row["slice"], "value", "")): row for row in table.rows}
    assert list(rows) == ["sentiment", "paraphrases", "sts-course", "mean"]
    differences = [getattr(row["multitask-baseline.delta"], "value", 0.0) for row in rows.values()]
    assert differences[-1] == pytest.approx(np.mean(differences[:3]))
    assert all("[" in getattr(row["multitask-baseline.delta"], "text", "") for row in rows.values())

    place = ScorePlace.of(resolve("multitask@1", runs).members[0], session.settings)
    evaluation = Evaluation.load(place.evaluations / "multitask.json")
    intervals = stored_intervals(evaluation, place, session.settings)
    for score in evaluation.scores:  # of the model card
        low, high = intervals.of(score) or (np.nan, np.nan)
        assert low < score.value < high


def test_what_has_no_head_is_evaluated_by_cosines(runs: Path) -> None:
    assert scores("multitask-baseline", runs)["paraphrases"] >= 0.5
    assert list(scores("multitask-baseline", runs)) == [
        "sentiment",
        "paraphrases",
        "sts-course",
        "mean",
    ]


def test_an_ensemble_has_no_vectors(runs: Path) -> None:
    from embedlab.encoders.loading import load_scorer

    (spec,) = resolve("ensemble:multitask,multitask-baseline", runs).members
    with pytest.raises(UsageError, match="has no vectors"):
        load_scorer(spec, MACHINE)


@pytest.mark.parametrize("label", [0, 1])
def test_pairs_that_are_all_of_one_class_have_a_threshold_without_an_error(label: int) -> None:
    values = np.array([0.25, 0.75, 0.75, -0.5], np.float32)
    assert ((values > best_threshold(values, np.full(4, label))) == label).all()
