"""How sure an order is: draws of each score over its items and seeds, the share in which one exceeds another, Kendall's tau."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from embedlab.analysis.correlations import Aggregate, combine, correlated_groups
from embedlab.analysis.significance import Floats, interval, member_weights, resampled_spearman


@dataclass(frozen=True, kw_only=True)
class Order:
    """Whether one of two scores exceeds the other."""

    difference: float  # of the means over the seeds
    low: float  # 95% interval
    high: float
    probability: float  # share of the draws in which the first exceeds the second, ties counted half; nan where nothing varies


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Kendall's tau-b between two rankings of the same things, −1 to 1; nan where one of them is constant."""

    tau: float
    low: float  # 95% interval over the draws of the second
    high: float


def spearman_draws(
    table: pl.DataFrame, columns: Sequence[str], datasets: Sequence[str], aggregate: Aggregate, resamples: int, seed: int = 0
) -> Floats:
    """The mean over DATASETS of each column's Spearman, in each resample of the pairs: (columns, resamples).

    Every column sees the same resampled pairs, drawn within a dataset, and for `mean` and `wmean` within a source.
    """
    drawn = []
    for dataset in datasets:
        pairs = table.filter(pl.col("dataset") == dataset).drop_nulls(["gold", *columns])
        gold, scores = pairs["gold"].to_numpy(), pairs.select(columns).to_numpy().T
        groups = correlated_groups(pairs, aggregate)
        rng = np.random.default_rng([seed, zlib.crc32(dataset.encode())])
        draws = [resampled_spearman(gold[rows], scores[:, rows], resamples, rng) for rows in groups]
        drawn.append(combine(np.reshape(draws, (len(groups), len(columns), resamples)), groups, aggregate))
    return np.asarray(np.mean(drawn, axis=0))


def accuracy_draws(accuracies: Sequence[float], items: int, resamples: int, rng: np.random.Generator) -> Floats:
    """The accuracies if their ITEMS were drawn again, each on its own: (accuracies, resamples).

    Resampling items that are right or wrong is a binomial draw, so the items themselves are not needed; models that were
    right on the same items differ less than these draws say.
    """
    return rng.binomial(items, np.asarray(accuracies)[:, None], (len(accuracies), resamples)) / items


def over_seeds(draws: Floats, seeds: Sequence[int], seed: int = 0) -> Floats:
    """The mean of the members (rows of DRAWS) in each resample, the members drawn again too; equal SEEDS are drawn together."""
    rng = np.random.default_rng([seed, zlib.crc32(f"seeds {tuple(seeds)}".encode())])
    return np.asarray(np.einsum("mb,mb->b", draws, member_weights(len(draws), draws.shape[1], rng)))


def order(first: Floats, second: Floats, difference: float) -> Order:
    """How the draws of two scores, whose means differ by DIFFERENCE, stand to each other."""
    apart = first - second
    low, high = interval(apart)
    is_fixed = not np.ptp(apart)  # one seed and no items: a sign, not a probability
    share = float(np.mean(apart > 0) + np.mean(apart == 0) / 2)
    return Order(difference=difference, low=low, high=high, probability=float("nan") if is_fixed else share)


def kendall(first: ArrayLike, second: ArrayLike) -> Floats:
    """Kendall's tau-b of FIRST (things,) with each column of SECOND (things, draws); nan where either is constant."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    above, below = np.triu_indices(len(a), 1)
    known, ours = np.sign(a[above] - a[below]), np.sign(b[above] - b[below])
    untied = np.sqrt(np.count_nonzero(known) * np.count_nonzero(ours, axis=0).astype(np.float64))
    tau: Floats = np.divide(known @ ours, untied, out=np.full(b.shape[1], np.nan), where=untied > 0)
    return tau


def agreement(printed: Sequence[float], ours: Sequence[float], draws: Sequence[Floats]) -> Agreement:
    """How the order of PRINTED agrees with that of OURS, with the interval that the DRAWS of ours give; nan where no draw varies."""
    tau = kendall(printed, np.asarray(ours)[:, None])[0]
    drawn = np.stack(draws)
    low, high = interval(kendall(printed, drawn)) if np.ptp(drawn, axis=1).any() else (float("nan"), float("nan"))
    return Agreement(tau=float(tau), low=low, high=high)
