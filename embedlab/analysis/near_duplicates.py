"""Sentences of a dataset that are nearly the same: those whose weighted words have a high cosine.

A sentence is the set of its lower-case words; a word that df of S sentences contain weighs ln(S / df) + 0.1. Every two sentences with a
cosine of at least 0.3 are found, without comparing each with each: such sentences share a word among the rarest of both, those that
are left when the commonest ones with a joint weight below 0.3 are removed (prefix filtering; Bayardo, Ma & Srikant 2007).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.influence import Floats

LEAST_COSINE = 0.3
METHOD = "words-1"  # of the links that other processes stored; another one for another method
MOST_COMPARISONS = 200_000_000  # beyond it, as for a hundred thousand sentences, words of most sentences do not make candidates
_CANDIDATES_AT_ONCE = 500_000
_WORD = re.compile(r"\w+")
_LEAST_WEIGHT = 0.1

TextIds = NDArray[np.uint64]
Places = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """Every two of some sentences that are nearly the same, the most similar first."""

    first: Places  # (links,) the place of a sentence
    second: Places
    cosine: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class NearDuplicates:
    """The links between sentences that numbers identify."""

    ids: TextIds  # (sentences,)
    links: Links

    @classmethod
    def none(cls) -> "NearDuplicates":
        """Build for sentences of which nothing is known but whether they are equal."""
        nothing = np.zeros(0, np.int32)
        return cls(ids=np.zeros(0, np.uint64), links=Links(first=nothing, second=nothing, cosine=np.zeros(0, np.float32)))

    @classmethod
    def joined(cls, parts: "Sequence[NearDuplicates]") -> "NearDuplicates":
        """Build from those of several datasets."""
        offsets = np.cumsum([0, *(len(part.ids) for part in parts)])
        first, second = (
            np.concatenate([getattr(part.links, side) + np.int32(offset) for part, offset in zip(parts, offsets, strict=False)])
            for side in ("first", "second")
        )
        cosine = np.concatenate([part.links.cosine for part in parts])
        order = np.argsort(-cosine, kind="stable")
        links = Links(first=first[order], second=second[order], cosine=cosine[order])
        return cls(ids=np.concatenate([part.ids for part in parts]), links=links)


FindLinks = Callable[[tuple[str, ...]], Links]


@lru_cache(maxsize=64)
def links_of(sentences: tuple[str, ...]) -> Links:
    """Return the links between SENTENCES, which are distinct; found once in a process for the same ones."""
    return similar_pairs(sentences)


def near_duplicates(ids: TextIds, sentences: Sequence[str], find: FindLinks = links_of) -> NearDuplicates:
    """Return which of the SENTENCES of one dataset are nearly the same; equal ones have equal IDS, and are one. FIND finds their links."""
    _, places = np.unique(ids, return_index=True)
    places.sort()  # links of the same cosine are in the order of the dataset
    distinct = tuple(sentences[place] for place in places.tolist())
    return NearDuplicates(ids=ids[places], links=find(distinct))


def similar_pairs(sentences: Sequence[str]) -> Links:
    """Return every two similar SENTENCES, the first before the second."""
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
    return Links(first=first[near].astype(np.int32), second=second[near].astype(np.int32), cosine=cosine[near].astype(np.float32))


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
