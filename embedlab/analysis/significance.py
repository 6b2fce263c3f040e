"""Whether a difference is real: exact paired bootstrap of Spearman, two-sided p, Holm's correction, tie groups.

A resample is a column of counts: how often each pair was drawn. The rank of a value in the resample follows from the counts of
the values below it, so nothing is sorted again: ranks are one cumulative sum, and the covariance of ranks one dot product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]  # (resamples, pairs)

CHUNK = 1 << 19  # cells of a count matrix at once: some 10 MB with its temporaries, so that a chunk stays in cache


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
        """Twice the average rank of each pair within each resample, and how often each group of equal values was drawn."""
        drawn = counts.take(self.order, axis=1)
        doubled = np.cumsum(drawn, axis=1, dtype=np.int32)
        if self.has_ties:
            doubled = doubled.take(self.ends, axis=1)
            drawn = np.diff(doubled, axis=1, prepend=np.int32(0))
        # With u drawn up to and including a group of d, its ranks are u - d + 1 … u: twice their average is whole, so all sums are exact.
        doubled *= 2
        doubled -= drawn
        doubled += 1
        return doubled.take(self.group, axis=1), drawn


def resample_counts(pairs: int, resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """RESAMPLES draws of PAIRS pairs with replacement, as counts, in chunks of bounded memory."""
    chunk = max(1, CHUNK // max(pairs, 1))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        drawn = rng.integers(0, pairs, (rows, pairs), dtype=np.int32) + np.arange(0, rows * pairs, pairs, dtype=np.int32)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * pairs).astype(np.int32).reshape(rows, pairs)


def resampled_spearman(gold: ArrayLike, scores: ArrayLike, resamples: int, rng: np.random.Generator) -> Floats:
    """Spearman of each row of SCORES with GOLD in each resample of the pairs, the same resample for every row.

    gold: (pairs,); scores: (columns, pairs); result: (columns, resamples), nan where a resample is constant.
    """
    gold_order = _Ordering.of(np.asarray(gold, dtype=np.float64))
    orders = [_Ordering.of(row) for row in np.asarray(scores, dtype=np.float64)]
    if not len(gold_order.order):
        return np.full((len(orders), resamples), np.nan)
    chunks = [_spearman(counts, gold_order, orders) for counts in resample_counts(len(gold_order.order), resamples, rng)]
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
        # Both ranks are doubled, so the products are four times too large; n³ − Σ t³ over tie sizes t is 12 times the variance.
        covariance = 3 * (np.einsum("bn,bn->b", ranks, weighted, dtype=np.float64) - n * (n + 1) ** 2)
        np.divide(covariance, np.sqrt(spread), out=row, where=spread > 0)
    return result


def _cubes(drawn: Counts) -> Floats:
    sums: Floats = np.einsum("bg,bg,bg->b", drawn, drawn, drawn, dtype=np.float64)
    return sums


def member_weights(members: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How much each member (seed) of a model counts in each resample: members drawn with replacement, (members, resamples)."""
    drawn = rng.multinomial(members, np.full(members, 1 / members), size=resamples)
    return np.asarray(drawn.T / members, dtype=np.float64)


def interval(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of bootstrap draws; undefined draws are left out, and nothing is left: nan."""
    kept = draws[~np.isnan(draws)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def two_sided_p(differences: Floats) -> float:
    """Bootstrap p of "no difference": 2·min(P(Δ ≤ 0), P(Δ ≥ 0)), one added to each count so that it is never 0; at most 1."""
    kept = differences[~np.isnan(differences)]
    if not len(kept):
        return float("nan")
    fewer = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(kept) + 1))


def tie_groups(scores: Sequence[float], differs: NDArray[np.bool_]) -> list[str]:
    """Letters of each model: two share one exactly if, best first, they stand in a run in which no two models differ.

    differs: (models, models), symmetric. "a" is the run of the best; a model without a score (nan) has no letter.
    """
    order = [index for index in np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable") if not np.isnan(scores[index])]
    letters = [""] * len(scores)
    last_end, name = 0, 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not differs[order[end], order[start:end]].any():
            end += 1
        if end > last_end:  # otherwise the run lies inside the one before
            for index in order[start:end]:
                letters[index] += _letter(name)
            last_end, name = end, name + 1
    return letters


def _letter(number: int) -> str:
    """Give a … z, then a2 … z2, and so on."""
    return chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")
