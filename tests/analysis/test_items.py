"""Metrics of resampled items beside scikit-learn's on the resamples written out, and what a comparison makes of them."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from embedlab.analysis import items
from embedlab.analysis.comparison import judge_evidence
from embedlab.analysis.items import Metric, average_evidence, item_evidence, metric_of_counts, resampled_metric, score_evidence
from embedlab.analysis.paired_tests import mcnemar
from embedlab.analysis.scores import ModelColumns

metrics = pytest.importorskip("sklearn.metrics")

SLOW = {"accuracy": metrics.accuracy_score, "f1": metrics.f1_score, "matthews": metrics.matthews_corrcoef}


def answers(items_: int = 200, rows: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = (rng.random(items_) < 0.6).astype(np.int64)
    flipped = rng.random((rows, items_)) < np.linspace(0.1, 0.4, rows)[:, None]
    return gold, np.where(flipped, 1 - gold, gold)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews"])
def test_a_metric_of_counted_items_is_that_of_the_items_written_out(metric: Metric) -> None:
    gold, predicted = answers(40)
    counts = np.random.default_rng(1).integers(0, 4, (5, 40))
    found = metric_of_counts(gold, predicted, counts, metric)
    assert found.shape == (3, 5)
    for number, row in enumerate(counts):
        drawn = np.repeat(np.arange(40), row)
        expected = [SLOW[metric](gold[drawn], answer[drawn]) for answer in predicted]
        np.testing.assert_allclose(found[:, number], expected, atol=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews"])
def test_resampled_patterns_vary_as_resampled_items_do(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "CHUNK", 1000)  # several chunks
    gold, predicted = answers()
    found = resampled_metric(gold, predicted, metric, 4000, np.random.default_rng(2))
    drawn = np.random.default_rng(3).integers(0, 200, (4000, 200))
    counts = np.array([np.bincount(row, minlength=200) for row in drawn])  # the bootstrap over items, each drawn
    expected = metric_of_counts(gold, predicted, counts, metric)
    np.testing.assert_allclose(found.mean(1), expected.mean(1), atol=0.01)
    np.testing.assert_allclose(found.std(1), expected.std(1), rtol=0.06)
    # The models' draws are paired: their difference varies as that of the slow ones.
    assert (found[0] - found[1]).std() == pytest.approx((expected[0] - expected[1]).std(), rel=0.06)


def test_constant_answers_have_a_metric() -> None:
    gold, constant = np.array([0, 1, 1]), np.zeros((1, 3), np.int64)
    ones = np.ones(3, np.int64)
    assert metric_of_counts(gold, constant, ones, "matthews")[0] == 0
    assert metric_of_counts(gold, constant, ones, "f1")[0] == 0


def test_single_models_are_tested_by_mcnemar_and_seeds_by_the_bootstrap() -> None:
    gold, predicted = answers(300, 4)
    evidence = item_evidence("transfer", "mr", gold, dict(enumerate(predicted)), 4, metric="accuracy", resamples=2000, seed=0)
    single = [ModelColumns(name=name, members=(name,)) for name in "abcd"]
    (found,) = judge_evidence([evidence], single, "a", resamples=2000)
    assert found.differences["d"].test == "mcnemar"
    assert found.differences["d"].p == mcnemar(predicted[3] == gold, predicted[0] == gold)
    assert found.scores["a"].letters != found.scores["d"].letters
    assert found.differences["d"].low < found.differences["d"].delta < found.differences["d"].high < 0
    seeds = [ModelColumns(name="x", members=("a", "b"), seeds=(1, 2)), ModelColumns(name="y", members=("c", "d"), seeds=(1, 2))]
    (found,) = judge_evidence([evidence], seeds, "x", resamples=2000)
    assert found.differences["y"].test == "bootstrap"
    assert found.scores["x"].value == pytest.approx((predicted[:2] == gold).mean())


def test_a_member_without_answers_has_no_score_and_takes_nothing_from_the_others() -> None:
    gold, predicted = answers(50, 2)
    evidence = item_evidence("glue", "cola", gold, {0: predicted[0], 2: predicted[1]}, 3, metric="matthews", resamples=100, seed=0)
    models = [ModelColumns(name=name, members=(name,)) for name in "abc"]
    (found,) = judge_evidence([evidence], models, "a", resamples=100)
    assert np.isnan(found.scores["b"].value)
    assert np.isnan(found.differences["b"].p_holm)
    assert found.scores["b"].letters == ""
    assert not np.isnan(found.differences["c"].p_holm)


def test_an_average_weighs_its_datasets_equally_and_is_bootstrapped() -> None:
    parts = [
        item_evidence("transfer", str(size), *answers(size, 2, seed=size)[:1], dict(enumerate(answers(size, 2, seed=size)[1])), 2,
                      metric="accuracy", resamples=500, seed=0)
        for size in (40, 400)
    ]  # fmt: skip
    found = average_evidence("both", parts)
    np.testing.assert_allclose(found.points, (parts[0].points + parts[1].points) / 2)
    assert found.pairs == 440
    (judged,) = judge_evidence([found], [ModelColumns(name=name, members=(name,)) for name in "ab"], "a", resamples=500)
    assert judged.differences["b"].test == "bootstrap"
    assert judged.average_of == ("40", "400")


def test_scores_are_ranked_and_a_member_without_any_is_absent() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 6, 60).astype(np.float64)
    near, far = gold + rng.normal(0, 1, 60), rng.normal(0, 1, 60)
    found = score_evidence("glue", "sts-benchmark spearman", gold, {0: near, 2: far}, 3, resamples=400, seed=0)
    assert found.points[[0, 2]] == pytest.approx([spearmanr(gold, near).statistic, spearmanr(gold, far).statistic])
    assert np.isnan(found.points[1])
    assert np.isnan(found.draws[1]).all()
    assert found.draws[0].mean() == pytest.approx(found.points[0], abs=0.03)
