"""Scores without some of their rows: what a large topic contributes exactly, where influence values hold for small changes alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.influence import Floats

Rows = NDArray[np.bool_]  # (rows,)
Without = Callable[[Rows], Floats]
"""The score of each member without the rows that are true; (members,), nan where it is undefined."""

WithoutOf = Callable[[Any, Sequence[Any]], Without]
"""The same of gold values and the predictions of each member."""


class LeavingOut(Protocol):
    """The scores of several members without some of their rows."""

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS; (members,), nan where it is undefined."""
        ...

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score: n' (s − s') / n, where s' is the score of the n' other rows of n; (members,)."""
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
        change: Floats = (1 - rows.mean()) * (self.points - self.without(rows))
        return change


@dataclass(frozen=True, kw_only=True, eq=False)
class OfSum:
    """The same of a weighted sum of scores, each of its own rows."""

    parts: Sequence[tuple[LeavingOut, float]]  # with its weight
    ends: Sequence[int]  # of each part's rows but the last's

    def without(self, rows: Rows) -> Floats:
        """Return the score of each member without ROWS."""
        of_parts = zip(self.parts, np.split(rows, self.ends), strict=True)
        points: Floats = np.sum([weight * leaving_out.without(left) for (leaving_out, weight), left in of_parts], axis=0)
        return points

    def moved(self, rows: Rows) -> Floats:
        """Return what ROWS contribute to each score."""
        of_parts = zip(self.parts, np.split(rows, self.ends), strict=True)
        change: Floats = np.sum([weight * leaving_out.moved(left) for (leaving_out, weight), left in of_parts if left.any()], axis=0)
        return change


@dataclass(frozen=True, kw_only=True, eq=False)
class OfMembers:
    """The same of some of the members, or of more, some of which have no score."""

    parts: Sequence[LeavingOut]  # their members one after the other
    places: Sequence[int | None]  # of each member among those of the parts; None for one without a score

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
    """Return Spearman's correlation of each member's SCORES without some rows; values are sorted once, then counted."""
    numbers = [_Numbered.of(values) for values in (gold, *scores)]

    def without(rows: Rows) -> Floats:
        stay = np.flatnonzero(~rows)
        if len(stay) < 2:
            return np.full(len(scores), np.nan)
        gold, *others = (number.centred_ranks(stay) for number in numbers)
        spread = gold @ gold
        squares = np.array([other @ other for other in others]) * spread
        products = np.array([other @ gold for other in others])
        correlations: Floats = np.divide(products, np.sqrt(squares), out=np.full(len(others), np.nan), where=squares > 0)
        return correlations

    return without


class _Numbered:
    """Values by their number in the order of the distinct ones."""

    def __init__(self, numbers: NDArray[np.intp], distinct: int) -> None:
        self.numbers, self.distinct = numbers, distinct

    @classmethod
    def of(cls, values: ArrayLike) -> "_Numbered":
        distinct, numbers = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        return cls(numbers, len(distinct))

    def centred_ranks(self, stay: NDArray[np.intp]) -> Floats:
        """Return the average ranks of the rows that STAY, less their mean."""
        number = self.numbers[stay]
        sizes = np.bincount(number, minlength=self.distinct)
        shared: Floats = np.cumsum(sizes) - (sizes - 1) / 2 - (len(stay) + 1) / 2
        return shared[number]
