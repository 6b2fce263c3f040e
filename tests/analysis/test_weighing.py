"""A slice weighed: what its rows and its seeds vary, which topic carries it, and which slices have
no interval.
"""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from scipy.stats import norm

from embedlab.analysis.evidence import average_evidence, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.uncertainty import score_interval
from embedlab.analysis.weighing import DECIDING, LARGE_TOPIC, Topic, Weighed
from tests.analysis.made import RUNS, recipe, scored, single, texts_of

A, B = recipe("a", 3), recipe("b", 3)


def topics_of(sizes: list[int]) -> np.ndarray:
    """Texts of rows of which each topic has one first sentence."""
    return texts_of(np.repeat(np.arange(len(sizes)), sizes))


def test_models_that_share_runs_are_compared_seed_by_seed() -> None:
    evidence = scored(300, [0.5, 0.7, 0.9, 1.1, 1.3, 1.5])
    shared = [replace(one, runs=RUNS) for one in (A, B)]
    first, second = evidence.points[:3], evidence.points[3:]
    for models, expected in (
        (shared, [first - second]),
        ([A, B], [first, second]),
    ):
        found = Weighed(evidence, models).spreads("a", "b")
        scatters = [((own - own.mean()) ** 2).sum() for own in expected]
        assert [spread.scatter for spread in found] == pytest.approx(scatters)
        assert min(spread.noise for spread in found) > 0


def test_the_largest_topic_is_that_of_the_largest_squared_contribution() -> None:
    evidence = scored(
        110, [0.1, 0.15, 0.2], measure="accuracy", texts=topics_of([40, 5, 5] + [1] * 60)
    )
    weighed = Weighed(evidence, single(["fixed", "x", "y"]))
    first, *others = weighed.topics.sums
    squares = [first**2, *((first - other) ** 2 for other in others)]
    found = [weighed.topic_of("fixed", *name) for name in ([], "x", "y")]
    assert [(one.rows, one.share) for one in found if one is not None] == [
        (
            np.count_nonzero(evidence.rows.row_topics == own.argmax()),
            pytest.approx(own.max() / own.sum()),
        )
        for own in squares
    ]
    largest = weighed.largest_topic("fixed")
    assert largest.share == pytest.approx(max(own.max() / own.sum() for own in squares[1:]))
    assert Weighed(evidence, single(["fixed"])).largest_topic("fixed") == found[0]


@pytest.mark.parametrize(
    ("rows", "share", "is_large"),
    [(2, 0.9, False), (3, LARGE_TOPIC, True), (3, 0.49, False), (19, 0.9, True), (20, 0.9, False)],
)
def test_a_topic_is_large_from_half_of_the_variance_and_three_rows_on_but_not_all_of_twenty(
    rows: int, share: float, is_large: bool
) -> None:
    assert Topic(rows=rows, share=share).is_large(20) == is_large


@pytest.mark.parametrize(
    ("topic", "difference", "decides"),
    [
        (Topic(rows=5, share=DECIDING, score_without=0.1), 0.1, True),
        (Topic(rows=5, share=0.79, score_without=0.1), 0.1, False),
        (Topic(rows=5, share=0.6, score_without=-0.1), 0.1, True),
        (Topic(rows=5, share=0.6, score_without=0.0), 0.1, False),
        (Topic(rows=5, share=0.9), 0.1, False),  # what is left is unknown
        (Topic(rows=2, share=0.9, score_without=-0.1), 0.1, False),
    ],
)
def test_a_difference_hangs_on_a_topic_without_which_the_order_turns_or_which_outweighs_all_others(
    topic: Topic, difference: float, decides: bool
) -> None:
    assert topic.decides(difference, 20) == decides


@pytest.mark.parametrize(
    ("measure", "positives", "rarer"),
    [
        ("f1", 9, 9),
        ("f1", 55, 5),
        ("roc auc", 0, 0),
        ("accuracy", 9, None),
        ("spearman", 9, 9),
        ("pearson", 51, 9),
    ],
)
def test_fewer_of_a_class_than_ten_are_not_tested_where_they_decide_the_measure(
    measure: str, positives: int, rarer: int | None
) -> None:
    gold = np.zeros(60)
    gold[:positives] = 1
    found = MEASURES[measure].count_rarer(gold)
    assert found == rarer
    evidence = scored(60, [0.5, 0.7])
    assert MEASURES["spearman"].count_rarer(gold + np.arange(60) // 20) is None
    few, enough = (
        Weighed(replace(evidence, rows=replace(evidence.rows, rarer=count)), single(["fixed", "x"]))
        for count in (rarer, 10)
    )
    assert few.lack.startswith("fewer than 10 rows ") == (rarer is not None)
    assert not enough.lack


@pytest.mark.parametrize(
    ("rows", "topics", "lack"),
    [
        (9, 9, "fewer than 10 rows: no interval"),
        (60, 1, "its rows form only one topic: no interval"),
        (60, 5, "its rows form only 5 topics: no interval"),
        (60, 6, ""),
    ],
)
def test_fewer_rows_than_ten_or_topics_than_six_are_not_tested(
    rows: int, topics: int, lack: str
) -> None:
    evidence = scored(rows, [0.5, 0.7], texts=topics_of([rows // topics] * topics))
    weighed = Weighed(evidence, single(["fixed", "x"]))
    assert weighed.lack.startswith(lack)
    assert bool(weighed.lack) == isnan(weighed.p["fixed", "x"]) == bool(lack)
    assert (weighed.largest_topic("fixed") is None) == bool(lack)


@pytest.mark.parametrize(
    ("measure", "step"),
    [("ndcg@10", 0.5 / 20), ("map", 0.5 / 20), ("f1", 0.5 / 10), ("roc auc", 0.25 / 10)],
)
def test_rows_that_all_agree_do_not_make_models_equal(measure: str, step: float) -> None:
    gold, perfect = np.arange(20), np.ones(20)  # every query finds its text first
    if MEASURES[measure].is_of_rarer:
        gold = perfect = np.repeat([0, 1], 10)
    agreeing, models = {0: perfect, 1: perfect}, single(["a", "b"])
    evidence = evidence_of("t", "one", gold, agreeing, 2, measure=MEASURES[measure])
    other = evidence_of("t", "two", gold, agreeing, 2, measure=MEASURES[measure])
    average = average_evidence("both", [evidence, other])
    for found, deviation in ((evidence, 2**0.5 * step), (average, step)):
        difference, uncertainty, p = Weighed(found, models).compare("b", "a")
        assert (difference, p) == (0, pytest.approx(1))
        assert 1 < uncertainty.half_width() / (norm.ppf(0.975) * deviation) < 1.2
        assert uncertainty.equivalence(0, step) > 0.05


def test_the_interval_of_an_accuracy_with_one_error_holds_one_error_in_a_hundred() -> None:
    gold = np.zeros(30, int)
    predicted = {0: np.arange(30) == 0}
    evidence = evidence_of("t", "s", gold, predicted, 1, measure=MEASURES["accuracy"])
    uncertainty = Weighed(evidence, single(["a"])).score_uncertainties["a"]
    low, high = score_interval(29 / 30, uncertainty, "share", 30)
    assert low < 0.86
    assert 0.99 < high < 1
