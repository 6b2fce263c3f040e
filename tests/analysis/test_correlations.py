from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
import scipy.stats

from embedlab.analysis.correlations import (
    average_ranks,
    combine,
    pearson,
    spearman,
    why_undefined_gold,
)
from embedlab.choices import Aggregate


@pytest.fixture
def columns() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    shapes = product([2, 3, 50, 400], [2, 5, 10_000])
    return [
        (rng.integers(0, levels, n).astype(float), rng.normal(size=n).round(1))
        for n, levels in shapes
    ]


def test_ranks_of_ties_are_their_average() -> None:
    assert average_ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1, 3.5, 2]


def test_correlations_equal_scipy(columns: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for a, b in columns:
        if np.ptp(a) and np.ptp(b):
            assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
            assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-12)


def exact_pearson(a: list[float], b: list[float]) -> float:
    """The correlation in exact arithmetic, up to one square root at the end."""

    def centred(values: list[float]) -> list[Fraction]:
        found = [Fraction(value) for value in values]
        return [value - sum(found) / len(found) for value in found]

    left, right = centred(a), centred(b)
    both = sum(x * y for x, y in zip(left, right, strict=True))
    square = both**2 / (sum(x * x for x in left) * sum(y * y for y in right))
    return sqrt(square) * (1 if both > 0 else -1)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1.0, 1e150, 1e200, 1.7e308])
def test_pearson_does_not_depend_on_the_size_of_the_numbers(size: float) -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=60)
    scores = gold + rng.normal(size=60)
    for a, b in ((gold, scores), (-gold, scores), (-np.abs(gold) - 1, scores)):
        large = (a / np.abs(a).max() * size).tolist()
        with np.errstate(all="raise", under="ignore"):
            for first, second in ((large, b.tolist()), (b.tolist(), large), (large, large[::-1])):
                assert pearson(first, second) == pytest.approx(
                    exact_pearson(first, second), abs=1e-12
                )
    if 1e-100 < size < 1e100:
        assert pearson(large, b) == pytest.approx(
            scipy.stats.pearsonr(large, b).statistic, abs=1e-12
        )


def test_pearson_of_a_power_of_two_times_the_numbers_is_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 99))
    assert {pearson(a * 2.0**power, b) for power in (-600, -1, 0, 3, 700)} == {pearson(a, b)}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([], []),
        ([1], [2]),
        ([1, 1, 1], [1, 2, 3]),
        ([0.1] * 3, [1, 2, 3]),
        ([1, 2, float("nan")], [1, 2, 3]),
    ],
)
def test_what_has_no_correlation_is_nan(a: list[float], b: list[float]) -> None:
    assert np.isnan(spearman(a, b))
    assert np.isnan(pearson(a, b))


@pytest.mark.parametrize(
    "values", [[1e300, float("inf"), 1.0], [0.0, 0.0, 0.0], [1e308, 1e308, 1e308]]
)
def test_infinite_and_constant_numbers_have_no_pearson(values: list[float]) -> None:
    assert np.isnan(pearson(values, [1.0, 2.0, 3.0]))


def test_gold_scores_that_nothing_correlates_with_are_few_or_equal() -> None:
    found = [
        why_undefined_gold(np.array(gold))
        for gold in ([], [2.0], [2.0, 2.0], [2.0, 2.5], [2.0, 2.0, 2.5])
    ]
    needs = "a correlation needs two pairs, and it has"
    assert found == [f"{needs} 0", f"{needs} 1", "all gold scores are 2", "", ""]


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_several_correlations_of_each_source_are_put_together_at_once(aggregate: Aggregate) -> None:
    values = np.random.default_rng(4).normal(size=(3, 5))
    groups = [np.arange(size) for size in (2, 9, 4)]
    sizes = (2, 9, 4) if aggregate == "wmean" else (1, 1, 1)
    slow = [
        sum(values[row, column] * size for row, size in enumerate(sizes)) / sum(sizes)
        for column in range(5)
    ]
    assert combine(values, groups, aggregate) == pytest.approx(slow)
    assert np.isnan(combine(values[:0], [], aggregate)).tolist() == [True] * 5
    assert combine(values[:, :0], groups, aggregate).shape == (0,)  # of no member


def test_pearson_of_a_line_never_leaves_its_range() -> None:
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(300):
        a = rng.normal(size=7)
        b = 0.1 * a + 0.3
        centred = [values - values.mean() for values in (a, b)]
        beyond += (
            centred[0] @ centred[1] / np.sqrt((centred[0] @ centred[0]) * (centred[1] @ centred[1]))
            > 1
        )
        assert -1 <= pearson(a, -b) <= pearson(a, b) <= 1
    assert beyond  # rounding alone would leave it


def test_two_values_are_enough_for_a_pearson() -> None:
    assert pearson([1.0, 2.0], [5.0, 3.0]) == -1
    assert np.isnan(pearson([1.0], [5.0]))
