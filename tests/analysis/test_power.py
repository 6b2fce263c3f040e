"""Detectable differences beside simulation."""

from math import inf, isinf, isnan

import numpy as np
import pytest
from scipy.stats import t

from embedlab.analysis.dependence import Variances
from embedlab.analysis.evidence import Evidence, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.power import detectable, planned_difference, seeds_needed, smallest_difference, with_members
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty, with_seeds

ROWS = Uncertainty(rows=0.0004, rows_freedom=200, independent=0.0001)


def test_the_smallest_difference_is_found_in_four_of_five_samples() -> None:
    found = smallest_difference(ROWS)
    rng = np.random.default_rng(0)
    estimates = found + 0.02 * rng.standard_t(200, 20_000)
    assert np.mean(estimates > t.ppf(0.975, 200) * 0.02) == pytest.approx(0.8, abs=0.01)


def test_a_simulated_study_with_that_many_seeds_has_the_power_that_was_planned() -> None:
    """Scores of seeds with sd 2 points, planned for 6 seeds of each recipe."""
    spreads = [SeedSpread(members=5, scatter=4 * 0.02**2, noise=0.0)] * 2
    start = Uncertainty(rows=1e-6, rows_freedom=1e6, independent=1e-6, seeds=1.0, seeds_freedom=1.0)
    wanted = smallest_difference(with_members(start, spreads, 6))
    rng, found = np.random.default_rng(1), 0
    for _ in range(3000):
        first, second = rng.normal(wanted, 0.02, 6), rng.normal(0, 0.02, 6)
        own = [SeedSpread(members=6, scatter=float(((one - one.mean()) ** 2).sum()), noise=0.0) for one in (first, second)]
        rows = Variances(value=np.array([1e-6]), independent=np.array([1e-6]), freedom=np.array([1e6]))
        found += with_seeds(rows, 0, own).p(float(first.mean() - second.mean())) < 0.05
    assert found / 3000 == pytest.approx(0.8, abs=0.04)


def test_more_seeds_detect_less_down_to_what_the_pairs_allow() -> None:
    spreads = [SeedSpread(members=3, scatter=0.002, noise=0.0), SeedSpread(members=3, scatter=0.001, noise=0.0)]
    sizes = [smallest_difference(with_members(ROWS, spreads, count)) for count in (2, 3, 5, 10, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(smallest_difference(ROWS), rel=0.01)


def test_the_seeds_needed_are_the_fewest_that_detect() -> None:
    spreads = [SeedSpread(members=3, scatter=0.002, noise=0.0), SeedSpread(members=3, scatter=0.001, noise=0.0)]
    needed = seeds_needed(ROWS, spreads, 0.08)
    assert smallest_difference(with_members(ROWS, spreads, int(needed))) <= 0.08
    assert smallest_difference(with_members(ROWS, spreads, int(needed) - 1)) > 0.08
    assert isinf(seeds_needed(ROWS, spreads, 0.01))
    assert seeds_needed(ROWS, spreads, inf) == 2


def test_without_two_seeds_the_seeds_needed_are_unknown() -> None:
    one = [SeedSpread(members=1, scatter=0.0, noise=0.0)] * 2
    fixed = [SeedSpread(members=1, scatter=0.0, noise=0.0, is_recipe=False)] * 2
    assert isnan(seeds_needed(ROWS, one, 0.08))
    assert isnan(seeds_needed(ROWS, fixed, 0.08))
    assert with_members(ROWS, fixed, 5) == ROWS


def test_without_two_seeds_what_more_seeds_detect_is_unknown() -> None:
    one = SeedSpread(members=1, scatter=0.0, noise=0.0)
    fixed = SeedSpread(members=1, scatter=0.0, noise=0.0, is_recipe=False)
    several = SeedSpread(members=3, scatter=0.002, noise=0.0)
    assert isnan(planned_difference(ROWS, [one, one], 3))
    assert isnan(planned_difference(ROWS, [one, fixed], 3))
    assert planned_difference(ROWS, [one, several], 3) == smallest_difference(with_members(ROWS, [one, several], 3))
    assert planned_difference(ROWS, [fixed, fixed], 3) == smallest_difference(ROWS)  # no recipe, no seeds


def test_the_pairs_noise_of_single_seeds_shrinks_with_more_of_them() -> None:
    spreads = [SeedSpread(members=2, scatter=0.0002, noise=0.0002)]
    assert with_members(ROWS, spreads, 20).rows == pytest.approx(0.0004 - 0.0001 + 0.00001)


SEEDS = ("a@1", "a@2", "a@3", "b")
RECIPE = ModelColumns(name="a", members=SEEDS[:3], seeds=(1, 2, 3))
OTHER = ModelColumns(name="b", members=("b",))


def slice_of(key: str, pairs: int, seed: int) -> Evidence:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=pairs)
    predicted = {place: gold + rng.normal(scale=scale, size=pairs) for place, scale in enumerate((0.9, 1.0, 1.1, 2.0))}
    texts = np.stack([np.arange(pairs) // 2, 1_000 + np.arange(pairs)], axis=1).astype(np.uint64)  # each two share their first sentence
    return evidence_of("own", key, gold, predicted, 4, measure=MEASURES["pearson"], texts=texts)


def test_each_slice_has_its_detectable_difference() -> None:
    evidence = [slice_of("small", 60, 0), slice_of("large", 600, 1)]
    small, large = detectable(evidence, RECIPE, OTHER)
    assert [(one.task, one.key, one.title, one.metric) for one in (small, large)] == [
        ("own", "small", "small", "pearson"),
        ("own", "large", "large", "pearson"),
    ]
    assert [(one.pairs, one.sentences) for one in (small, large)] == [(60, 90), (600, 900)]
    assert large.smallest < small.smallest
    for found, one in zip((small, large), evidence, strict=True):
        assert found.difference == pytest.approx(one.points[3] - one.points[:3].mean())
        assert found.smallest == pytest.approx(smallest_difference(found.uncertainty))
        assert found.effective_pairs == pytest.approx(found.pairs / found.uncertainty.design_effect)
        assert (found.planned, found.seeds_needed) == (None, None)
    assert detectable([], RECIPE, OTHER) == []


def test_what_more_seeds_would_detect_is_planned_where_it_is_requested() -> None:
    evidence = [slice_of("large", 600, 1)]
    (planned,) = detectable(evidence, RECIPE, OTHER, seeds=50)
    assert planned.planned is not None
    assert planned.planned < planned.smallest
    assert planned.seeds_needed is None
    (wanted,) = detectable(evidence, RECIPE, OTHER, detect=1.5 * planned.planned)
    assert wanted.planned is None
    assert wanted.seeds_needed is not None
    assert 2 <= wanted.seeds_needed <= 50
    (less,) = detectable(evidence, RECIPE, OTHER, detect=1e-6)
    assert less.seeds_needed is not None
    assert isinf(less.seeds_needed)
