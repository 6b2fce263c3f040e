"""Detectable differences beside simulation."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isinf, isnan

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, norm, t, ttest_ind

from embedlab.analysis.dependence import Variances
from embedlab.analysis.evidence import Evidence, ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.power import Plan, detectable, smallest_difference, smallest_margin
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty, with_seeds

ROWS = Uncertainty(rows=0.0004, rows_freedom=200, independent=0.0001)


def spread(scores: NDArray[np.float64]) -> SeedSpread:
    return SeedSpread(
        members=len(scores), scatter=float(((scores - scores.mean()) ** 2).sum()), noise=0.0
    )


def with_spreads(rows: float, spreads: Sequence[SeedSpread]) -> Uncertainty:
    variances = Variances(
        value=np.array([rows]), independent=np.array([rows]), freedom=np.array([1e6])
    )
    return with_seeds(variances, spreads)


def known(sd: float) -> SeedSpread:
    """A spread as if of a million seeds."""
    return SeedSpread(members=10**6 + 1, scatter=10**6 * sd**2, noise=0.0)


THREE = [
    SeedSpread(members=3, scatter=0.002, noise=0.0),
    SeedSpread(members=3, scatter=0.001, noise=0.0),
]


def test_the_smallest_difference_is_found_in_four_of_five_samples() -> None:
    errors = 0.02 * np.random.default_rng(0).standard_t(200, 20_000)
    for found in (Plan(ROWS, []).present().value, smallest_difference(ROWS)):
        assert np.mean(found + errors > t.ppf(0.975, 200) * 0.02) == pytest.approx(0.8, abs=0.01)


def test_of_known_spreads_the_figure_is_found_in_four_of_five_studies() -> None:
    """Beside Welch's test of simulated seeds; no rows vary."""
    found = Plan(with_spreads(1e-12, [known(0.02)] * 2), [known(0.02)] * 2).with_seeds(5)
    rng = np.random.default_rng(3)
    first, second = rng.normal(found.value, 0.02, (20_000, 5)), rng.normal(0, 0.02, (20_000, 5))
    hits = ttest_ind(first, second, axis=1, equal_var=False).pvalue < 0.05
    assert np.mean(hits) == pytest.approx(0.8, abs=0.012)
    assert found.low == pytest.approx(found.value, rel=0.01)
    assert found.high == pytest.approx(found.value, rel=0.01)


def test_more_seeds_detect_less_down_to_what_the_pairs_allow() -> None:
    plan = Plan(ROWS, THREE)
    figures = [plan.with_seeds(count) for count in (2, 3, 5, 10, 100_000)]
    sizes = [one.value for one in figures]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(Plan(ROWS, []).present().value, rel=0.01)
    assert all(one.low < one.value < one.high for one in figures[:4])
    assert plan.present() == figures[1]


def test_the_seeds_needed_are_the_fewest_that_detect() -> None:
    plan = Plan(ROWS, THREE)
    needed = plan.seeds_needed(0.08)
    assert plan.with_seeds(int(needed)).value <= 0.08
    assert plan.with_seeds(int(needed) - 1).value > 0.08
    assert isinf(plan.seeds_needed(0.01))
    assert plan.seeds_needed(inf) == 2


def test_without_two_seeds_nothing_is_planned() -> None:
    one = SeedSpread(members=1, scatter=0.0, noise=0.0)
    fixed = SeedSpread(members=1, scatter=0.0, noise=0.0, is_recipe=False)
    for spreads in ([one, one], [one, fixed], [fixed, fixed]):
        plan = Plan(ROWS, spreads)
        assert isnan(plan.with_seeds(3).value)
        assert isnan(plan.seeds_needed(0.08))
        assert not isnan(plan.present().value)
        assert isnan(plan.present().low)
    several = SeedSpread(members=3, scatter=0.002, noise=0.0)
    pooled = Plan(ROWS, [one, several]).with_seeds(3)
    assert pooled.value > Plan(ROWS, [fixed, several]).with_seeds(3).value > 0


def test_the_pairs_noise_of_single_seeds_shrinks_with_more_of_them() -> None:
    """Of a scatter that rows explain in full, only the rows' noise of the mean is left."""
    explained = (
        Plan(ROWS, [SeedSpread(members=201, scatter=0.02, noise=0.02)]).with_seeds(10**6).value
    )
    rest = replace(ROWS, rows=0.0004 - 0.0001 / 201)
    assert explained == pytest.approx(Plan(rest, []).present().value, rel=1e-3)


def test_topics_are_weighed_on_the_side_of_zero() -> None:
    sums = 0.01 * np.random.default_rng(2).normal(size=(1, 40))
    sums[0, 0] += 0.05
    shares = np.array([0.3, *np.full(39, 0.7 / 39)])  # lopsided
    own = Uncertainty(
        rows=1.0,
        rows_freedom=5,
        independent=1.0,
        topics=TopicSums(sums=sums - sums.mean(), shares=shares),
    )
    below, above = own.reach()
    assert below != pytest.approx(above, rel=0.02)
    beyond = norm.ppf(0.8) * np.sqrt(own.variance_of_rows)
    assert Plan(own, []).present().value == pytest.approx(below + beyond, rel=1e-6)
    assert Plan(own.reversed, []).present().value == pytest.approx(above + beyond, rel=1e-6)


SEEDS = ("a@1", "a@2", "a@3", "b")
RECIPE = ModelColumns(name="a", members=SEEDS[:3], seeds=(1, 2, 3))
OTHER = ModelColumns(name="b", members=("b",))


def slice_of(key: str, pairs: int, seed: int) -> Evidence:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=pairs)
    predicted = {
        place: gold + rng.normal(scale=scale, size=pairs)
        for place, scale in enumerate((0.9, 1.0, 1.1, 2.0))
    }
    texts = np.stack([np.arange(pairs) // 2, 1_000 + np.arange(pairs)], axis=1).astype(
        np.uint64
    )  # each two share their first sentence
    return evidence_of("own", key, gold, predicted, 4, measure=MEASURES["pearson"], texts=texts)


def test_each_slice_has_its_detectable_difference() -> None:
    evidence = [slice_of("small", 60, 0), slice_of("large", 600, 1)]
    small, large = detectable(evidence, RECIPE, OTHER)
    assert [(one.task, one.key, one.title, one.metric) for one in (small, large)] == [
        ("own", "small", "small", "pearson"),
        ("own", "large", "large", "pearson"),
    ]
    assert [(one.items, one.sentences) for one in (small, large)] == [(60, 90), (600, 900)]
    assert large.smallest.value < small.smallest.value
    for found, one in zip((small, large), evidence, strict=True):
        assert found.difference == pytest.approx(one.points[3] - one.points[:3].mean())
        of_larger = found.uncertainty if found.difference < 0 else found.uncertainty.reversed
        assert found.smallest.value > of_larger.reach()[0]
        assert found.smallest.low <= found.smallest.value < found.smallest.high
        assert found.effective_pairs == pytest.approx(found.items / found.uncertainty.design_effect)
        assert (found.planned, found.seeds_needed) == (None, None)
    assert detectable([], RECIPE, OTHER) == []


def test_a_figure_that_hangs_on_one_topic_says_so() -> None:
    rng = np.random.default_rng(3)
    gold, noise = rng.normal(size=400), rng.normal(size=(2, 400))
    rows = np.arange(400)
    first, second = gold + noise[0], gold + noise[1]
    second[:60] = -3 * gold[:60]  # on rows of one sentence alone
    texts = np.stack([np.where(rows < 60, 0, rows), 1_000 + rows], axis=1).astype(np.uint64)
    models = (ModelColumns(name="a", members=("a",)), ModelColumns(name="b", members=("b",)))
    for predicted, hangs in (
        ({0: first, 1: second}, True),
        ({0: first, 1: gold + noise[1]}, False),
    ):
        (found,) = detectable(
            [
                evidence_of(
                    "own", "set", gold, predicted, 2, measure=MEASURES["pearson"], texts=texts
                )
            ],
            *models,
        )
        assert (found.topic is not None) == hangs
        if found.topic is not None:
            assert found.topic.rows == 60
            assert abs(found.topic.without) < abs(found.difference) / 4


def test_what_more_seeds_would_detect_is_planned_where_it_is_requested() -> None:
    evidence = [slice_of("large", 600, 1)]
    (planned,) = detectable(evidence, RECIPE, OTHER, seeds=50)
    assert planned.planned is not None
    assert planned.planned.value < planned.smallest.value
    assert planned.seeds_needed is None
    (wanted,) = detectable(evidence, RECIPE, OTHER, detect=1.5 * planned.planned.value)
    assert wanted.planned is None
    assert wanted.seeds_needed is not None
    assert 2 <= wanted.seeds_needed <= 50
    (less,) = detectable(evidence, RECIPE, OTHER, detect=1e-6)
    assert less.seeds_needed is not None
    assert isinf(less.seeds_needed)


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
    found = Plan(replace(ROWS, rows_freedom=inf), spreads).present()
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
    own = Uncertainty(rows=0.0004, rows_freedom=inf, independent=0.0004)
    margin = smallest_margin(own)
    errors = 0.02 * np.random.default_rng(0).standard_normal(20_000)
    shown = np.mean(np.abs(errors) + norm.ppf(0.95) * 0.02 < margin)
    assert shown == pytest.approx(0.8, abs=0.01)
