import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from embedlab.analysis.seed_tests import beta_share, holm, odd_one, variance, welch_p


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1.0, 2.0, 4.0], [2.0, 3.5, 3.0]),
        ([70.4, 70.5, 70.3], [69.9, 69.8, 69.7, 70.0]),
        ([1.0, 1.1], [5.0, 5.2]),
    ],
)
def test_welch_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    assert welch_p(first, second) == pytest.approx(
        stats.ttest_ind(first, second, equal_var=False).pvalue, rel=1e-10
    )


def test_welch_knows_its_limits() -> None:
    assert math.isnan(welch_p([1.0], [2.0, 3.0]))
    assert welch_p([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert welch_p([1.0, 1.0], [2.0, 2.0]) == 0.0


@pytest.mark.parametrize("size", [3, 4, 7, 12])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_odd_one_has_the_p_of_grubbs_critical_value(size: int, alpha: float) -> None:
    t = stats.t.isf(alpha / (2 * size), size - 2)
    critical = (
        (size - 1) / math.sqrt(size) * math.sqrt(t * t / (size - 2 + t * t))
    )  # of the largest deviation, in standard deviations

    def deviation(far: float) -> float:
        values = [*np.linspace(0, 1, size - 1), far]
        return abs(far - float(np.mean(values))) / float(np.std(values, ddof=1))

    far = optimize.brentq(lambda far: deviation(far) - critical, 1.2, 1e6)
    place, p = odd_one([*np.linspace(0, 1, size - 1)[:2], far, *np.linspace(0, 1, size - 1)[2:]])
    assert place == 2
    assert p == pytest.approx(alpha, rel=1e-6)


def test_equal_draws_have_an_odd_one_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(3)
    for size in (3, 5, 10):
        found = [odd_one(rng.normal(size=size).tolist())[1] < 0.05 for _ in range(2000)]
        assert 0.03 < np.mean(found) < 0.065  # Bonferroni's bound is nearly exact here


def test_there_is_no_odd_one_where_the_spread_of_the_others_is_not_known() -> None:
    assert math.isnan(odd_one([1.0, 9.0])[1])
    assert math.isnan(odd_one([1.0, 1.0, 9.0])[1])
    assert math.isnan(odd_one([1.0, 2.0, math.nan])[1])


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.02, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 0.5), (2.2, 0.5), (60.0, 0.5), (3.0, 40.0)])
def test_the_incomplete_beta_function_agrees_with_scipy(x: float, a: float, b: float) -> None:
    assert beta_share(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-10, abs=1e-300)


def test_the_variance_is_the_unbiased_one() -> None:
    values = np.random.default_rng(1).normal(size=7)
    assert variance(values.tolist()) == pytest.approx(np.var(values, ddof=1))


def test_holm_equals_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(12):
        p = rng.choice([0.001, 0.01, 0.04, 0.2, 0.9], size) * rng.uniform(0.9, 1, size)
        expected, running = np.zeros(size), 0.0
        for step, index in enumerate(sorted(range(size), key=lambda i: p[i])):
            running = max(running, min(1.0, (size - step) * p[index]))
            expected[index] = running
        assert holm(p) == pytest.approx(expected)


def test_holm_does_not_count_an_undefined_test() -> None:
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])
