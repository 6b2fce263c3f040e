"""Influence values beside what scipy and scikit-learn give when a row is left out or weighted."""

import numpy as np
import pytest
import scipy.stats

from embedlab.analysis.influence import pearson_influences, spearman_influences
from embedlab.analysis.measures import MEASURES

metrics = pytest.importorskip("sklearn.metrics")

SLOW = {
    "accuracy": metrics.accuracy_score,
    "f1": metrics.f1_score,
    "matthews": metrics.matthews_corrcoef,
}


def scored_pairs(pairs: int, *, ties: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 11, pairs) / 2 if ties else rng.normal(size=pairs)
    scores = gold + rng.normal(scale=2, size=pairs)
    return gold, np.round(scores) if ties else scores


def labels(items: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = (rng.random(items) < 0.6).astype(np.int64)
    return gold, np.where(rng.random(items) < 0.25, 1 - gold, gold)


def spearman_influence(gold: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return spearman_influences(gold, scores[None])[0]


@pytest.mark.parametrize("ties", [False, True])
def test_influence_on_spearman_is_that_of_leaving_a_pair_out(ties: bool) -> None:
    gold, scores = scored_pairs(400, ties=ties)
    whole = scipy.stats.spearmanr(gold, scores).statistic
    left_out = [
        scipy.stats.spearmanr(np.delete(gold, row), np.delete(scores, row)).statistic
        for row in range(400)
    ]
    found = spearman_influence(gold, scores)
    assert found.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found, 399 * (whole - np.array(left_out)), atol=0.03)


@pytest.mark.parametrize("ties", [False, True])
def test_influence_on_pearson_is_its_change_when_a_pair_weighs_more(ties: bool) -> None:
    gold, scores = scored_pairs(400, ties=ties)
    step, changes, whole = 1e-6, [], scipy.stats.pearsonr(gold, scores).statistic
    for pair in range(400):
        weights = np.full(400, (1 - step) / 400)
        weights[pair] += step
        ((_, both), (_, _)) = covariance = np.cov(gold, scores, aweights=weights, ddof=0)
        changes.append((both / np.sqrt(np.diag(covariance).prod()) - whole) / step)
    found = pearson_influences(gold, np.stack([scores, np.ones(400)]))
    np.testing.assert_allclose(found[0], changes, atol=1e-4)
    assert np.isnan(found[1]).all()


def test_a_constant_or_unscored_column_has_no_influence_values() -> None:
    gold = np.arange(5.0)
    assert np.isnan(spearman_influence(gold, np.ones(5))).all()
    assert np.isnan(spearman_influence(gold, np.array([1, 2, np.nan, 3, 4]))).all()


@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews"])
def test_influence_on_a_metric_is_its_change_when_an_item_weighs_more(metric: str) -> None:
    gold, predicted = labels()
    assert MEASURES[metric].value(gold, predicted) == pytest.approx(SLOW[metric](gold, predicted))
    step, changes, whole = 1e-5, [], SLOW[metric](gold, predicted)
    for item in range(len(gold)):
        weights = np.full(len(gold), (1 - step) / len(gold))
        weights[item] += step
        changes.append((SLOW[metric](gold, predicted, sample_weight=weights) - whole) / step)
    np.testing.assert_allclose(
        MEASURES[metric].influences(gold, [predicted])[0], changes, atol=1e-4
    )


def test_constant_predictions_have_a_metric_and_move_nothing() -> None:
    gold, constant = np.array([0, 1, 1]), np.zeros(3, np.int64)
    assert (MEASURES["matthews"].value(gold, constant), MEASURES["f1"].value(gold, constant)) == (
        0,
        0,
    )
    assert not MEASURES["matthews"].influences(gold, [constant]).any()
    assert MEASURES["f1"].value(constant, constant) == 0


@pytest.mark.parametrize("size", [1e-300, 1e200, 1e308])
def test_influence_on_pearson_does_not_depend_on_the_size_of_the_numbers(size: float) -> None:
    gold, scores = scored_pairs(50, ties=False)
    whole = pearson_influences(gold, scores[None])
    large = gold / np.abs(gold).max() * size
    np.testing.assert_allclose(pearson_influences(large, scores[None]), whole, atol=1e-9)
    np.testing.assert_allclose(pearson_influences(scores, large[None])[0], whole[0], atol=1e-9)
