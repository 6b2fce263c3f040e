"""Random effects and their prediction interval, beside Student's t, draws, and loops over sets of
datasets.
"""

from dataclasses import replace
from itertools import combinations, permutations
from math import sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from embedlab.analysis import another_dataset
from embedlab.analysis.another_dataset import (
    independent_datasets,
    predict_difference,
    predict_new_dataset,
)
from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence
from tests.analysis.made import RUNS, recipe, scored, single

DIFFERENCES = np.array([1.0, 4.0, -3.0, 2.0, 6.0])


def test_without_variance_inside_datasets_the_intervals_are_students() -> None:
    mean, own, new = predict_difference(DIFFERENCES, np.full(5, 1e-12))
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
    _, own, new = predict_difference(DIFFERENCES, variances)
    centres, others = np.array(drawn).T
    assert np.mean((centres > own[0]) & (centres < own[1])) == pytest.approx(0.95, abs=0.018)
    assert np.mean((others > new[0]) & (others < new[1])) == pytest.approx(0.95, abs=0.018)
    assert np.mean(others < new[0]) == pytest.approx(0.025, abs=0.013)


@pytest.mark.parametrize("most_tried", [another_dataset._MOST_TRIED, 3])
def test_as_many_datasets_as_possible_that_hardly_share_pairs_are_counted(
    most_tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very many, those that share with few come first, and no other could be added."""
    monkeypatch.setattr(another_dataset, "_MOST_TRIED", most_tried)
    rng = np.random.default_rng(2)
    for _ in range(10):
        texts = [rng.integers(0, 9, (rng.integers(1, 6), 2)).astype(np.uint64) for _ in range(6)]
        pairs = [{frozenset(row) for row in own.tolist()} for own in texts]
        clashing = {(a, b) for a, b in permutations(range(6), 2) if pairs[a] & pairs[b]}
        found, shared = independent_datasets(texts)
        assert shared == 0
        sets = [some for count in range(7) for some in combinations(range(6), count)]
        fitting = [some for some in sets if clashing.isdisjoint(permutations(some, 2))]
        sizes = {some: (len(some), sum(len(pairs[place]) for place in some)) for some in fitting}
        if most_tried > 3:
            assert sizes[tuple(found)] == max(sizes.values())
        else:
            assert not any({*some} > {*found} for some in fitting)
            shares = [sum(place == one for one, _ in clashing) for place in range(6)]
            assert min(shares) == min(shares[place] for place in found)
    assert independent_datasets([np.array([[1, 2]], np.uint64), np.array([[2, 1]], np.uint64)]) == (
        [0],
        0,
    )


A, C, (B,) = recipe("a", 3), recipe("c", 3), single("b")


def datasets(
    count: int, *, members: int = 4, repeated: int = 0, lacking: tuple[int, int] = (-1, -1)
) -> list[Evidence]:
    """Datasets whose sentences are their own, but for REPEATED pairs of the first that the last has
    too; LACKING is a dataset and the member that has no score on it.
    """
    found = []
    for number in range(count):
        noises = {place: 0.8 + 0.2 * place + 0.1 * number for place in range(members)}
        if number == lacking[0]:
            del noises[lacking[1]]
        texts = (1_000 * number + np.arange(160)).reshape(80, 2).astype(np.uint64)
        if number == count - 1:
            texts[:repeated] = np.arange(2 * repeated).reshape(repeated, 2)
        found.append(scored(80, noises, key=f"set {number}", texts=texts, seed=number))
    return found


def test_five_datasets_that_share_few_pairs_say_something_of_another_one() -> None:
    for count, repeated, said in ((4, 0, []), (5, 0, [5]), (5, 2, []), (6, 3, [5])):
        evidence = datasets(count, repeated=repeated)
        found = predict_new_dataset(compare_evidence(evidence, [A, B]), [A, B])
        assert [len(one.datasets) for one in found] == said
        for one in found:
            assert one.shared_pairs == 0
            assert repeated == 0 or not {"set 0", "set 5"} <= {*one.datasets}


def test_another_dataset_is_no_surer_than_the_average_over_those_at_hand() -> None:
    evidence = datasets(5)
    evidence.append(average_evidence("all", evidence))
    *slices, average = compare_evidence(evidence, [A, B])
    own = average.differences["b"]
    wide = replace(own, low=own.delta - 50, high=own.delta + 60)
    average = replace(average, differences={"b": wide})
    (found,) = predict_new_dataset([*slices, average], [A, B])
    ends = (found.mean - 50, found.mean + 60)
    assert (found.low, found.high) == (found.new_low, found.new_high) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("first", "second"),
    [(A, B), (A, C), (replace(A, runs=RUNS), replace(C, runs=RUNS))],
    ids=["one recipe", "two recipes", "shared runs"],
)
def test_what_is_said_of_another_dataset_is_by_the_differences_and_what_seeds_vary(
    first: ModelColumns, second: ModelColumns
) -> None:
    """Of models that share runs the differences vary, seed by seed."""
    evidence = datasets(5, members=3 + len(second.members))
    slices = compare_evidence(evidence, [first, second])
    (found,) = predict_new_dataset(slices, [first, second])
    points = np.mean([one.points for one in evidence], axis=0)
    own, other = points[:3], points[3:]
    noise, freedom = own.var(ddof=1) / 3, 2.0
    if second.runs:
        noise = (other - own).var(ddof=1) / 3
    elif second.seeds:
        noise += other.var(ddof=1) / 3
        freedom = stats.ttest_ind(own, other, equal_var=False).df
    differences = [one.differences[second.name] for one in slices]
    deltas = np.array([one.delta for one in differences])
    rows = np.array([one.uncertainty.variance_of_rows for one in differences])
    mean, ends, new_ends = predict_difference(deltas, rows, float(noise), float(freedom))
    assert found.mean == pytest.approx(mean)
    assert (found.low, found.high) == pytest.approx(ends)
    assert (found.new_low, found.new_high) == pytest.approx(new_ends)


@pytest.mark.parametrize(("noise", "freedom"), [(0.3, np.inf), (0.3, 3.0), (40.0, 3.0)])
def test_where_datasets_agree_the_seeds_alone_make_the_interval(
    noise: float, freedom: float
) -> None:
    mean, own, _ = predict_difference(np.full(6, 1.5), np.full(6, 1e-12), noise, freedom)
    reach = stats.t.ppf(0.975, freedom) * sqrt(noise)
    assert mean == pytest.approx(1.5)
    assert own == pytest.approx((1.5 - reach, 1.5 + reach), rel=1e-4)


def test_a_model_without_a_score_on_one_of_the_datasets_says_nothing_of_another() -> None:
    evidence = datasets(5, members=3, lacking=(2, 1))
    models = single("abc")
    found = predict_new_dataset(compare_evidence(evidence, models), models)
    assert [one.model for one in found] == ["c"]


def test_two_of_a_hundred_pairs_may_be_shared() -> None:
    whole = np.arange(400, dtype=np.uint64).reshape(200, 2)
    assert independent_datasets([whole[:100], whole[98:]]) == ([0, 1], 2)
    assert independent_datasets([whole[:100], whole[97:]]) == ([1], 0)
