"""Scores without some of their rows: what a large topic contributes exactly, where influence values
hold for small changes alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

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


class LeavingOut(Protocol):
    """The scores of several members without some of their rows."""

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS; (members,), nan where it is undefined."""
        ...

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score: n' (s − s') / n, where s' is the score of the
        n' other rows of n; (members,).
        """
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class OfMeasure:
    """The same of items that are measured together."""

    points: Floats  # (members,) the scores of all items
    make: Callable[[], Without]  # called when first needed: it sorts

    @cached_property
    def again(self) -> Without:
        """The scores without some items."""
        return self.make()

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS."""
        return self.again(rows) if rows.any() else self.points

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score."""
        change: Floats = (1 - np.count_nonzero(rows) / len(rows)) * (
            self.points - self.without(rows)
        )
        return change


@dataclass(frozen=True, kw_only=True, eq=False)
class OfSum:
    """The same of a weighted sum of scores, each of its own rows."""

    parts: Sequence[tuple[LeavingOut, float]]  # with its weight
    ends: Sequence[int]  # of each part's rows but the last's

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS."""
        of_parts = zip(self.parts, np.split(rows, self.ends), strict=True)
        points: Floats = np.sum(
            [weight * leaving_out.without(left) for (leaving_out, weight), left in of_parts], axis=0
        )
        return points

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score."""
        of_parts = zip(self.parts, np.split(rows, self.ends), strict=True)
        change: Floats = np.sum(
            [
                weight * leaving_out.moved(left)
                for (leaving_out, weight), left in of_parts
                if left.any()
            ],
            axis=0,
        )
        return change


@dataclass(frozen=True, kw_only=True, eq=False)
class OfMembers:
    """The same of some of the members, or of more, some of which have no score."""

    parts: Sequence[LeavingOut]  # their members one after the other
    places: Sequence[
        int | None
    ]  # of each member among those of the parts; None for one without a score

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS."""
        return self._placed(np.concatenate([part.without(rows) for part in self.parts]))

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score."""
        return self._placed(np.concatenate([part.moved(rows) for part in self.parts]))

    def _placed(self, values: Floats) -> Floats:
        return np.array([np.nan if index is None else values[index] for index in self.places])


def scored_again(value: Callable[[Any, Any], float]) -> WithoutOf:
    """Return how a measure whose VALUE is quick is scored without some rows: again."""

    def of(gold: Any, predictions: Sequence[Any]) -> Without:
        def without(rows: Rows) -> Floats:
            stay = ~rows
            return np.array([value(gold[stay], prediction[stay]) for prediction in predictions])

        return without

    return of


def spearman_without(gold: ArrayLike, scores: Sequence[ArrayLike]) -> Without:
    """Return Spearman's correlation of each member's SCORES without some rows; values are sorted
    once, then counted.
    """
    of_gold = _Numbered.of([gold])
    count = max(1, _VALUES_AT_ONCE // max(of_gold.numbers.shape[1], 1))
    numbered = [
        _Numbered.of(scores[start : start + count]) for start in range(0, len(scores), count)
    ]

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

    def __init__(self, numbers: NDArray[np.intp], distinct: int) -> None:
        self.numbers, self.distinct = numbers, distinct  # (members, rows)
        self.sizes = self._sizes(numbers)

    @classmethod
    def of(cls, members: Sequence[ArrayLike]) -> "_Numbered":
        numbers = np.array(
            [
                np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)[1]
                for values in members
            ]
        )
        distinct = int(numbers.max(initial=0)) + 1
        return cls(numbers + distinct * np.arange(len(members))[:, None], distinct)

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
