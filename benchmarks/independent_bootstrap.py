"""The peer of the dependent-pairs procedure: a paired bootstrap of Spearman that draws pairs
independently.

A resample is a column of counts: how often each pair was drawn. The rank of a value in the resample
follows from the counts of the values below it, so nothing is sorted again: ranks are one cumulative
sum, and the covariance of ranks one dot product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]  # (resamples, pairs)

CHUNK = (
    1 << 19
)  # cells of a count matrix at once: some 10 MB with its temporaries, so that a chunk stays in cache


@dataclass(frozen=True)
class _Ordering:
    """One column's order, found once: what turns counts into ranks."""

    order: NDArray[np.intp]  # pairs by value
    ends: NDArray[np.intp]  # the last position of each group of equal values, in that order
    group: NDArray[np.intp]  # the group of each pair

    @classmethod
    def of(cls, values: Floats) -> "_Ordering":
        _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        return cls(np.argsort(values, kind="stable"), np.cumsum(sizes) - 1, group)

    @property
    def has_ties(self) -> bool:
        """Whether two pairs have the same value before any resampling."""
        return len(self.ends) < len(self.order)

    def ranks(self, counts: Counts) -> tuple[Counts, Counts]:
        """Twice the average rank of each pair within each resample, and how often each group of
        equal values was drawn.
        """
        drawn = counts.take(self.order, axis=1)
        doubled = np.cumsum(drawn, axis=1, dtype=np.int32)
        if self.has_ties:
            doubled = doubled.take(self.ends, axis=1)
            drawn = np.diff(doubled, axis=1, prepend=np.int32(0))
        # With u drawn up to and including a group of d, its ranks are u - d + 1 … u: twice their
        # average is whole, so all sums are exact.
        doubled *= 2
        doubled -= drawn
        doubled += 1
        return doubled.take(self.group, axis=1), drawn


def resample_counts(pairs: int, resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """RESAMPLES draws of PAIRS pairs with replacement, as counts, in chunks of bounded memory."""
    chunk = max(1, CHUNK // max(pairs, 1))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        drawn = (
            rng.integers(0, pairs, (rows, pairs), dtype=np.int32)
            + np.arange(0, rows * pairs, pairs, dtype=np.int32)[:, None]
        )
        yield (
            np.bincount(drawn.ravel(), minlength=rows * pairs).astype(np.int32).reshape(rows, pairs)
        )


def resampled_spearman(
    gold: ArrayLike, scores: ArrayLike, resamples: int, rng: np.random.Generator
) -> Floats:
    """Spearman of each row of SCORES with GOLD in each resample of the pairs, the same resample for
    every row.

    gold: (pairs,); scores: (columns, pairs); result: (columns, resamples), nan where a resample is
    constant.
    """
    gold_order = _Ordering.of(np.asarray(gold, dtype=np.float64))
    orders = [_Ordering.of(row) for row in np.asarray(scores, dtype=np.float64)]
    if not len(gold_order.order):
        return np.full((len(orders), resamples), np.nan)
    chunks = [
        _spearman(counts, gold_order, orders)
        for counts in resample_counts(len(gold_order.order), resamples, rng)
    ]
    return np.concatenate([np.empty((len(orders), 0)), *chunks], axis=1)


def _spearman(counts: Counts, gold: _Ordering, columns: Sequence[_Ordering]) -> Floats:
    n = float(counts.shape[1])
    gold_ranks, gold_drawn = gold.ranks(counts)
    weighted, gold_spread = counts * gold_ranks, n**3 - _cubes(gold_drawn)
    spread_without_ties = n**3 - _cubes(counts)  # the same for every column whose values all differ
    result = np.full((len(columns), len(counts)), np.nan)
    for row, column in zip(result, columns, strict=True):
        ranks, drawn = column.ranks(counts)
        spread = gold_spread * (n**3 - _cubes(drawn) if column.has_ties else spread_without_ties)
        # Both ranks are doubled, so the products are four times too large; n³ − Σ t³ over tie sizes
        # t is 12 times the variance.
        covariance = 3 * (
            np.einsum("bn,bn->b", ranks, weighted, dtype=np.float64) - n * (n + 1) ** 2
        )
        np.divide(covariance, np.sqrt(spread), out=row, where=spread > 0)
    return result


def _cubes(drawn: Counts) -> Floats:
    sums: Floats = np.einsum("bg,bg,bg->b", drawn, drawn, drawn, dtype=np.float64)
    return sums


def interval(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of bootstrap draws; nan where none is defined."""
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def two_sided_p(differences: Floats) -> float:
    """Bootstrap p of "no difference": 2·min(P(Δ ≤ 0), P(Δ ≥ 0)), one added to each count so that it
    is never 0; at most 1.
    """
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return float("nan")
    fewer = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(defined) + 1))
