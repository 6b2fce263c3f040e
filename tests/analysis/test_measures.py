"""Every measure: its value beside scipy or counts, its influences beside the score without an item,
and what it is of.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from embedlab.analysis.measures import MEASURES

OF_PAIRS: dict[str, Callable[..., Any]] = {
    "spearman": lambda gold, predicted: spearmanr(gold, predicted).statistic,
    "pearson": lambda gold, predicted: pearsonr(gold, predicted).statistic,
}


OF_TWO_VALUES: dict[str, Callable[..., Any]] = {
    "average precision": lambda gold, predicted: np.mean(
        [gold[predicted >= one].mean() for one in predicted[gold == 1]]
    ),
    "roc auc": lambda gold, predicted: (
        predicted[gold == 1][:, None] > predicted[gold == 0][None]
    ).mean(),
}


def counts(gold: np.ndarray, predicted: np.ndarray) -> tuple[int, int, int]:
    """How many items are rightly, wrongly and not found to be of the second class."""
    found = [(bool(a), bool(b)) for a, b in zip(gold, predicted, strict=True)]
    return found.count((True, True)), found.count((False, True)), found.count((True, False))


def f1_score(gold: np.ndarray, predicted: np.ndarray) -> float:
    right, wrong, missed = counts(gold, predicted)
    return 2 * right / (2 * right + wrong + missed)


OF_CLASSES: dict[str, Callable[..., Any]] = {
    "accuracy": lambda gold, predicted: (
        sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)
    ),
    "f1": f1_score,
    "matthews": OF_PAIRS["pearson"],  # of two columns of zeros and ones it is the same
}


def test_a_measure_is_of_scores_of_classes_or_of_queries() -> None:
    of_classes = {name for name, one in MEASURES.items() if one.is_of_classes}
    of_queries = {name for name, one in MEASURES.items() if one.is_of_queries}
    assert of_classes == {*OF_CLASSES}
    assert {*MEASURES} - of_classes - of_queries == {*OF_PAIRS, *OF_TWO_VALUES}
    assert not of_classes & of_queries
    assert {name for name in of_queries if not MEASURES[name].is_of_ranks} == {
        "margin",
        "entailed closer",
    }
    assert not any(
        MEASURES[name].is_of_ranks for name in of_classes | OF_PAIRS.keys() | OF_TWO_VALUES.keys()
    )


def test_shares_and_correlations_have_intervals_that_fit_them() -> None:
    scales = {name: one.scale for name, one in MEASURES.items()}
    assert {name for name, scale in scales.items() if scale == "correlation"} == {*OF_PAIRS}
    assert {name for name, scale in scales.items() if scale == "share"} == {
        "accuracy",
        "entailed closer",
        *(name for name in scales if name.startswith("recall@")),
    }


@pytest.mark.parametrize("name", [*OF_PAIRS, *OF_TWO_VALUES, *OF_CLASSES])
def test_the_value_is_that_of_scipy_or_of_counts_and_the_influences_are_of_each_member(
    name: str,
) -> None:
    measure, rng = MEASURES[name], np.random.default_rng(0)
    slow = (OF_PAIRS | OF_TWO_VALUES | OF_CLASSES)[name]
    is_binary = measure.is_of_classes or name in OF_TWO_VALUES
    gold = rng.integers(0, 2, 90) if is_binary else rng.normal(size=90).round(1)
    members = [
        np.where(rng.random(90) < 0.3, 1 - gold, gold)
        if measure.is_of_classes
        else gold + rng.normal(size=90)
        for _ in range(2)
    ]
    influences = measure.influences(gold, members)
    for own, found in zip(members, influences, strict=True):
        assert measure.value(gold, own) == pytest.approx(slow(gold, own))
        without = np.array(
            [slow(np.delete(gold, place), np.delete(own, place)) for place in range(90)]
        )
        jackknifed = 89 * (without.mean() - without)
        assert np.corrcoef(found, jackknifed)[0, 1] > 0.99
        assert found.std() == pytest.approx(jackknifed.std(), rel=0.1)
        assert found.sum() == pytest.approx(0, abs=1e-9)
