"""Random effects and their prediction interval, beside Student's t, draws, and loops over sets of
datasets.
"""

from dataclasses import replace
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from embedlab.analysis import another_dataset
from embedlab.analysis.another_dataset import apart, elsewhere, predicted
from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence, evidence_of
from embedlab.analysis.measures import MEASURES

DIFFERENCES = np.array([1.0, 4.0, -3.0, 2.0, 6.0])


def test_without_variance_inside_datasets_the_intervals_are_students() -> None:
    mean, own, new = predicted(DIFFERENCES, np.full(5, 1e-12))
    reach = stats.t.ppf(0.975, 4) * DIFFERENCES.std(ddof=1)
    assert mean == pytest.approx(2.0)
    assert own == pytest.approx((2 - reach * sqrt(1 / 5), 2 + reach * sqrt(1 / 5)), abs=0.02)
    assert new == pytest.approx((2 - reach * sqrt(6 / 5), 2 + reach * sqrt(6 / 5)), abs=0.05)


def test_the_intervals_are_those_of_draws() -> None:
    """Each draw takes a χ² of its own, finds the variance between datasets with Brent's method, and
    then a mean and a new dataset.
    """
    variances, rng = np.array([0.5, 1.0, 4.0, 2.0, 0.3]), np.random.default_rng(0)

    def excess(between: float, wanted: float) -> float:
        weights = 1 / (variances + between)
        mean = (weights * DIFFERENCES).sum() / weights.sum()
        return float((weights * (DIFFERENCES - mean) ** 2).sum() - wanted)

    drawn = []
    for wanted in rng.chisquare(4, 1_500):
        between = brentq(excess, 0, 1e6, args=(wanted,)) if excess(0, wanted) > 0 else 0.0
        weights = 1 / (variances + between)
        centre = (weights * DIFFERENCES).sum() / weights.sum() + rng.normal() / sqrt(weights.sum())
        drawn.append((centre, centre + sqrt(between) * rng.normal()))
    _, own, new = predicted(DIFFERENCES, variances)
    centres, others = np.array(drawn).T
    assert np.mean((centres > own[0]) & (centres < own[1])) == pytest.approx(0.95, abs=0.018)
    assert np.mean((others > new[0]) & (others < new[1])) == pytest.approx(0.95, abs=0.018)
    assert np.mean(others < new[0]) == pytest.approx(0.025, abs=0.013)


def test_what_seeds_vary_is_added() -> None:
    alone, with_seeds = (predicted(DIFFERENCES, np.full(5, 0.2), noise)[1:] for noise in (0.0, 9.0))
    fewer = predicted(DIFFERENCES, np.full(5, 0.2), 9.0, 3.0)[1:]
    for first, second in ((alone, with_seeds), (with_seeds, fewer)):
        for narrow, wide in zip(first, second, strict=True):
            assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_as_many_datasets_as_possible_that_hardly_share_pairs_are_counted() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        texts = [
            rng.integers(0, 12, (int(rng.integers(1, 6)), 2)).astype(np.uint64) for _ in range(6)
        ]
        pairs = [{frozenset(row) for row in own.tolist()} for own in texts]
        found, shared = apart(texts)
        assert shared == 0
        assert not any(pairs[first] & pairs[second] for first, second in combinations(found, 2))
        fitting = [
            one
            for count in range(1, 7)
            for one in combinations(range(6), count)
            if not any(pairs[first] & pairs[second] for first, second in combinations(one, 2))
        ]
        assert (len(found), sum(len(pairs[place]) for place in found)) == max(
            (len(one), sum(len(pairs[p]) for p in one)) for one in fitting
        )
    assert apart([np.array([[1, 2]], np.uint64), np.array([[2, 1]], np.uint64)]) == ([0], 0)


def test_two_of_a_hundred_pairs_may_be_shared() -> None:
    whole = np.arange(400, dtype=np.uint64).reshape(200, 2)
    assert apart([whole[:100], whole[98:]]) == ([0, 1], 2)
    assert apart([whole[:100], whole[97:]]) == ([1], 0)


A = ModelColumns(name="a", members=("a@1", "a@2", "a@3"), seeds=(1, 2, 3))
B = ModelColumns(name="b", members=("b",))


def datasets(
    count: int, *, members: int = 4, repeated: int = 0, lacking: tuple[int, int] = (-1, -1)
) -> list[Evidence]:
    """Datasets whose sentences are their own, but for REPEATED pairs of the first that the last has
    too; LACKING is a dataset and the member that has no score on it.
    """
    found = []
    for number in range(count):
        rng = np.random.default_rng(number)
        gold = rng.normal(size=80)
        predicted_of = {
            place: gold + rng.normal(scale=0.8 + 0.2 * place + 0.1 * number, size=80)
            for place in range(members)
            if (number, place) != lacking
        }
        texts = (1_000 * number + np.arange(160)).reshape(80, 2).astype(np.uint64)
        if repeated and number == count - 1:
            texts[:repeated] = np.arange(2 * repeated).reshape(repeated, 2)
        found.append(
            evidence_of(
                "sts",
                f"set {number}",
                gold,
                predicted_of,
                members,
                measure=MEASURES["spearman"],
                texts=texts,
            )
        )
    return found


def test_five_datasets_say_something_of_another_one() -> None:
    evidence = datasets(6, repeated=3)
    slices = compare_evidence(evidence, [A, B])
    (found,) = elsewhere(evidence, slices, [A, B])
    assert (len(found.datasets), found.shared_pairs) == (5, 0)
    assert not {"set 0", "set 5"} <= {*found.datasets}
    counted = [one for one in slices if one.key in found.datasets]
    deltas, rows = (
        np.array([value(one.differences["b"]) for one in counted])
        for value in (lambda d: d.delta, lambda d: d.uncertainty.variance_of_rows)
    )
    points = np.mean([one.points for one in evidence if one.key in found.datasets], axis=0)
    expected = predicted(deltas, rows, float(points[:3].var(ddof=1) / 3), 2.0)
    assert (found.mean, (found.low, found.high), (found.new_low, found.new_high)) == (
        pytest.approx(expected[0]),
        pytest.approx(expected[1]),
        pytest.approx(expected[2]),
    )
    assert elsewhere(evidence[:4], slices[:4], [A, B]) == ()
    fewer = datasets(5, repeated=2)
    assert elsewhere(fewer, compare_evidence(fewer, [A, B]), [A, B]) == ()


def test_another_dataset_is_no_surer_than_the_average_over_those_at_hand() -> None:
    evidence = datasets(5)
    evidence.append(average_evidence("all", evidence))
    *slices, average = compare_evidence(evidence, [A, B])
    own = average.differences["b"]
    wide = replace(own, low=own.delta - 50, high=own.delta + 60)
    average = replace(average, differences={"b": wide})
    (found,) = elsewhere(evidence, [*slices, average], [A, B])
    assert (found.low, found.high) == pytest.approx((found.mean - 50, found.mean + 60))
    assert (found.new_low, found.new_high) == (found.low, found.high)


def test_two_models_that_share_runs_vary_by_their_differences_seed_by_seed() -> None:
    runs = tuple(frozenset({f"run@{seed}"}) for seed in (1, 2, 3))
    both = [
        ModelColumns(
            name=name,
            members=tuple(f"{name}@{seed}" for seed in (1, 2, 3)),
            seeds=(1, 2, 3),
            runs=runs,
        )
        for name in ("a", "c")
    ]
    evidence = datasets(5, members=6)
    points = np.mean([one.points for one in evidence], axis=0)
    apart = points[3:] - points[:3]
    for models, noise, freedom in (
        (both, apart.var(ddof=1) / 3, 2.0),
        ([replace(one, runs=()) for one in both], *welch(points[:3], points[3:])),
    ):
        slices = compare_evidence(evidence, models)
        (found,) = elsewhere(evidence, slices, models)
        deltas, rows = (
            [value(one.differences["c"]) for one in slices]
            for value in (lambda d: d.delta, lambda d: d.uncertainty.variance_of_rows)
        )
        expected = predicted(np.array(deltas), np.array(rows), float(noise), freedom)
        assert (found.low, found.high) == pytest.approx(expected[1])
        assert (found.new_low, found.new_high) == pytest.approx(expected[2])


def welch(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    return float(first.var(ddof=1) / 3 + second.var(ddof=1) / 3), float(
        stats.ttest_ind(first, second, equal_var=False).df
    )


@pytest.mark.parametrize(("noise", "freedom"), [(0.3, np.inf), (0.3, 3.0), (40.0, 3.0)])
def test_where_datasets_agree_the_seeds_alone_make_the_interval(
    noise: float, freedom: float
) -> None:
    mean, own, _ = predicted(np.full(6, 1.5), np.full(6, 1e-12), noise, freedom)
    reach = stats.t.ppf(0.975, freedom) * sqrt(noise)
    assert mean == pytest.approx(1.5)
    assert own == pytest.approx((1.5 - reach, 1.5 + reach), rel=1e-4)


def test_a_model_without_a_score_on_one_of_the_datasets_says_nothing_of_another() -> None:
    evidence = datasets(5, members=3, lacking=(2, 1))
    models = [ModelColumns(name=name, members=(name,)) for name in "abc"]
    assert [
        one.model for one in elsewhere(evidence, compare_evidence(evidence, models), models)
    ] == ["c"]


@pytest.mark.parametrize("seed", range(6))
def test_of_very_many_datasets_those_that_share_with_few_come_first(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a loop over them in that order: each is taken that clashes with none before it."""
    monkeypatch.setattr(another_dataset, "_MOST_TRIED", 3)
    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, 9, (int(rng.integers(1, 6)), 2)).astype(np.uint64) for _ in range(8)]
    pairs = [{frozenset(row) for row in own.tolist()} for own in texts]
    clashes = [
        {other for other in range(8) if other != one and pairs[one] & pairs[other]}
        for one in range(8)
    ]
    taken: list[int] = []
    for place in sorted(range(8), key=lambda place: (len(clashes[place]), -len(pairs[place]))):
        if not clashes[place] & {*taken}:
            taken.append(place)
    assert apart(texts) == (sorted(taken), 0)
    assert len(taken) < 8
