"""What more weight of an item changes in each measure, and which intervals its scores have; values
are in test_binary, test_correlations and test_retrieval.
"""

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef

from embedlab.analysis.measures import MEASURES
from tests.analysis.test_leaving_out import items


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_an_influence_is_what_a_little_more_weight_of_an_item_changes(name: str) -> None:
    """Beside data that is there two hundred times, and an item, or a query with its two texts, once
    more.
    """
    measure, rows, times = MEASURES[name], 40, 200
    gold, (predicted, *_) = items(measure, rows)
    other = 0
    if measure.is_of_queries:
        gold, other = gold // 2, rows  # the number of another query
    whole = measure.value(gold, predicted)
    (found,) = measure.influences(gold, [predicted])
    assert found.sum() == pytest.approx(0, abs=1e-9)
    copies = np.arange(times + 1) * other
    many = np.concatenate([gold + copy for copy in copies[:-1]])
    for row in range(0, rows, 4):
        unit = np.flatnonzero(gold == gold[row]) if measure.is_of_queries else np.array([row])
        moved = measure.value(
            np.concatenate([many, gold[unit] + copies[-1]]),
            np.concatenate([np.tile(predicted, times), predicted[unit]]),
        )
        share = len(unit) / (len(many) + len(unit))
        assert found[unit].mean() == pytest.approx((moved - whole) / share, abs=0.01)


def test_matthews_correlation_is_that_of_scikit_learn() -> None:
    gold, predicted = items(MEASURES["matthews"], 60)
    for own in predicted:
        expected = matthews_corrcoef(gold, own)
        assert MEASURES["matthews"].value(gold, own) == pytest.approx(expected)


def test_shares_and_correlations_have_intervals_that_fit_them() -> None:
    scales = {name: one.scale for name, one in MEASURES.items() if one.scale != "plain"}
    recalls = {name for name in MEASURES if name.startswith(("recall@", "top-"))}
    shares = dict.fromkeys({"accuracy", "entailed closer", *recalls}, "share")
    bounded = ("average precision", "roc auc", "f1", "ndcg@10", "mrr@10", "map", "mrr")
    correlations = dict.fromkeys(["spearman", "pearson"], "correlation")
    assert scales == {
        **correlations,
        **shares,
        **dict.fromkeys(bounded, "bounded"),
        "matthews": "signed",
    }
