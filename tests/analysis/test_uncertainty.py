"""Half-widths and p-values beside scipy's, and what seeds add."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from scipy.stats import norm, t

from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.measures import Scale
from embedlab.analysis.uncertainty import (
    UNKNOWN,
    Uncertainty,
    correlations_skew,
    difference_interval,
    score_interval,
    share_runs,
    with_intervals,
)
from tests.analysis.made import drawn_topics, nearly_normal


def test_without_seeds_interval_and_p_of_many_alike_topics_are_normal() -> None:
    found = nearly_normal(0.04)
    assert found.half_width() == pytest.approx(norm.ppf(0.975) * 0.2, rel=1e-3)
    reach = norm.ppf(0.95) * 0.2
    assert found.interval(1.0, 0.9) == pytest.approx((1 - reach, 1 + reach), rel=1e-3)
    assert found.p(-0.5) == pytest.approx(2 * norm.sf(2.5), rel=1e-3)
    assert replace(found, independent=0.01).design_effect == pytest.approx(4)


def test_where_seeds_alone_vary_interval_and_p_are_students() -> None:
    """A quantile far out in the tail came back as 0 from scipy, and some p with it as 1e-235."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        few = rng.uniform(1, 9)
        found = nearly_normal(1e-12, seeds=0.01, seeds_freedom=few)
        distance = 0.1 * 10 ** rng.uniform(-2, 1.5)
        assert found.p(distance) == pytest.approx(2 * t.sf(distance / 0.1, few), rel=0.01)
        assert found.half_width() == pytest.approx(t.ppf(0.975, few) * 0.1, rel=1e-3)


def test_p_has_no_lower_bound_and_no_value_where_nothing_is_known() -> None:
    assert 0 < nearly_normal(1e-4).p(0.2) < 1e-40
    assert nearly_normal(0.0).p(0.0) == 1
    assert isnan(UNKNOWN.p(0.1))
    assert isnan(UNKNOWN.half_width())
    assert nearly_normal(1.0).tail(-0.7) == pytest.approx(norm.cdf(0.7), rel=1e-3)


def of_topics(topics: int, **fields: float) -> Uncertainty:
    return Uncertainty(topics=drawn_topics(topics), independent=1e-12, **fields)  # type: ignore[arg-type]


def test_the_reversed_difference_has_the_other_ends_and_the_same_p() -> None:
    found = of_topics(30, seeds=0.001, seeds_freedom=3.0)
    assert found.reversed.reach() == pytest.approx(found.reach()[::-1])
    assert with_intervals([found])[0].reversed.reach() == found.reach()[::-1]
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


@pytest.mark.parametrize("scale", ["share", "bounded"])
@pytest.mark.parametrize(("rows", "share"), [(1, 0.0), (2, 1.0), (50, 1.0)])
def test_where_every_item_is_right_or_wrong_the_interval_is_wilsons_with_students_deviate(
    rows: int, share: float, scale: Scale
) -> None:
    deviate = t.ppf(0.975, max(rows - 1, 1))
    far = 1 / (1 + rows / deviate**2)  # Wilson's bound on the other side
    alike = nearly_normal(0.0)
    expected = (0.0, far) if share == 0 else (1 - far, 1.0)
    assert score_interval(share, alike, scale, rows) == pytest.approx(expected)


def test_a_difference_is_within_what_differences_of_such_scores_can_be() -> None:
    wide = nearly_normal(4.0)
    reach = norm.ppf(0.975) * 2
    assert difference_interval(0.5, wide, "correlation") == (-2.0, 2.0)
    assert difference_interval(-0.5, wide, "share") == (-1.0, 1.0)
    assert difference_interval(0.5, wide, "plain") == pytest.approx(
        (0.5 - reach, 0.5 + reach), rel=1e-3
    )
    assert difference_interval(-0.5, wide, "bounded") == (-1.0, 1.0)
    assert score_interval(1.0, wide, "correlation", 9) == (1.0, 1.0)
    assert score_interval(0.5, wide, "bounded", 9) == (0.0, 1.0)
    assert score_interval(0.5, wide, "plain", 9) == pytest.approx(
        (0.5 - reach, 0.5 + reach), rel=1e-3
    )


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
        ModelColumns(
            name=names,
            members=tuple(names),
            runs=tuple(frozenset({one, "part"} if one == "b" else {one}) for one in names),
        )
        for names in (first, second)
    )
    assert share_runs(own, other) == shares


def test_models_that_err_alike_or_of_unknown_variance_are_not_skewed() -> None:
    for first, variances in ((0.5, (0.01, 0.01, 0.0)), (1.0, (0.0, 0.01, 0.01)), (nan, (nan,) * 3)):
        assert correlations_skew(first, 0.5, *variances) == (1.0, 1.0)
    nearly_alike = correlations_skew(0.75, 0.7501, 0.01, 0.01, 1e-7)
    assert nearly_alike == pytest.approx((1.0, 1.0), abs=1e-3)
