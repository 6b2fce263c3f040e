"""Measures of two classes agree with scikit-learn."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score

from embedlab.analysis.measures import (
    MEASURES,
    area_under_roc,
    area_under_roc_influence,
    best_threshold,
    classes_by_threshold,
    pair_average_precision,
    two_folds,
)

Floats = NDArray[np.float64]
Value = Callable[[Floats, Floats], float]
SKLEARN = {"average precision": average_precision_score, "roc auc": roc_auc_score}


def pairs(n: int, seed: int, digits: int = 8) -> tuple[Floats, Floats]:
    """Gold and scores of N pairs, with ties where scores have few DIGITS."""
    rng = np.random.default_rng(seed)
    gold = (rng.random(n) < 0.35).astype(np.float64)
    return gold, np.round(rng.normal(gold, 1), digits)


@pytest.mark.parametrize("name", SKLEARN)
@pytest.mark.parametrize("digits", [8, 1, 0])
def test_ranking_measures_equal_scikit_learn_with_ties(name: str, digits: int) -> None:
    for seed in range(5):
        gold, scores = pairs(211, seed, digits)
        expected = SKLEARN[name](gold, scores)
        assert MEASURES[name].value(gold, scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "reference"), [("f1", f1_score), ("accuracy", accuracy_score)])
@pytest.mark.parametrize("digits", [8, 1, 0])
def test_measures_of_classes_by_the_others_threshold_equal_scikit_learn_with_ties(
    name: str, reference: Value, digits: int
) -> None:
    """The slow way: of each half the threshold that is best among all scores of the other half."""
    for seed in range(3):
        gold, scores = pairs(60, seed, digits)
        folds = two_folds(np.arange(60) // 3)
        classes = np.zeros(60)
        for fold in (0, 1):
            dev, test = folds != fold, folds == fold
            above = [scores[dev].min() - 1, *np.unique(scores[dev])]
            reached = [reference(gold[dev], scores[dev] > threshold) for threshold in above]
            best = best_threshold(gold[dev], scores[dev], by_f1=name == "f1")
            assert reference(gold[dev], scores[dev] > best) == pytest.approx(
                max(reached), abs=1e-12
            )
            classes[test] = scores[test] > best
        ours = classes_by_threshold(gold, scores, folds, by_f1=name == "f1")
        assert (ours == classes).all()
        value = MEASURES[name].value(gold, ours.astype(np.float64))
        assert value == pytest.approx(reference(gold, classes), abs=1e-12)


def test_a_measure_that_is_undefined_is_nan() -> None:
    ones, scores = np.ones(5), np.arange(5.0)
    assert np.isnan(area_under_roc(ones, scores))
    assert np.isnan(pair_average_precision(1 - ones, scores))
    assert np.isnan(area_under_roc_influence(ones, scores)).all()


def test_folds_keep_topics_whole_and_are_of_about_one_size() -> None:
    topics = np.random.default_rng(1).integers(0, 40, 500)
    folds = two_folds(topics)
    assert all(len(set(folds[topics == topic])) == 1 for topic in range(40))
    assert abs(int(folds.sum()) - 250) < 15
