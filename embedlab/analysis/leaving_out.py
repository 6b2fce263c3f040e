"""Scores without some of their rows: what a large topic contributes exactly, where influence values
hold for small changes alone.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.influence import Floats

_VALUES_AT_ONCE = 1_000_000  # of members together: what is sorted of more is memory

Rows = NDArray[np.bool_]  # (rows,)
Without = Callable[[Rows], Floats]
"""The score of each member without the rows that are true; (members,), nan where it is
undefined."""

WithoutOf = Callable[[Any, Sequence[Any]], Without]
"""The same of gold values and the predictions of each member."""


LeavingOut = Callable[[Rows], tuple[Floats, Floats]]
"""The score of each member without the rows that are true, and what these contribute to it: with
n' of n rows left and their score s', n' (s − s') / n; (members,) each, nan where undefined."""


def of_measure(points: Floats, make: Callable[[], Without]) -> LeavingOut:
    """Leave items out that are measured together; POINTS are the scores of all, and what is MADE
    when it is first needed sorts.
    """
    again = cache(make)

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        without = again()(rows) if rows.any() else points
        return without, (1 - np.count_nonzero(rows) / len(rows)) * (points - without)

    return leaving


def of_sum(parts: Sequence[tuple[LeavingOut, float]], ends: Sequence[int]) -> LeavingOut:
    """Leave rows out of a weighted sum of scores, each of its own rows, which end at ENDS but for
    the last's.
    """

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        lefts = np.split(rows, ends)
        both = [part(left) for (part, _), left in zip(parts, lefts, strict=True)]
        weights = [weight for _, weight in parts]
        points = [weight * without for weight, (without, _) in zip(weights, both, strict=True)]
        changes = [
            weight * moved
            for weight, (_, moved), left in zip(weights, both, lefts, strict=True)
            if left.any()
        ]
        total: Floats = np.sum(points, axis=0)
        return total, np.sum(changes, axis=0) if changes else np.zeros_like(total)

    return leaving


def of_members(parts: Sequence[LeavingOut], places: Sequence[int | None]) -> LeavingOut:
    """Leave the same rows out of members that are at PLACES among those of all parts; None is one
    without a score.
    """

    def leaving(rows: Rows) -> tuple[Floats, Floats]:
        both = np.concatenate([np.stack(part(rows)) for part in parts], axis=1)
        placed = np.full((2, len(places)), np.nan)
        for index, place in enumerate(places):
            if place is not None:
                placed[:, index] = both[:, place]
        return placed[0], placed[1]

    return leaving


def scored_again(value: Callable[[Any, Any], float]) -> WithoutOf:
    """Return how a measure whose VALUE is quick is scored without some rows: again."""

    def of(gold: Any, predictions: Sequence[Any]) -> Without:
        def without(rows: Rows) -> Floats:
            stay = ~rows
            if not stay.any():
                return np.full(len(predictions), np.nan)
            return np.array([value(gold[stay], prediction[stay]) for prediction in predictions])

        return without

    return of


def spearman_without(gold: ArrayLike, scores: Sequence[ArrayLike]) -> Without:
    """Return Spearman's correlation of each member's SCORES without some rows; values are sorted
    once, then counted.
    """
    of_gold = _Numbered([gold])
    count = max(1, _VALUES_AT_ONCE // max(of_gold.numbers.shape[1], 1))
    numbered = [_Numbered(scores[start : start + count]) for start in range(0, len(scores), count)]

    def without(rows: Rows) -> Floats:
        left = np.flatnonzero(rows)
        if len(rows) - len(left) < 2:
            return np.full(len(scores), np.nan)
        ranks = of_gold.doubled_ranks(left)[0]
        correlations: Floats = np.concatenate(
            [_correlations(ranks, members.doubled_ranks(left)) for members in numbered]
        )
        return correlations

    return without


def _correlations(own: Floats, others: Floats) -> Floats:
    """Return the correlation of OWN values with those of each of OTHERS, (members, rows); all are
    centred.
    """
    squares = np.einsum("ij,ij->i", others, others) * (own @ own)
    found: Floats = np.divide(
        others @ own, np.sqrt(squares), out=np.full(len(others), np.nan), where=squares > 0
    )
    return found


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

    def doubled_ranks(self, left: NDArray[np.intp]) -> Floats:
        """Return twice the average ranks, less their mean, of the rows but those LEFT out, which
        have 0; (members, rows).
        """
        sizes = self.sizes - self._sizes(self.numbers[:, left])
        shared = np.cumsum(sizes, axis=1)
        shared *= 2
        shared -= sizes
        shared -= self.numbers.shape[1] - len(left)
        ranks: Floats = np.take(shared.astype(np.float64), self.numbers)
        ranks[:, left] = 0.0
        return ranks
