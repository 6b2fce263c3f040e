from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import polars as pl
import pytest
import scipy.stats

from embedlab.analysis.correlations import average_ranks, combine, correlate, pearson, spearman, why_undefined, why_undefined_gold
from embedlab.choices import Aggregate


@pytest.fixture
def columns() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    shapes = product([2, 3, 50, 400], [2, 5, 10_000])
    return [(rng.integers(0, levels, n).astype(float), rng.normal(size=n).round(1)) for n, levels in shapes]


def test_ranks_of_ties_are_their_average() -> None:
    assert average_ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1, 3.5, 2]


def test_correlations_equal_scipy(columns: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for a, b in columns:
        if np.ptp(a) and np.ptp(b):
            assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
            assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-12)


def exact_pearson(a: list[float], b: list[float]) -> float:
    """The correlation in exact arithmetic, up to one square root at the end."""

    def centred(values: list[float]) -> list[Fraction]:
        found = [Fraction(value) for value in values]
        return [value - sum(found) / len(found) for value in found]

    left, right = centred(a), centred(b)
    both = sum(x * y for x, y in zip(left, right, strict=True))
    square = both**2 / (sum(x * x for x in left) * sum(y * y for y in right))
    return sqrt(square) * (1 if both > 0 else -1)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1.0, 1e150, 1e200, 1.7e308])
def test_pearson_does_not_depend_on_the_size_of_the_numbers(size: float) -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=60)
    scores = gold + rng.normal(size=60)
    for a, b in ((gold, scores), (-gold, scores)):
        large = (a / np.abs(a).max() * size).tolist()
        with np.errstate(all="raise", under="ignore"):
            for first, second in ((large, b.tolist()), (b.tolist(), large), (large, large[::-1])):
                assert pearson(first, second) == pytest.approx(exact_pearson(first, second), abs=1e-12)
    if 1e-100 < size < 1e100:
        assert pearson(large, b) == pytest.approx(scipy.stats.pearsonr(large, b).statistic, abs=1e-12)


def test_pearson_of_a_power_of_two_times_the_numbers_is_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 99))
    assert {pearson(a * 2.0**power, b) for power in (-600, -1, 0, 3, 700)} == {pearson(a, b)}


@pytest.mark.parametrize(
    ("a", "b"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([0.1] * 3, [1, 2, 3]), ([1, 2, float("nan")], [1, 2, 3])]
)
def test_what_has_no_correlation_is_nan(a: list[float], b: list[float]) -> None:
    assert np.isnan(spearman(a, b))
    assert np.isnan(pearson(a, b))


@pytest.mark.parametrize("values", [[1e300, float("inf"), 1.0], [0.0, 0.0, 0.0], [1e308, 1e308, 1e308]])
def test_infinite_and_constant_numbers_have_no_pearson(values: list[float]) -> None:
    assert np.isnan(pearson(values, [1.0, 2.0, 3.0]))


def pairs() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    sizes = {("sts13", "headlines"): 30, ("sts13", "OnWN"): 12, ("sts14", "headlines"): 7}
    frames = [
        pl.DataFrame({"gold": rng.integers(0, 6, n) * 1.0, "model": rng.normal(size=n)}).with_columns(
            dataset=pl.lit(dataset), source=pl.lit(source)
        )
        for (dataset, source), n in sizes.items()
    ]
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=0)


@pytest.mark.parametrize("method", ["spearman", "pearson"])
def test_the_three_aggregations_equal_a_loop(method: str) -> None:
    frame = pairs()
    statistic = getattr(scipy.stats, f"{method}r")
    each, sizes = [], []
    for dataset, source in [("sts13", "headlines"), ("sts13", "OnWN"), ("sts14", "headlines")]:
        part = frame.filter(pl.col("dataset") == dataset, pl.col("source") == source)
        each.append(statistic(part["gold"], part["model"]).statistic)
        sizes.append(part.height)
    assert correlate(frame, "model", "all", method) == pytest.approx(statistic(frame["gold"], frame["model"]).statistic)
    assert correlate(frame, "model", "mean", method) == pytest.approx(sum(each) / 3)
    assert correlate(frame, "model", "wmean", method) == pytest.approx(sum(r * n for r, n in zip(each, sizes, strict=True)) / sum(sizes))


def test_aggregating_over_sources_needs_sources() -> None:
    frame = pairs().with_columns(source=pl.lit(None, dtype=pl.String))
    assert np.isnan(correlate(frame, "model", "mean"))
    assert np.isnan(correlate(frame, "model", "wmean"))
    assert correlate(frame, "model", "all") == pytest.approx(correlate(pairs(), "model", "all"))


def test_a_model_that_did_not_score_every_pair_has_no_correlation() -> None:
    frame = pairs().with_columns(model=pl.when(pl.int_range(pl.len()) > 0).then("model"))
    assert np.isnan(correlate(frame, "model", "all"))


@pytest.mark.parametrize(
    ("gold", "scores", "sources", "aggregate", "reason"),
    [
        ([1, 2, 3, 4], [4, 3, 2, 1], "aabb", "all", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], "aabb", "mean", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], None, "all", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], None, "mean", "its pairs name no source"),
        ([3], [4], "a", "all", "a correlation needs two pairs, and it has 1"),
        ([1, 2, 3], [4, 3, 2], "aab", "wmean", "a correlation needs two pairs, and it has 1 in source 'b'"),
        ([2.5, 2.5, 2.5], [4, 3, 2], "aab", "all", "all gold scores are 2.5"),
        ([1, 2, 3, 3], [4, 3, 2, 1], "aabb", "mean", "all gold scores are 3 in source 'b'"),
        ([1, 2, 3, 4], [7, 7, 7, 7], "aabb", "all", "all its pairs have the same similarity"),
        ([1, 2, 3, 4], [7, 8, 7, 7], "aabb", "wmean", "all its pairs have the same similarity in source 'b'"),
        ([1, None, 3, 4], [4, 3, 2, 1], "aabb", "all", "a pair has no gold score"),
        ([1, 2, 3, None], [4, 3, 2, 1], "aabb", "mean", "a pair has no gold score in source 'b'"),
    ],
)
def test_a_reason_is_given_for_every_correlation_that_is_undefined_and_for_no_other(
    gold: list[float], scores: list[float], sources: str | None, aggregate: Aggregate, reason: str
) -> None:
    frame = pl.DataFrame(
        {
            "gold": pl.Series(gold, dtype=pl.Float64),
            "model": pl.Series(scores, dtype=pl.Float64),
            "source": pl.Series(list(sources) if sources else [None] * len(gold), dtype=pl.String),
        }
    ).with_columns(dataset=pl.lit("made"))
    found = why_undefined(frame, "model", aggregate)
    assert (found.reason if found is not None else "") == reason
    assert np.isnan(correlate(frame, "model", aggregate)) == bool(reason)


def test_gold_scores_that_nothing_correlates_with_are_few_or_equal() -> None:
    found = [why_undefined_gold(np.array(gold)) for gold in ([], [2.0], [2.0, 2.0], [2.0, 2.5], [2.0, 2.0, 2.5])]
    needs = "a correlation needs two pairs, and it has"
    assert found == [f"{needs} 0", f"{needs} 1", "all gold scores are 2", "", ""]


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_several_correlations_of_each_source_are_put_together_at_once(aggregate: Aggregate) -> None:
    values = np.random.default_rng(4).normal(size=(3, 5))
    groups = [np.arange(size) for size in (2, 9, 4)]
    sizes = (2, 9, 4) if aggregate == "wmean" else (1, 1, 1)
    slow = [sum(values[row, column] * size for row, size in enumerate(sizes)) / sum(sizes) for column in range(5)]
    assert combine(values, groups, aggregate) == pytest.approx(slow)
    assert np.isnan(combine(values[:0], [], aggregate)).tolist() == [True] * 5
    assert combine(values[:, :0], groups, aggregate).shape == (0,)  # of no member


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_pearson_of_negative_numbers_does_not_depend_on_their_size_either(size: float) -> None:
    rng = np.random.default_rng(5)
    b = rng.random(60)
    a = -(b + rng.random(60)) * size
    for first, second in ((a, b), (b, a), (a, a[::-1])):
        assert pearson(first, second) == pytest.approx(exact_pearson(first.tolist(), second.tolist()), abs=1e-12)
