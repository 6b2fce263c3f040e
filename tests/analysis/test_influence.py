"""Influence values of what is constant, unscored or very large; the others are in test_measures."""

import numpy as np
import pytest

from embedlab.analysis.influence import pearson_influence, spearman_influences
from embedlab.analysis.measures import MEASURES


def test_a_constant_or_unscored_column_has_no_influence_values() -> None:
    gold = np.arange(5.0)
    columns = np.array([np.ones(5), [1, 2, np.nan, 3, 4]])
    assert np.isnan(spearman_influences(gold, columns)).all()
    assert np.isnan(pearson_influence(gold, columns[0])).all()


def test_constant_predictions_have_a_metric_and_move_nothing() -> None:
    gold, constant = np.array([0, 1, 1]), np.zeros(3, np.int64)
    assert [MEASURES[name].value(gold, constant) for name in ("matthews", "f1")] == [0, 0]
    assert not MEASURES["matthews"].influences(gold, [constant]).any()
    assert MEASURES["f1"].value(constant, constant) == 0


@pytest.mark.parametrize("size", [1e-300, 1e200, 1e308])
def test_influence_on_pearson_does_not_depend_on_the_size_of_the_numbers(size: float) -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=50)
    scores = gold + rng.normal(scale=2, size=50)
    whole = pearson_influence(gold, scores)
    large = gold / np.abs(gold).max() * size
    np.testing.assert_allclose(pearson_influence(large, scores), whole, atol=1e-9)
    np.testing.assert_allclose(pearson_influence(scores, large), whole, atol=1e-9)
