"""Measures of a ranking of candidates: an item is a query with one text that is relevant to it, and its prediction is that text's rank.

Gold numbers the query of each item, so that all texts that are relevant to a query count together. A score is a mean over queries; an
item carries an equal part of its query's influence, so that items of one query, and queries that share a text, are dependent rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.influence import Floats

CUTS = (1, 5, 10)  # of recall@k

OfQueries = Callable[["_Queries", Floats], Floats]
"""The value of each query, from the ranks of its items."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Queries:
    """Which query each item is of."""

    index: NDArray[np.intp]  # (items,)
    sizes: NDArray[np.intp]  # (queries,) relevant texts

    @classmethod
    def of(cls, numbers: ArrayLike) -> Self:
        _, index, sizes = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
        return cls(index=index, sizes=sizes)


def reciprocal_rank(queries: _Queries, ranks: Floats) -> Floats:
    """Return 1 over the rank of the first relevant text of each query."""
    found = np.zeros(len(queries.sizes))
    np.maximum.at(found, queries.index, 1 / ranks)
    return found


def share_found(queries: _Queries, ranks: Floats, *, cut: int) -> Floats:
    """Return the share of the relevant texts of each query that rank CUT or better."""
    found: Floats = np.bincount(queries.index, weights=ranks <= cut, minlength=len(queries.sizes)) / queries.sizes
    return found


def mean_of_items(queries: _Queries, numbers: Floats, *, of: Callable[[Floats], Floats] | None = None) -> Floats:
    """Return the mean number of the items of each query, or of what OF makes of these numbers."""
    values = numbers if of is None else of(numbers)
    found: Floats = np.bincount(queries.index, weights=values, minlength=len(queries.sizes)) / queries.sizes
    return found


def query_mean(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> float:
    """Return the mean over queries of the value OF each."""
    return float(of(_Queries.of(gold), np.asarray(ranks, dtype=np.float64)).mean())


def query_influence(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> Floats:
    """Return the influence of each item on that mean, (items,): divided by their number, those of a query add up to its own."""
    queries = _Queries.of(gold)
    values = of(queries, np.asarray(ranks, dtype=np.float64))
    shares: Floats = ((values - values.mean()) / queries.sizes)[queries.index] * len(queries.index) / len(queries.sizes)
    return shares
