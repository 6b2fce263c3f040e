"""Sentences of a dataset that are nearly the same: those whose weighted words have a high cosine.

A sentence is the set of its lower-case words; a word that df of S sentences contain weighs ln(S / df) + 0.1. Every two sentences with a
cosine of at least 0.3 are found, without comparing each with each: such sentences share a word among the rarest of both, those that
are left when the commonest ones with a joint weight below 0.3 are removed (prefix filtering; Bayardo, Ma & Srikant 2007).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.influence import Floats

LEAST_COSINE = 0.3
MOST_COMPARISONS = 200_000_000  # beyond it, as for a hundred thousand sentences, words of most sentences do not make candidates
_CANDIDATES_AT_ONCE = 500_000
_WORD = re.compile(r"\w+")
_LEAST_WEIGHT = 0.1

TextIds = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True, eq=False)
class NearDuplicates:
    """Every two sentences that are nearly the same, the most similar first; sentences are identified by numbers."""

    first: TextIds  # (links,)
    second: TextIds
    cosine: Floats

    @classmethod
    def none(cls) -> "NearDuplicates":
        """Build for sentences of which nothing is known but whether they are equal."""
        return cls(first=np.zeros(0, np.uint64), second=np.zeros(0, np.uint64), cosine=np.zeros(0))

    @classmethod
    def joined(cls, parts: "Sequence[NearDuplicates]") -> "NearDuplicates":
        """Build from those of several datasets."""
        first, second, cosine = (np.concatenate([getattr(part, name) for part in parts]) for name in ("first", "second", "cosine"))
        order = np.argsort(-cosine, kind="stable")
        return cls(first=first[order], second=second[order], cosine=cosine[order])


def near_duplicates(ids: TextIds, sentences: Sequence[str]) -> NearDuplicates:
    """Return which of the SENTENCES of one dataset are nearly the same; equal ones have equal IDS, and are one.

    Found once in a process for the same sentences.
    """
    _, places = np.unique(ids, return_index=True)
    places.sort()  # links of the same cosine are in the order of the dataset
    return _found(tuple(ids[places].tolist()), tuple(sentences[place] for place in places.tolist()))


@lru_cache(maxsize=64)
def _found(ids: tuple[int, ...], sentences: tuple[str, ...]) -> NearDuplicates:
    first, second, cosine = similar_pairs(sentences)
    numbers = np.array(ids, dtype=np.uint64)
    return NearDuplicates(first=numbers[first], second=numbers[second], cosine=cosine)


def similar_pairs(sentences: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return the places of every two similar sentences, the first before the second, and their cosines; the most similar first."""
    from scipy.sparse import csr_matrix, triu

    words: dict[str, int] = {}
    own = [sorted({words.setdefault(word, len(words)) for word in _WORD.findall(sentence.lower())}) for sentence in sentences]
    sizes = np.array([len(one) for one in own], dtype=np.intp)
    column = np.fromiter((word for one in own for word in one), np.intp, sizes.sum())
    row = np.repeat(np.arange(len(own)), sizes)
    frequency = np.bincount(column, minlength=len(words))
    weight = (np.log(len(own) / np.maximum(frequency, 1)) + _LEAST_WEIGHT)[column]
    weight /= np.sqrt(np.bincount(row, weights=weight**2, minlength=len(own)))[row]
    vectors = csr_matrix((weight, (row, column)), shape=(len(own), len(words)))
    is_rare = _is_in_prefix(row, column, weight, frequency, sizes)
    work = np.bincount(column[is_rare], minlength=len(words)).astype(np.float64) ** 2
    order = np.argsort(work, kind="stable")
    is_cheap = np.zeros(len(words), dtype=bool)
    is_cheap[order[: int(np.searchsorted(np.cumsum(work[order]), MOST_COMPARISONS))]] = True
    used = is_rare & is_cheap[column]
    rare = csr_matrix((np.ones(int(used.sum()), np.int32), (row[used], column[used])), shape=vectors.shape)
    candidates = triu(rare @ rare.T, k=1).tocoo()
    first, second = candidates.row.astype(np.intp), candidates.col.astype(np.intp)
    starts = range(0, len(first), _CANDIDATES_AT_ONCE)
    cosines = [_dots(vectors, first[start : start + _CANDIDATES_AT_ONCE], second[start : start + _CANDIDATES_AT_ONCE]) for start in starts]
    cosine = np.concatenate([np.zeros(0), *cosines]).round(9)  # so that the order of equal ones does not hang on sums' last digits
    near = np.flatnonzero(cosine >= LEAST_COSINE)
    near = near[np.lexsort((second[near], first[near], -cosine[near]))]
    return first[near], second[near], cosine[near]


def _is_in_prefix(
    row: NDArray[np.intp], column: NDArray[np.intp], weight: Floats, frequency: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which entries remain when each sentence loses the commonest words whose joint length stays below the least cosine."""
    order = np.lexsort((column, -frequency[column], row))  # the commonest word first in each sentence
    squares = np.cumsum(weight[order] ** 2)
    before = np.concatenate([[0.0], squares])[np.cumsum(sizes) - sizes]
    keep = np.empty(len(row), dtype=bool)
    keep[order] = squares - np.repeat(before, sizes) >= LEAST_COSINE**2 - 1e-9
    return keep


def _dots(vectors: Any, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    """Return the product of each two rows of a sparse matrix."""
    found: Floats = np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1)).ravel()
    return found
