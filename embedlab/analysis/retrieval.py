"""Measures of a ranking of candidates: an item is a query with one text that is relevant to it, and
its prediction is that text's rank.

Gold numbers the query of each item, so that all texts that are relevant to a query count together;
where people graded the texts, its fraction says by how much the grade is above 1 (`query_gold`). A
score is a mean over queries; an item carries an equal part of its query's influence, so that items
of one query, and queries that share a text, are dependent rows. The rank of a text that was not
found is infinite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.influence import Floats

CUTS = (1, 10, 100)  # of recall@k in tables
FIRST = 10  # of nDCG@10 and MRR@10
MOST_GRADES = 1024

OfQueries = Callable[["_Queries", Floats], Floats]
"""The value of each query, from the ranks of its items."""


def query_gold(query: ArrayLike, grades: ArrayLike) -> Floats:
    """Return the gold value of items: the number of the query, and as its fraction how much a grade
    from 1 to 1024 is above 1.
    """
    return (
        np.asarray(query, dtype=np.float64)
        + (np.asarray(grades, dtype=np.float64) - 1) / MOST_GRADES
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Queries:
    """Which query each item is of, and how relevant its text is."""

    index: NDArray[np.intp]  # (items,)
    sizes: NDArray[np.intp]  # (queries,) relevant texts
    grades: Floats  # (items,) 1 and more

    @classmethod
    def of(cls, gold: ArrayLike) -> Self:
        values = np.asarray(gold, dtype=np.float64)
        numbers = np.trunc(values)
        _, index, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
        return cls(index=index, sizes=sizes, grades=(values - numbers) * MOST_GRADES + 1)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the VALUES of each query's items."""
        totals: Floats = np.bincount(self.index, weights=values, minlength=len(self.sizes)).astype(
            np.float64
        )
        return totals

    def places(self, values: Floats) -> Floats:
        """Return the place of each item among those of its query in the order of VALUES, from 1."""
        order = np.lexsort((values, self.index))
        ranks = np.empty(len(order))
        ranks[order] = (
            1 + np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        )
        return ranks

    @cached_property
    def ideal(self) -> Floats:
        """The gain of each query where its texts come first, the most relevant before the
        others.
        """
        return self.sums(self.grades * _discount(self.places(np.negative(self.grades))))


def _discount(ranks: Floats) -> Floats:
    discounts: Floats = np.where(ranks <= FIRST, 1 / np.log2(ranks + 1), 0.0)
    return discounts


def normalised_gain(queries: _Queries, ranks: Floats) -> Floats:
    """Return nDCG@10 of each query: the grades of its texts divided by log2(rank + 1), as a share
    of the highest that it could be.
    """
    return queries.sums(queries.grades * _discount(ranks)) / queries.ideal


def reciprocal_rank(queries: _Queries, ranks: Floats, *, cut: float = np.inf) -> Floats:
    """Return 1 over the rank of the first relevant text of each query, 0 where that is beyond
    CUT.
    """
    reciprocals = np.zeros(len(queries.sizes))
    np.maximum.at(reciprocals, queries.index, np.where(ranks <= cut, 1 / ranks, 0.0))
    return reciprocals


def average_precision(queries: _Queries, ranks: Floats) -> Floats:
    """Return the mean over the relevant texts of each query of the share of relevant texts among
    those up to its rank.
    """
    return queries.sums(queries.places(ranks) / ranks) / queries.sizes


def share_found(queries: _Queries, ranks: Floats, *, cut: int) -> Floats:
    """Return the share of the relevant texts of each query that rank CUT or better."""
    return queries.sums((ranks <= cut).astype(np.float64)) / queries.sizes


def mean_of_items(
    queries: _Queries, numbers: Floats, *, of: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Return the mean number of the items of each query, or of what OF makes of these numbers."""
    return queries.sums(numbers if of is None else of(numbers)) / queries.sizes


def query_mean(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> float:
    """Return the mean over queries of the value OF each."""
    return float(of(_Queries.of(gold), np.asarray(ranks, dtype=np.float64)).mean())


def query_influence(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> Floats:
    """Return the influence of each item on that mean, (items,): divided by their number, those of a
    query add up to its own.
    """
    queries = _Queries.of(gold)
    values = of(queries, np.asarray(ranks, dtype=np.float64))
    shares: Floats = (
        ((values - values.mean()) / queries.sizes)[queries.index]
        * len(queries.index)
        / len(queries.sizes)
    )
    return shares
