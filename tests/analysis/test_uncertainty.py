"""Half-widths and p-values beside scipy's, and what seeds add."""

from math import inf, isnan, nan

import numpy as np
import pytest
import scipy.stats
from scipy.stats import t

from embedlab.analysis.dependence import SharedSentences, Variances
from embedlab.analysis.uncertainty import (
    SeedSpread,
    Uncertainty,
    correlation_interval,
    share_interval,
    spread_of,
    with_seeds,
)

ROWS = Variances(value=np.array([0.04]), independent=np.array([0.01]), freedom=np.array([12.0]))


def test_without_seeds_interval_and_p_are_students() -> None:
    found = Uncertainty(rows=0.04, rows_freedom=12, independent=0.01)
    assert found.half_width() == pytest.approx(t.ppf(0.975, 12) * 0.2)
    assert found.interval(1.0, 0.9) == pytest.approx((1 - t.ppf(0.95, 12) * 0.2, 1 + t.ppf(0.95, 12) * 0.2))
    assert found.p(-0.5) == pytest.approx(2 * t.sf(2.5, 12))
    assert found.design_effect == 4


@pytest.mark.parametrize("difference", [0.05, 0.3, 0.8, 3.0, 40.0])
def test_p_is_the_level_of_the_interval_that_just_reaches_zero(difference: float) -> None:
    found = Uncertainty(rows=0.04, rows_freedom=12, independent=0.01, seeds=0.09, seeds_freedom=2.5)
    p = found.p(difference)
    assert found.half_width(1 - p) == pytest.approx(difference, rel=1e-5)
    assert (p < 0.05) == (difference > found.half_width())


def test_p_lies_between_those_of_its_parts_whatever_their_sizes_and_degrees_of_freedom() -> None:
    """A quantile far out in the tail came back as 0 from scipy, and some p with it as 1e-235."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows, seeds = 10 ** rng.uniform(-9, -2, 2)
        found = Uncertainty(rows=rows, rows_freedom=rng.uniform(5, 900), independent=rows, seeds=seeds, seeds_freedom=rng.uniform(1, 9))
        distance = np.sqrt(rows + seeds) * 10 ** rng.uniform(-2, 1.5)
        alone = [t.sf(distance / np.sqrt(rows), found.rows_freedom), t.sf(distance / np.sqrt(seeds), found.seeds_freedom)]
        whole = t.sf(distance / np.sqrt(rows + seeds), min(found.rows_freedom, found.seeds_freedom))
        assert max(alone) * (1 - 1e-9) <= found.p(distance) / 2 <= whole * (1 + 1e-9)
        assert found.half_width(1 - found.p(distance)) == pytest.approx(distance, rel=1e-5) or found.p(distance) < 1e-9


@pytest.mark.parametrize("unit", [1.0, 100.0, 1e-3])
@pytest.mark.parametrize("distance", [0.2, 0.9, 2.5])
def test_p_is_the_same_in_any_unit_of_the_scores(unit: float, distance: float) -> None:
    plain, other = (
        Uncertainty(rows=0.04 * k**2, rows_freedom=12, independent=0.01 * k**2, seeds=0.09 * k**2, seeds_freedom=2.5) for k in (1.0, unit)
    )
    assert other.p(distance * unit) == pytest.approx(plain.p(distance), rel=1e-6)
    assert other.half_width() == pytest.approx(plain.half_width() * unit, rel=1e-6)


def test_p_has_no_lower_bound_and_no_value_where_nothing_is_known() -> None:
    assert 0 < Uncertainty(rows=1e-4, rows_freedom=300, independent=1e-4).p(0.2) < 1e-40
    assert Uncertainty(rows=0.0, rows_freedom=inf, independent=0.0).p(0.0) == 1
    assert isnan(Uncertainty(rows=nan, rows_freedom=nan, independent=nan).p(0.1))
    assert Uncertainty(rows=1.0, rows_freedom=5, independent=1.0).tail(-0.7) == pytest.approx(t.cdf(0.7, 5))


def test_three_seeds_each_have_welchs_degrees_of_freedom() -> None:
    first, second = np.array([1.0, 1.4, 1.9]), np.array([0.2, 0.1, 0.6, 0.4])
    spreads = [SeedSpread(members=len(one), scatter=float(((one - one.mean()) ** 2).sum()), noise=0.0) for one in (first, second)]
    found = with_seeds(ROWS, 0, spreads)
    welch = scipy.stats.ttest_ind(first, second, equal_var=False)
    assert found.seeds_freedom == pytest.approx(welch.df)
    assert (first.mean() - second.mean()) / np.sqrt(found.seeds) == pytest.approx(welch.statistic)


def test_two_seeds_share_a_pooled_spread_and_one_seed_takes_it() -> None:
    two, three = SeedSpread(members=2, scatter=0.5, noise=0.1), SeedSpread(members=3, scatter=0.4, noise=0.0)
    found = with_seeds(ROWS, 0, [two, three])
    assert (found.seeds, found.seeds_freedom) == (pytest.approx((0.9 - 0.1) / 3 * (1 / 2 + 1 / 3)), 3)
    alone = with_seeds(ROWS, 0, [SeedSpread(members=1, scatter=0.0, noise=0.0), three])
    assert (alone.seeds, alone.seeds_freedom) == (pytest.approx(0.4 / 2 * (1 + 1 / 3)), 2)


def test_nothing_is_subtracted_from_the_spread_of_two_seeds() -> None:
    """Two seeds that agree by chance would otherwise leave an interval over rows alone."""
    two = SeedSpread(members=2, scatter=0.1, noise=0.3)
    assert with_seeds(ROWS, 0, [two, two]).seeds == pytest.approx(0.1)
    assert with_seeds(ROWS, 0, [two]).seeds == pytest.approx(0.05)


def test_a_fixed_model_adds_no_spread_and_two_single_seeds_have_none() -> None:
    fixed = SeedSpread(members=1, scatter=0.0, noise=0.0, is_recipe=False)
    one = SeedSpread(members=1, scatter=0.0, noise=0.0)
    three = SeedSpread(members=3, scatter=0.4, noise=0.0)
    assert with_seeds(ROWS, 0, [fixed, three]).seeds == pytest.approx(0.4 / 6)
    assert with_seeds(ROWS, 0, [one, one]).seeds == 0


def test_what_the_rows_own_noise_explains_is_not_counted_twice() -> None:
    """Seeds that differ by independent errors of their pairs alone: scatter and noise are alike on average."""
    rng, apart = np.random.default_rng(0), []
    for _ in range(200):
        values = rng.normal(size=(3, 100))
        sums = SharedSentences.none(100).sums((values - values.mean(axis=1, keepdims=True)) / 100)
        found = spread_of(values.mean(axis=1), sums, is_recipe=True)
        apart.append(found.scatter - found.noise)
    assert np.mean(apart) == pytest.approx(0, abs=0.004)
    assert np.mean(np.abs(apart)) > 0.004


def test_intervals_of_scores_stay_in_their_range() -> None:
    wide = Uncertainty(rows=0.01, rows_freedom=20, independent=0.01)
    low, high = correlation_interval(0.95, wide)
    assert -1 < low < 0.95 < high < 1
    assert correlation_interval(1.0, wide) == (1.0, 1.0)
    low, high = share_interval(1.0, Uncertainty(rows=0.0, rows_freedom=19, independent=0.0), 20)
    assert (low, high) == (pytest.approx(20 / (20 + t.ppf(0.975, 19) ** 2)), pytest.approx(1.0))


def test_the_interval_of_an_accuracy_is_wilsons() -> None:
    share, items = 0.8, 400
    found = Uncertainty(rows=share * (1 - share) / items, rows_freedom=1e9, independent=share * (1 - share) / items)
    expected = scipy.stats.binomtest(320, 400).proportion_ci(method="wilson")
    assert share_interval(share, found, items) == pytest.approx((expected.low, expected.high), abs=1e-4)
