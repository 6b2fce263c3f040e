"""The probability that an order holds, against loops over resamples and scipy."""

import zlib

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr

from embedlab.analysis.ordering import accuracy_draws, agreement, kendall, order, over_seeds, spearman_draws
from embedlab.analysis.significance import member_weights, resample_counts

RESAMPLES = 25


@pytest.fixture
def table() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 6, 60).astype(float)
    return pl.DataFrame(
        {
            "dataset": ["sts12"] * 40 + ["sts13"] * 20,
            "source": ["a"] * 25 + ["b"] * 15 + ["c"] * 20,
            "gold": gold,
            "good": gold + rng.normal(0, 1, 60),
            "poor": gold + rng.normal(0, 6, 60),
        }
    )


def slow_spearman(pairs: pl.DataFrame, column: str, counts: "np.ndarray[tuple[int, ...], np.dtype[np.int32]]") -> list[float]:
    """Spearman of each resample, its pairs written out and ranked again."""
    drawn = [np.repeat(np.arange(pairs.height), row) for row in counts]
    gold, scores = pairs["gold"].to_numpy(), pairs[column].to_numpy()
    return [float(spearmanr(gold[rows], scores[rows]).statistic) for rows in drawn]


def test_draws_average_the_datasets_of_the_same_resampled_pairs(table: pl.DataFrame) -> None:
    draws = spearman_draws(table, ["good", "poor"], ["sts12", "sts13"], "all", RESAMPLES)
    for row, column in enumerate(("good", "poor")):
        slow = []
        for name in ("sts12", "sts13"):
            pairs = table.filter(dataset=name)
            rng = np.random.default_rng([0, zlib.crc32(name.encode())])
            counts = np.concatenate(list(resample_counts(pairs.height, RESAMPLES, rng)))
            slow.append(slow_spearman(pairs, column, counts))
        assert draws[row] == pytest.approx(np.mean(slow, axis=0))


def test_wmean_draws_within_each_source_and_weights_by_pairs(table: pl.DataFrame) -> None:
    draws = spearman_draws(table, ["good"], ["sts12"], "wmean", RESAMPLES)
    rng = np.random.default_rng([0, zlib.crc32(b"sts12")])
    slow = []
    for source in ("a", "b"):
        pairs = table.filter(dataset="sts12", source=source)
        slow.append(slow_spearman(pairs, "good", np.concatenate(list(resample_counts(pairs.height, RESAMPLES, rng)))))
    assert draws[0] == pytest.approx(np.average(slow, axis=0, weights=[25, 15]))


def test_the_probability_counts_the_resamples_in_which_the_first_wins(table: pl.DataFrame) -> None:
    good, poor = spearman_draws(table, ["good", "poor"], ["sts12"], "all", 200)
    found = order(good, poor, 0.5)
    wins = sum(1.0 if first > second else 0.5 if first == second else 0.0 for first, second in zip(good, poor, strict=True))
    assert found.probability == pytest.approx(wins / 200)
    assert found.low < np.median(good - poor) < found.high
    assert order(poor, good, -0.5).probability == pytest.approx(1 - found.probability)


def test_without_anything_that_varies_there_is_no_probability() -> None:
    assert np.isnan(order(np.ones(9), np.zeros(9), 1.0).probability)


def test_seeds_are_drawn_again_and_equal_seeds_together() -> None:
    draws = np.random.default_rng(0).normal(size=(3, RESAMPLES))
    rng = np.random.default_rng([0, zlib.crc32(b"seeds (1, 2, 3)")])
    weights = member_weights(3, RESAMPLES, rng)
    slow = [sum(draws[member, at] * weights[member, at] for member in range(3)) for at in range(RESAMPLES)]
    assert over_seeds(draws, [1, 2, 3]) == pytest.approx(slow)
    assert over_seeds(draws + 1, [1, 2, 3]) - over_seeds(draws, [1, 2, 3]) == pytest.approx(np.ones(RESAMPLES))


def test_accuracies_vary_as_if_their_items_were_drawn_again() -> None:
    rng = np.random.default_rng(0)
    right = np.arange(200) < 150
    loop = [rng.choice(right, 200).mean() for _ in range(4_000)]
    draws = accuracy_draws([0.75, 1.0], 200, 4_000, rng)
    assert draws[0].mean() == pytest.approx(np.mean(loop), abs=0.003)
    assert draws[0].std() == pytest.approx(np.std(loop), rel=0.06)
    assert (draws[1] == 1).all()


def test_kendall_is_scipys_tau_b() -> None:
    rng = np.random.default_rng(1)
    printed, ours = rng.integers(0, 4, 8), rng.integers(0, 5, (8, 20))
    assert kendall(printed, ours) == pytest.approx([kendalltau(printed, column).statistic for column in ours.T])
    assert np.isnan(kendall([1, 1, 1], np.ones((3, 2)))).all()


def test_agreement_has_the_tau_of_the_means_and_the_interval_of_the_draws() -> None:
    draws = [np.array([3.0, 1.0]), np.array([2.0, 2.0]), np.array([1.0, 3.0])]
    found = agreement([3, 2, 1], [3, 2, 1], draws)
    assert found.tau == 1
    assert -1 <= found.low < found.high <= 1


def test_one_seed_without_items_gives_an_agreement_no_interval() -> None:
    found = agreement([3, 2, 1], [3, 1, 2], [np.full(100, score) for score in (3.0, 1.0, 2.0)])
    assert found.tau == pytest.approx(1 / 3)
    assert np.isnan([found.low, found.high]).all()
