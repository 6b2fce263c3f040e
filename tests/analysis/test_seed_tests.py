import math

import numpy as np
import pytest
from scipy import special, stats

from embedlab.analysis.seed_tests import beta_share, holm, welch_p


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1.0, 2.0, 4.0], [2.0, 3.5, 3.0]),
        ([70.4, 70.5, 70.3], [69.9, 69.8, 69.7, 70.0]),
    ],
)
def test_welch_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert welch_p(first, second) == pytest.approx(expected, rel=1e-10)


def test_welch_knows_its_limits() -> None:
    assert math.isnan(welch_p([1.0], [2.0, 3.0]))
    assert welch_p([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert welch_p([1.0, 1.0], [2.0, 2.0]) == 0.0


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.3, 0.9, 1.0])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2.2, 0.5), (60.0, 0.5), (3.0, 40.0)])
def test_the_incomplete_beta_function_agrees_with_scipy(x: float, a: float, b: float) -> None:
    assert beta_share(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-10, abs=1e-300)


def test_holm_equals_a_loop_and_does_not_count_an_undefined_test() -> None:
    rng = np.random.default_rng(0)
    for size in range(12):
        p = rng.choice([0.001, 0.01, 0.04, 0.2, 0.9], size) * rng.uniform(0.9, 1, size)
        expected, running = np.zeros(size), 0.0
        for step, index in enumerate(np.argsort(p)):
            running = max(running, min(1.0, (size - step) * p[index]))
            expected[index] = running
        assert holm(p) == pytest.approx(expected)
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])
