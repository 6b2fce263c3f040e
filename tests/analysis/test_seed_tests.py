import math
from collections.abc import Sequence

import pytest
from scipy import stats

from embedlab.analysis.seed_tests import welch_p


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1.0, 2.0, 4.0], [2.0, 3.5, 3.0]),
        ([70.4, 70.5, 70.3], [69.9, 69.8, 69.7, 70.0]),
        ([1.0, 2.0, 3.0], [1e4, 2e4, 3e4]),
        (range(100), range(100, 300)),
    ],
)
def test_welch_agrees_with_scipy(first: Sequence[float], second: Sequence[float]) -> None:
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert welch_p(first, second) == pytest.approx(expected, rel=1e-10)


def test_welch_knows_its_limits() -> None:
    assert math.isnan(welch_p([1.0], [2.0, 3.0]))
    assert welch_p([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert welch_p([1.0, 1.0], [2.0, 2.0]) == 0.0
