"""Half-widths and p-values beside scipy's, and what seeds add."""

from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
import scipy.stats
from scipy.stats import t

from embedlab.analysis.dependence import SharedSentences, Variances
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.uncertainty import (
    UNKNOWN,
    SeedSpread,
    Uncertainty,
    correlation_interval,
    correlations_skew,
    difference_interval,
    p_of_zero,
    share_interval,
    share_runs,
    solved,
    spread_of,
    with_seeds,
)

ROWS = Variances(value=np.array([0.04]), independent=np.array([0.01]), freedom=np.array([12.0]))


def test_without_seeds_interval_and_p_are_students() -> None:
    found = Uncertainty(rows=0.04, rows_freedom=12, independent=0.01)
    assert found.half_width() == pytest.approx(t.ppf(0.975, 12) * 0.2)
    assert found.interval(1.0, 0.9) == pytest.approx(
        (1 - t.ppf(0.95, 12) * 0.2, 1 + t.ppf(0.95, 12) * 0.2)
    )
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
        found = Uncertainty(
            rows=rows,
            rows_freedom=rng.uniform(5, 900),
            independent=rows,
            seeds=seeds,
            seeds_freedom=rng.uniform(1, 9),
        )
        distance = np.sqrt(rows + seeds) * 10 ** rng.uniform(-2, 1.5)
        alone = [
            t.sf(distance / np.sqrt(rows), found.rows_freedom),
            t.sf(distance / np.sqrt(seeds), found.seeds_freedom),
        ]
        whole = t.sf(distance / np.sqrt(rows + seeds), min(found.rows_freedom, found.seeds_freedom))
        assert max(alone) * (1 - 1e-9) <= found.p(distance) / 2 <= whole * (1 + 1e-9)
        assert (
            found.half_width(1 - found.p(distance)) == pytest.approx(distance, rel=1e-5)
            or found.p(distance) < 1e-9
        )


@pytest.mark.parametrize("unit", [1.0, 100.0, 1e-3])
@pytest.mark.parametrize("distance", [0.2, 0.9, 2.5])
def test_p_is_the_same_in_any_unit_of_the_scores(unit: float, distance: float) -> None:
    plain, other = (
        Uncertainty(
            rows=0.04 * k**2,
            rows_freedom=12,
            independent=0.01 * k**2,
            seeds=0.09 * k**2,
            seeds_freedom=2.5,
        )
        for k in (1.0, unit)
    )
    assert other.p(distance * unit) == pytest.approx(plain.p(distance), rel=1e-6)
    assert other.half_width() == pytest.approx(plain.half_width() * unit, rel=1e-6)


def test_p_has_no_lower_bound_and_no_value_where_nothing_is_known() -> None:
    assert 0 < Uncertainty(rows=1e-4, rows_freedom=300, independent=1e-4).p(0.2) < 1e-40
    assert Uncertainty(rows=0.0, rows_freedom=inf, independent=0.0).p(0.0) == 1
    assert isnan(Uncertainty(rows=nan, rows_freedom=nan, independent=nan).p(0.1))
    assert Uncertainty(rows=1.0, rows_freedom=5, independent=1.0).tail(-0.7) == pytest.approx(
        t.cdf(0.7, 5)
    )


def test_a_fixed_model_adds_no_spread_and_two_single_seeds_have_none() -> None:
    fixed = SeedSpread(members=1, scatter=0.0, noise=0.0, is_recipe=False)
    one = SeedSpread(members=1, scatter=0.0, noise=0.0)
    three = SeedSpread(members=3, scatter=0.4, noise=0.0)
    assert with_seeds(ROWS, [fixed, three]).seeds == pytest.approx(0.4 / 6)
    assert with_seeds(ROWS, [one, one]).seeds == 0


def test_intervals_of_scores_stay_in_their_range() -> None:
    wide = Uncertainty(rows=0.01, rows_freedom=20, independent=0.01)
    low, high = correlation_interval(0.95, wide)
    assert -1 < low < 0.95 < high < 1
    assert correlation_interval(1.0, wide) == (1.0, 1.0)
    low, high = share_interval(1.0, Uncertainty(rows=0.0, rows_freedom=19, independent=0.0), 20)
    assert (low, high) == (pytest.approx(20 / (20 + t.ppf(0.975, 19) ** 2)), pytest.approx(1.0))


def of_topics(topics: int, seed: int = 0, **fields: float) -> Uncertainty:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(topics, 3.0))
    sums = rng.normal(size=topics) * shares
    found = TopicSums(sums=(sums - shares * sums.sum())[None], shares=shares)
    return Uncertainty(rows=1e-12, rows_freedom=50, independent=1e-12, topics=found, **fields)


@pytest.mark.parametrize("topics", [9, 40, 300])
@pytest.mark.parametrize(("seeds", "freedom"), [(0.0, inf), (0.5, 2.3), (0.5, inf), (3.0, 1.0)])
def test_the_p_of_topics_and_seeds_is_the_level_of_the_interval_that_reaches_zero(
    topics: int, seeds: float, freedom: float
) -> None:
    found = of_topics(topics)
    found = replace(found, seeds=seeds * found.variance_of_rows, seeds_freedom=freedom)
    for difference in (0.3, 2.2, -1.7):
        distance = difference * np.sqrt(found.variance_of_rows + found.seeds)
        p = found.p(distance)
        low, high = found.interval(distance, 1 - p)
        if seeds or topics > 12:
            assert (low if difference > 0 else high) == pytest.approx(0, abs=1e-5 * abs(distance))
        else:  # p has steps: zero is where the interval of a slightly smaller level ends
            low, high = found.interval(distance, 1 - 0.999 * p)
            assert low <= 0 <= high
    assert (found.p(distance) < 0.05) == (
        not found.interval(distance)[0] <= 0 <= found.interval(distance)[1]
    )


def test_topics_count_where_they_are_known_and_students_t_where_rows_have_a_variance_alone() -> (
    None
):
    by_topics = of_topics(100)
    wide = replace(by_topics, rows=4 * by_topics.variance_of_rows)
    assert (wide.reach(), wide.p(0.1)) == (by_topics.reach(), by_topics.p(0.1))
    assert replace(wide, topics=None).half_width() == pytest.approx(
        t.ppf(0.975, 50) * np.sqrt(wide.rows)
    )
    assert by_topics.design_effect == pytest.approx(by_topics.variance_of_rows / 1e-12)
    assert solved([by_topics])[0].reversed.reach() == by_topics.reach()[::-1]


def test_a_skewed_interval_reaches_farther_on_one_side_and_p_goes_with_it() -> None:
    found = of_topics(200, seeds=0.001, seeds_freedom=4.0)
    skewed = replace(found, skew=(1.5, 1.0))
    below, above = found.reach()
    assert skewed.reach() == pytest.approx((1.5 * below, above))
    assert skewed.p(1.5 * below) == pytest.approx(0.05)
    assert skewed.p(-above) == pytest.approx(0.05)
    assert skewed.reversed.reach() == pytest.approx((above, 1.5 * below))
    assert p_of_zero([skewed, skewed], [1.5 * below, -above]) == pytest.approx([0.05, 0.05])


def test_models_that_err_alike_are_not_skewed() -> None:
    assert correlations_skew(0.75, 0.7501, (0.01, 0.01, 1e-7)) == pytest.approx(
        (1.0, 1.0), abs=1e-3
    )
    assert correlations_skew(0.5, 0.5, (0.01, 0.01, 0.0)) == (1.0, 1.0)
    assert correlations_skew(1.0, 0.5, (0.0, 0.01, 0.01)) == (1.0, 1.0)
    assert correlations_skew(nan, 0.5, (nan, 0.01, nan)) == (1.0, 1.0)


def test_the_reversed_difference_has_the_other_ends_and_the_same_p() -> None:
    found = of_topics(30, seed=4, seeds=0.001, seeds_freedom=3.0)
    assert found.reversed.reach() == pytest.approx(found.reach()[::-1])
    assert found.reversed.p(-0.3) == pytest.approx(found.p(0.3))
    assert found.tail(-0.2) == pytest.approx(1 - found.reversed.tail(0.2))


def test_equivalence_is_the_larger_of_two_one_sided_tests() -> None:
    found = of_topics(200)
    margin = found.half_width(0.9)
    assert (
        found.equivalence(0.0, 1.01 * margin)
        < 0.05
        < found.equivalence(0.0, 0.9 * min(found.reach(0.9)))
    )
    assert found.equivalence(2 * margin, margin) > 0.5
    assert found.equivalence(0.1 * margin, margin) == pytest.approx(
        found.reversed.equivalence(-0.1 * margin, margin)
    )


def test_many_estimates_at_once_have_the_numbers_of_each() -> None:
    own = [
        replace(of_topics(80, seed), seeds=seed * 1e-4, seeds_freedom=2.0 + seed)
        for seed in range(4)
    ]
    shared = [
        replace(one, topics=TopicSums(sums=one.topics.sums, shares=np.full(80, 1 / 80)))
        for one in own
        if one.topics is not None
    ]
    distances = [0.1, -0.2, 0.3, 0.05]
    assert [one.reach() for one in solved(shared)] == [one.reach() for one in shared]
    assert p_of_zero(shared, distances) == [
        one.p(distance) for one, distance in zip(shared, distances, strict=True)
    ]
    assert isnan(p_of_zero([UNKNOWN], [0.1])[0])


def test_a_single_member_has_no_spread() -> None:
    sums = SharedSentences.of(
        np.arange(10, dtype=np.uint64), np.arange(10, 20, dtype=np.uint64)
    ).sums(np.ones((1, 10)))
    assert spread_of(np.array([0.5]), sums, is_recipe=False) == SeedSpread(
        members=1, scatter=0.0, noise=0.0, is_recipe=False
    )


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_where_every_item_is_right_or_wrong_the_interval_is_wilsons_with_students_deviate(
    rows: int, share: float
) -> None:
    deviate = t.ppf(0.975, max(rows - 1, 1))
    far = 1 / (1 + rows / deviate**2)  # Wilson's bound on the other side
    low, high = share_interval(
        share, Uncertainty(rows=0.0, rows_freedom=10.0, independent=0.0), rows
    )
    assert (low, high) == pytest.approx((0.0, far) if share == 0 else (1 - far, 1.0))


def test_estimates_without_topics_are_neither_solved_nor_flipped() -> None:
    alone = Uncertainty(rows=0.04, rows_freedom=12, independent=0.01)
    assert (solved([]), p_of_zero([], [])) == ([], [])
    assert solved([alone, alone]) == [alone, alone]
    assert p_of_zero([alone, of_topics(20)], [0.3, -0.1]) == [alone.p(0.3), of_topics(20).p(-0.1)]
    assert solved([alone, of_topics(20)])[0].reach() == alone.reach()


def test_a_difference_is_within_what_differences_of_such_scores_can_be() -> None:
    wide = Uncertainty(rows=4.0, rows_freedom=inf, independent=4.0)
    reach = scipy.stats.norm.ppf(0.975) * 2
    assert difference_interval(0.5, wide, "correlation") == (-2.0, 2.0)
    assert difference_interval(-0.5, wide, "share") == (-1.0, 1.0)
    assert difference_interval(0.5, wide, "plain") == pytest.approx((0.5 - reach, 0.5 + reach))


@pytest.mark.parametrize(
    ("first", "second", "shares"),
    [
        ("ab", "ab", True),
        ("ab", "xb", True),
        ("ab", "ba", False),  # of another member
        ("ab", "abc", False),
        ("a", "a", False),
        ("ab", "xy", False),
    ],
)
def test_models_share_runs_where_one_is_behind_the_same_member_of_both(
    first: str, second: str, shares: bool
) -> None:
    own, other = (
        [frozenset({one, "part"} if one == "b" else {one}) for one in names]
        for names in (first, second)
    )
    assert share_runs(own, other) == shares
