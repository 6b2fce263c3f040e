import math

import pytest
from scipy import special, stats

from embedlab.analysis.seed_tests import beta_share, welch_p


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
