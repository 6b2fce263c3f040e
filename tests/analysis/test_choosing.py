"""The choice of the best of many, beside simulation and scipy."""

from math import isnan, sqrt

import numpy as np
import pytest
from scipy import stats

from embedlab.analysis.choosing import chosen_p, optimism, range_tail


@pytest.mark.parametrize("cells", [2, 3, 64])
@pytest.mark.parametrize("deviate", [0.5, 4.0])
def test_the_largest_of_all_pairs_has_the_distribution_of_the_range(
    cells: int, deviate: float
) -> None:
    expected = stats.studentized_range.sf(sqrt(2) * deviate, cells, 1e7)
    assert range_tail(deviate, cells, cells) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("left", [1, 2, 5, 15])
def test_what_is_left_is_compared_with_every_cell(left: int) -> None:
    values = np.random.default_rng(0).normal(size=(100_000, 16))
    apart = (values.max(axis=1) - values[:, :left].min(axis=1)) / sqrt(2)
    for deviate in (1.5, 2.2, 3.0):
        assert range_tail(deviate, 16, left) == pytest.approx(np.mean(apart > deviate), abs=0.005)


def test_corrected_p_rise_with_p_and_an_undefined_one_counts_as_a_cell() -> None:
    p = [1e-8, 0.2, 1e-4, 0.0]
    found = chosen_p(p)
    assert np.argsort(found, kind="stable").tolist() == np.argsort(p, kind="stable").tolist()
    # One was denied before the first, three before the second.
    assert found[0] == pytest.approx(range_tail(stats.norm.isf(1e-8 / 2), 5, 4))
    assert found[1] == pytest.approx(range_tail(stats.norm.isf(0.1), 5, 2))
    more = chosen_p([*p, float("nan")])
    assert isnan(more[-1])
    assert more[1] > found[1]
    assert chosen_p([]) == []
    assert chosen_p([0.03]) == [pytest.approx(0.03)]


@pytest.mark.parametrize("spread", [0.0, 0.7, 3.0])
def test_the_best_is_as_much_too_high_as_in_draws_of_shrunken_values(spread: float) -> None:
    """An independent parametric bootstrap with many draws."""
    rng, noise = np.random.default_rng(2), 0.25
    means = 80 + spread * np.linspace(-2, 1, 9) + rng.normal(scale=0.3, size=9)
    share = max(0.0, 1 - noise / means.var(ddof=1))
    truths = means.mean() + sqrt(share) * (means - means.mean())
    draws = truths + sqrt(noise) * rng.normal(size=(200_000, 9))
    expected = np.mean(draws.max(axis=1) - truths[draws.argmax(axis=1)])
    assert optimism(means.tolist(), noise) == pytest.approx(expected, abs=0.004)


def test_of_equal_cells_the_best_is_too_high_by_the_expected_largest_deviate() -> None:
    harter = 2.3437  # (1961) of 64
    assert optimism([5.0] * 64, 4.0) == pytest.approx(2 * harter, abs=1e-3)
    assert optimism([5.0, 5.0], 2.0) == pytest.approx(sqrt(2 / np.pi))


def test_one_cell_is_not_chosen_and_unknown_noise_gives_no_figure() -> None:
    assert optimism([80.0], float("nan")) == 0.0
    assert isnan(optimism([80.0, 79.0], float("nan")))
    assert optimism([80.0, 79.0], 0.0) == 0.0
