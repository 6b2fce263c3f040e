"""Variances of sums over rows that are dependent because some share sentences.

Two rows of a dataset that contain the same sentence have correlated errors. The dyadic-robust
variance counts their covariance too: with v the contributions of the rows to an estimate, T the
sums of v over the rows that contain a sentence and U those over the rows of the same two sentences,
D = ΣT² − ΣU² is the sum of v_p v_q over all p and q that share a sentence (Fafchamps & Gubert 2007;
Cameron & Miller 2014; Aronow, Samii & Assenova 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.influence import Floats, quotient

Ids = NDArray[np.integer]
RowPositions = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedSentences:
    """Which rows share a sentence; a row has two sentences, or the same one twice where it has only
    one.
    """

    first: Ids  # (rows,) numbers of sentences from 0, in as few bytes as hold them
    second: Ids
    ids: Ids  # (sentences,) what identifies them, in order
    group: (
        RowPositions  # (rows,) number of the group of rows within which contributions sum to zero
    )

    @classmethod
    def of(cls, first: Ids, second: Ids, group: Ids | None = None) -> SharedSentences:
        """Build from any whole numbers that identify sentences, and groups, whose rows are together
        and in order, if contributions are centred within several.
        """
        distinct, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
        numbers = numbers.astype(np.min_scalar_type(len(distinct)))
        groups = np.zeros(len(first), np.intp)
        if group is not None and (group != group[:1]).any():
            groups = np.unique(group, return_inverse=True)[1]
        return cls(
            first=numbers[: len(first)], second=numbers[len(first) :], ids=distinct, group=groups
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.first)

    @property
    def sentences(self) -> int:
        """The number of distinct sentences."""
        return len(self.ids)

    @cached_property
    def components(self) -> RowPositions:
        """The number of each row's component: rows that a chain of shared sentences connects;
        (rows,).
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        links = coo_matrix(
            (np.ones(self.rows, np.int8), (self.first, self.second)),
            shape=(self.sentences, self.sentences),
        )
        numbers: RowPositions = connected_components(links, directed=False)[1]
        return numbers[self.first]

    @cached_property
    def _by_sentence(self) -> _Sums:
        has_two_sentences = np.flatnonzero(self.first != self.second)
        return _Sums.of(
            np.concatenate([self.first, self.second[has_two_sentences]]),
            np.concatenate([np.arange(self.rows), has_two_sentences]),
        )

    @cached_property
    def _by_two_sentences(self) -> _Sums:
        rows_of_two = np.flatnonzero(self.first != self.second)
        low, high = (
            choose(self.first[rows_of_two], self.second[rows_of_two]).astype(np.int64)
            for choose in (np.minimum, np.maximum)
        )
        return _Sums.of(np.unique(low * self.sentences + high, return_inverse=True)[1], rows_of_two)

    @cached_property
    def _linked_share(self) -> Floats:
        """The share of each group's ordered pairs of rows that share a sentence; (groups,)."""
        sizes = np.bincount(self.group)
        linked = self._by_sentence.count_linked(
            self.group, len(sizes)
        ) - self._by_two_sentences.count_linked(self.group, len(sizes))
        return linked / sizes**2

    def sums(self, contributions: Floats) -> ContributionSums:
        """Return the CONTRIBUTIONS of rows, (estimates, rows), summed over sentences and over equal
        pairs.
        """
        parts = [
            contributions,
            self._by_sentence.add(contributions),
            self._by_two_sentences.add(contributions),
        ]
        return ContributionSums(shared=self, values=np.concatenate(parts, axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class ContributionSums:
    """Contributions of rows to several estimates, with their sums; linear, so that differences and
    means reuse them.
    """

    shared: SharedSentences
    values: Floats  # (estimates, rows + sentences + pairs of sentences)

    def combine(self, weights: Floats) -> ContributionSums:
        """Linear combinations of the estimates; weights: (combinations, estimates)."""
        return replace(self, values=combine_estimates(weights, self.values))

    def centred(self) -> ContributionSums:
        """The estimates less their mean."""
        return replace(self, values=self.values - self.values.mean(axis=0))

    def variances(self) -> Floats:
        """The dyadic-robust variances with their bias by centring removed, or the independent ones
        where these are larger; (estimates,).

        Contributions that sum to zero within a group understate D by the share of linked rows.
        """
        shared = self.shared
        ends = np.cumsum([shared.rows, shared.sentences])
        rows, sentences, pairs = np.split(self.values, ends, axis=1)
        dyadic = np.einsum("es,es->e", sentences, sentences) - np.einsum("et,et->e", pairs, pairs)
        linked = _mean_share(shared._linked_share, rows, shared.group)
        independent = independent_variances(rows, shared.group)
        variances: Floats = np.maximum(dyadic / (1 - linked), independent)
        return variances


def independent_variances(rows: Floats, group: RowPositions) -> Floats:
    """Return the variances of sums over independent ROWS, (estimates, rows), which are centred
    within each GROUP, (rows,); (estimates,).
    """
    squares = np.einsum("er,er->e", rows, rows)
    variances: Floats = squares / (1 - _mean_share(1 / np.bincount(group), rows, group))
    return variances


def _mean_share(shares: Floats, rows: Floats, group: RowPositions) -> Floats:
    """Return the mean of the groups' SHARES, (groups,), weighted by the part of the sum of squared
    ROWS that each has; (estimates,).
    """
    if len(shares) == 1:
        return np.minimum(np.repeat(shares, len(rows)), 0.5)
    starts = np.flatnonzero(np.diff(group, prepend=-1))  # rows of a group are together, in order
    group_squares = np.add.reduceat(rows**2, starts, axis=1)
    squares = np.einsum("er,er->e", rows, rows)
    return np.minimum(quotient(group_squares @ shares, squares, where=squares > 0), 0.5)


def combine_estimates(weights: Floats, values: Floats) -> Floats:
    """Return WEIGHTS @ VALUES without products by zero, and to the last digit the same whatever
    else is combined beside it.
    """
    sums = np.zeros((len(weights), values.shape[1]))
    for row, weight in zip(sums, weights, strict=True):
        for member in np.flatnonzero(weight).tolist():
            row += weight[member] * values[member]
    return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Sums over rows that have the same key."""

    places: Ids  # rows in the order of their keys
    starts: RowPositions
    sizes: RowPositions

    @classmethod
    def of(cls, keys: Ids, rows: RowPositions) -> _Sums:
        """Build from the KEYS of rows, which are numbers from 0 without a gap."""
        sizes = np.bincount(keys)
        # of 16 bits this is quick
        order = np.argsort(keys.astype(np.min_scalar_type(len(sizes))), kind="stable")
        return cls(
            places=rows[order].astype(np.min_scalar_type(rows.max(initial=0))),
            starts=np.cumsum(sizes) - sizes,
            sizes=sizes,
        )

    def count_linked(self, group: RowPositions, groups: int) -> RowPositions:
        """Count the ordered pairs of rows of one GROUP that have the same key, once for each key;
        (groups,).
        """
        keys = np.repeat(np.arange(len(self.sizes)), self.sizes) * groups + group[self.places]
        distinct_keys, counts = np.unique(keys, return_counts=True)
        return np.bincount(distinct_keys % groups, weights=counts**2, minlength=groups).astype(
            np.intp
        )

    def add(self, contributions: Floats) -> Floats:
        """Return the sums of CONTRIBUTIONS, (estimates, rows), over the rows of each key."""
        sums: Floats = np.add.reduceat(contributions[:, self.places], self.starts, axis=1)
        return sums
