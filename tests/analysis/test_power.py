"""Detectable differences beside simulation."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isinf, isnan

import numpy as np
import pytest
from scipy.stats import chi2, norm, ttest_ind

from embedlab.analysis.evidence import Evidence, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.power import Plan, detectable, smallest_margin
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty, seed_noise
from tests.analysis.made import nearly_normal, recipe, scored, single, texts_of

ROWS = nearly_normal(0.0004)


def with_spreads(rows: float, spreads: Sequence[SeedSpread]) -> Uncertainty:
    noise, freedom = seed_noise(spreads)
    return nearly_normal(rows, seeds=noise, seeds_freedom=freedom)


def known(sd: float) -> SeedSpread:
    """A spread as if of a million seeds."""
    return SeedSpread(members=10**6 + 1, scatter=10**6 * sd**2, noise=0.0)


THREE = [
    SeedSpread(members=3, scatter=0.002, noise=0.0),
    SeedSpread(members=3, scatter=0.001, noise=0.0),
]


def test_of_known_spreads_the_figure_is_found_in_four_of_five_studies() -> None:
    """Beside Welch's test of simulated seeds; no rows vary."""
    found = Plan(with_spreads(1e-12, [known(0.02)] * 2), [known(0.02)] * 2).with_seeds(5)
    rng = np.random.default_rng(3)
    first, second = rng.normal(found.value, 0.02, (20_000, 5)), rng.normal(0, 0.02, (20_000, 5))
    hits = ttest_ind(first, second, axis=1, equal_var=False).pvalue < 0.05
    assert np.mean(hits) == pytest.approx(0.8, abs=0.012)
    assert found.low == pytest.approx(found.value, rel=0.01)
    assert found.high == pytest.approx(found.value, rel=0.01)


def test_more_seeds_detect_less_down_to_what_the_pairs_allow_and_the_fewest_that_do_are_needed() -> (
    None
):
    plan = Plan(ROWS, THREE)
    figures = [plan.with_seeds(count) for count in (2, 3, 10, 100_000)]
    sizes = [one.value for one in figures]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(Plan(ROWS, []).present().value, rel=0.01)
    assert all(one.low < one.value < one.high for one in figures[:3])
    assert plan.present() == figures[1]
    needed = int(plan.seeds_needed(0.08))
    assert plan.with_seeds(needed).value <= 0.08 < plan.with_seeds(needed - 1).value
    assert isinf(plan.seeds_needed(0.01))
    assert plan.seeds_needed(inf) == 2


def test_without_two_seeds_nothing_is_planned() -> None:
    one = SeedSpread(members=1, scatter=0.0, noise=0.0)
    for spreads in ([one, one], [one]):
        plan = Plan(ROWS, spreads)
        assert isnan(plan.with_seeds(3).value + plan.seeds_needed(0.08) + plan.present().low)
        assert not isnan(plan.present().value)
    pooled, alone = (Plan(ROWS, [*other, THREE[0]]).with_seeds(3).value for other in ([one], []))
    assert pooled > alone > 0


def test_topics_are_weighed_on_the_side_of_zero() -> None:
    sums = 0.01 * np.random.default_rng(2).normal(size=(1, 40))
    sums[0, 0] += 0.05
    shares = np.array([0.3, *np.full(39, 0.7 / 39)])  # lopsided
    own = replace(ROWS, topics=TopicSums(sums=sums - sums.mean(), shares=shares))
    below, above = own.reach()
    assert below != pytest.approx(above, rel=0.02)
    beyond = norm.ppf(0.8) * np.sqrt(own.variance_of_rows)
    assert Plan(own, []).present().value == pytest.approx(below + beyond, rel=1e-6)
    assert Plan(own.reversed, []).present().value == pytest.approx(above + beyond, rel=1e-6)


RECIPE, OTHER = recipe("a", 3), single("b")[0]


def slice_of(key: str, pairs: int) -> Evidence:
    """Pairs of which each two share their first sentence."""
    texts = texts_of(np.arange(pairs) // 2)
    return scored(pairs, [0.9, 1.0, 1.1, 2.0], measure="pearson", key=key, texts=texts)


def test_what_more_seeds_would_detect_is_planned_where_it_is_requested() -> None:
    evidence = [slice_of("small", 60), slice_of("large", 600)]
    small, large = detectable(evidence, RECIPE, OTHER)
    for found, of_slice in ((small, evidence[0]), (large, evidence[1])):
        points = of_slice.points
        assert found.difference == pytest.approx(points[3] - points[:3].mean())
        of_larger = found.uncertainty if found.difference < 0 else found.uncertainty.reversed
        assert found.smallest.value > of_larger.reach()[0]
        assert (found.planned, found.seeds_needed) == (None, None)
    assert (large.items, large.sentences) == (600, 900)
    assert large.smallest.value < small.smallest.value
    (planned,) = detectable(evidence[1:], RECIPE, OTHER, seeds=50)
    assert planned.planned.value < planned.smallest.value
    (wanted,), (less,) = (
        detectable(evidence[1:], RECIPE, OTHER, detect=detect)
        for detect in (1.5 * planned.planned.value, 1e-6)
    )
    assert 2 <= wanted.seeds_needed <= 50
    assert less.seeds_needed == inf


@pytest.mark.parametrize("members", [(1, 4001), (4001, 4001), (4001,)])
def test_what_rows_explain_of_well_known_spreads_is_not_counted_twice(
    members: tuple[int, ...],
) -> None:
    """Everything is normal then: the two quantiles of a test of 5% with 80% power, times the error
    of the difference.
    """
    spreads = [
        SeedSpread(members=count, scatter=(count - 1) * 0.0009, noise=(count - 1) * 0.0004)
        for count in members
    ]
    found = Plan(ROWS, spreads).present()
    error = np.sqrt(0.0004 + sum((0.0009 - 0.0004) / count for count in members))
    assert found.value == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * error, rel=0.01)


@pytest.mark.parametrize(
    ("sds", "counts", "freedom"),
    [
        ((0.02, 0.02), (1, 4), 3),  # one borrows the other's spread: all that is known
        ((0.02, 0.02), (2, 2), 2),
        (
            (0.02, 0.02),
            (4, 4),
            6,
        ),  # Welch (1947), unbiased: 2² / (2 / 5) − 2 = 8, at most all that is known
        ((0.05, 0.0005), (4, 6), 3),  # one alone varies: 5 − 2
        ((0.02,), (5,), 4),
    ],
)
def test_the_ends_are_what_would_be_detected_at_the_ends_of_the_spreads_interval(
    sds: tuple[float, ...], counts: tuple[int, ...], freedom: int
) -> None:
    pilot = [
        SeedSpread(members=count, scatter=(count - 1) * sd**2, noise=0.0)
        for sd, count in zip(sds, counts, strict=True)
    ]
    planned = Plan(with_spreads(1e-4, pilot), pilot).with_seeds(5)
    for end, place in ((planned.low, 0.975), (planned.high, 0.025)):
        factor = np.sqrt(freedom / chi2.ppf(place, freedom))
        right = [known(float(factor * sd)) for sd in sds]
        assert end == pytest.approx(
            Plan(with_spreads(1e-4, right), right).with_seeds(5).value, rel=0.02
        )


def test_a_margin_is_shown_by_two_one_sided_tests_of_equal_scores_in_four_of_five_studies() -> None:
    margin = smallest_margin(ROWS)
    errors = 0.02 * np.random.default_rng(0).standard_normal(20_000)
    shown = np.mean(np.abs(errors) + norm.ppf(0.95) * 0.02 < margin)
    assert shown == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("hangs", [True, False])
def test_a_figure_that_hangs_on_one_topic_says_so(hangs: bool) -> None:
    rng, rows = np.random.default_rng(3), np.arange(400)
    gold = rng.normal(size=400)
    first, second = gold + rng.normal(size=(2, 400))
    if hangs:
        second[:60] = -3 * gold[:60]  # on rows of one sentence alone
    texts = texts_of(np.where(rows < 60, 0, rows))
    predicted, measure = {0: first, 1: second}, MEASURES["pearson"]
    evidence = evidence_of("own", "set", gold, predicted, 2, measure=measure, texts=texts)
    (found,) = detectable([evidence], *single("ab"))
    assert (found.topic is not None) == hangs
    assert found.topic is None or found.topic.rows == 60
