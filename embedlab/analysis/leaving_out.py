"""Scores without some of their rows: what a large topic contributes exactly, where influence values
hold for small changes alone.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.influence import Floats, quotient

_VALUES_AT_ONCE = 1_000_000  # of members together: what is sorted of more is memory

Rows = NDArray[np.bool_]  # (rows,)
Without = Callable[[Rows], Floats]
"""The score of each member without the rows that are true; (members,), nan where it is
undefined."""

LeavingOut = Callable[[Rows], tuple[Floats, Floats]]
"""The score of each member without the rows that are true, and what these contribute to it: with
n' of n rows left and their score s', n' (s − s') / n; (members,) each, nan where undefined."""


def leave_out_of_measure(
    points: Floats, scored: Sequence[int], make: Callable[[], Without]
) -> LeavingOut:
    """Leave items out that are measured together; POINTS are the scores of all members, of which
    some are SCORED, and what is MADE when it is first needed sorts.
    """
    score_without = cache(make)

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        scores = points
        if rows.any():
            scores = np.full_like(points, np.nan)
            scores[scored] = score_without()(rows)
        return scores, (1 - np.count_nonzero(rows) / len(rows)) * (points - scores)

    return leaving


def leave_out_of_sum(
    parts: Sequence[LeavingOut], weights: Sequence[float], ends: Sequence[int]
) -> LeavingOut:
    """Leave rows out of a weighted sum of scores, each of its own rows, which end at ENDS but for
    the last's.
    """

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        total = change = np.zeros(1)
        for part, weight, left_out in zip(parts, weights, np.split(rows, ends), strict=True):
            score, part_change = part(left_out)
            total = total + weight * score
            if left_out.any():
                change = change + weight * part_change
        return total, np.broadcast_to(change, total.shape)

    return leaving


def leave_out_of_members(leave_out: LeavingOut, members: Sequence[int]) -> LeavingOut:
    """Leave the same rows out of some members, given by their numbers."""

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        scores, changes = leave_out(rows)
        return scores[members], changes[members]

    return leaving


def spearman_without(gold: ArrayLike, scores: Sequence[ArrayLike]) -> Without:
    """Return Spearman's correlation of each member's SCORES without some rows; values are sorted
    once, then counted.
    """
    gold_ranking = _Numbered([gold])
    count = max(1, _VALUES_AT_ONCE // max(gold_ranking.numbers.shape[1], 1))
    numbered = [_Numbered(scores[start : start + count]) for start in range(0, len(scores), count)]

    def without(rows: Rows) -> Floats:
        left_out = np.flatnonzero(rows)
        if len(rows) - len(left_out) < 2:
            return np.full(len(scores), np.nan)
        ranks = gold_ranking.doubled_ranks(left_out)[0]
        return np.concatenate(
            [_correlations(ranks, members.doubled_ranks(left_out)) for members in numbered]
        )

    return without


def _correlations(gold_ranks: Floats, member_ranks: Floats) -> Floats:
    """Return the correlation of GOLD RANKS with each of MEMBER RANKS, (members, rows); all are
    centred.
    """
    squares = np.einsum("ij,ij->i", member_ranks, member_ranks) * (gold_ranks @ gold_ranks)
    products = member_ranks @ gold_ranks
    return quotient(products, np.sqrt(squares), where=squares > 0, otherwise=np.nan)


class _Numbered:
    """The values of several members by their numbers in the order of each one's distinct ones; no
    two members share a number.
    """

    def __init__(self, members: Sequence[ArrayLike]) -> None:
        numbers = np.array(
            [
                np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)[1]
                for values in members
            ]
        )
        self.distinct = int(numbers.max(initial=0)) + 1
        self.numbers = numbers + self.distinct * np.arange(len(members))[:, None]  # (members, rows)
        self.sizes = self._sizes(self.numbers)

    def _sizes(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how many rows have each number; (members, distinct)."""
        members = len(self.numbers)
        return np.bincount(numbers.ravel(), minlength=members * self.distinct).reshape(
            members, self.distinct
        )

    def doubled_ranks(self, left_out: NDArray[np.intp]) -> Floats:
        """Return twice the average ranks, less their mean, of the rows but those LEFT OUT, which
        have 0; (members, rows).
        """
        sizes = self.sizes - self._sizes(self.numbers[:, left_out])
        doubled = np.cumsum(sizes, axis=1)
        doubled *= 2
        doubled -= sizes
        doubled -= self.numbers.shape[1] - len(left_out)
        ranks: Floats = np.take(doubled.astype(np.float64), self.numbers)
        ranks[:, left_out] = 0.0
        return ranks
