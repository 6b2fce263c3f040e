from itertools import product

import numpy as np
import pytest
import scipy.stats

from embedlab.analysis.correlations import pearson, spearman


def test_correlations_equal_scipy() -> None:
    rng = np.random.default_rng(0)
    for rows, levels in product([2, 3, 50, 400], [2, 5, 10_000]):
        a, b = rng.integers(0, levels, rows).astype(float), rng.normal(size=rows).round(1)
        if np.ptp(a) and np.ptp(b):
            assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
            assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e150, 1e200, 1.7e308])
def test_pearson_does_not_depend_on_the_size_of_the_numbers(size: float) -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=60)
    scores = gold + rng.normal(size=60)
    for a in (gold, -np.abs(gold) - 1):
        large = a / np.abs(a).max() * size
        expected = scipy.stats.pearsonr(a, scores).statistic
        with np.errstate(all="raise", under="ignore"):
            assert pearson(large, scores) == pytest.approx(expected, abs=1e-12)
            assert pearson(scores, large) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, 1],
        [0.1] * 3,
        [1e308] * 3,
        [1, 2, float("nan")],
    ],
)
def test_what_has_no_correlation_is_nan(values: list[float]) -> None:
    assert np.isnan([spearman(values, [1, 2, 3]), pearson(values, [1, 2, 3])]).all()
    assert np.isnan([pearson([1e300, float("inf"), 1.0], [1, 2, 3]), pearson([1], [5])]).all()
    assert np.isnan([spearman([], []), spearman([1], [2])]).all()


def test_pearson_of_a_line_never_leaves_its_range() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):  # rounding alone would leave it
        a = rng.normal(size=7)
        b = 0.1 * a + 0.3
        assert -1 <= pearson(a, -b) <= pearson(a, b) <= 1
