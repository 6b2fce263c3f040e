"""Sentences of a dataset that are nearly the same: those whose weighted words have a high cosine.

A sentence is the set of its lower-case words; a word that df of S sentences contain weighs ln(S / df) + 0.1. Every two sentences with a
cosine of at least 0.3 are found, without comparing each with each: such sentences share a word among the rarest of both, those that
are left when the commonest ones with a joint weight below 0.3 are removed (prefix filtering; Bayardo, Ma & Srikant 2007). The cosine is
computed of those alone whose product over all but the commonest words, with the most that these can add, reaches 0.3.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.influence import Floats
from embedlab.analysis.word_sets import WordSets

LEAST_COSINE = 0.3
METHOD = "words-1"  # of the links that other processes stored; another one for another method
MOST_COMPARISONS = 200_000_000  # beyond it, as for a hundred thousand sentences, words of most sentences do not make candidates
_CANDIDATES_AT_ONCE = 500_000
_COMPARISONS_AT_ONCE = 4_000_000
_ENTRIES_AT_ONCE = 2_000_000
_LEAST_WEIGHT = 0.1
_ROUNDING = 1e-4  # more than sums of float32 are wrong by

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
            np.concatenate([getattr(duplicates.links, side) + np.int32(offset) for duplicates, offset in zip(parts, offsets, strict=False)])
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


def near_duplicates(ids: TextIds, sentences: pl.Series, find: FindLinks = links_of) -> NearDuplicates:
    """Return which of the SENTENCES of one dataset are nearly the same; equal ones have equal IDS, and are one. FIND finds their links."""
    _, places = np.unique(ids, return_index=True)
    places.sort()  # links of the same cosine are in the order of the dataset
    return NearDuplicates(ids=ids[places], links=find(tuple(sentences.gather(places).to_list())))


def similar_pairs(sentences: Sequence[str]) -> Links:
    """Return every two similar SENTENCES, the first before the second."""
    from scipy.sparse import csr_matrix

    words = WordSets.of(pl.Series(sentences, dtype=pl.String))
    frequency = np.bincount(words.numbers, minlength=words.distinct)
    weight = np.log(len(sentences) / np.maximum(frequency, 1)) + _LEAST_WEIGHT
    values, (row, column) = _unit_weights(words, weight), _rare_entries(words, frequency, weight)
    work = np.bincount(column, minlength=words.distinct).astype(np.float64) ** 2
    order = np.argsort(work, kind="stable")
    is_cheap = np.zeros(words.distinct, dtype=bool)
    is_cheap[order[: int(np.searchsorted(np.cumsum(work[order]), MOST_COMPARISONS))]] = True
    used, shape = is_cheap[column], (len(sentences), words.distinct)
    rare = csr_matrix((np.ones(int(used.sum()), np.int8), (row[used], column[used])), shape=shape)
    vectors = csr_matrix((values, words.numbers, words.starts), shape=shape)
    is_uncommon = _uncommon(frequency, float(work[is_cheap].sum()))
    parts = [_near(vectors, *candidates) for candidates in _candidates(*_without_common(vectors, rare, is_uncommon))]
    first, second, cosine = (np.concatenate([part[side] for part in parts]) for side in range(3))
    if not is_cheap.all():  # some that are similar share no word that makes candidates
        shares = _dots(rare, first, second) > 0
        first, second, cosine = first[shares], second[shares], cosine[shares]
    order = np.lexsort((second, first, -cosine))
    return Links(first=first[order], second=second[order], cosine=cosine[order].astype(np.float32))


def _blocks(sizes: NDArray[Any], most: int) -> Iterator[slice]:
    """Yield rows in order, so many at once that their SIZES sum to at most MOST, or a single one; at least one slice, if of nothing."""
    ends, start = np.cumsum(sizes), 0
    while True:
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, min(stop, len(sizes)))
        if stop >= len(sizes):
            return
        start = stop


def _unit_weights(words: WordSets, weight: Floats) -> Floats:
    """Return the weight of each word of each sentence, so that the squares of a sentence sum to 1."""
    weights = weight[words.numbers]
    for rows in _blocks(words.sizes, _ENTRIES_AT_ONCE):
        sizes = words.sizes[rows]
        block = weights[words.starts[rows.start] : words.starts[rows.stop]]
        row = np.repeat(np.arange(len(sizes)), sizes)
        block /= np.sqrt(np.bincount(row, weights=block**2, minlength=len(sizes)))[row]
    return weights


def _rare_entries(words: WordSets, frequency: NDArray[np.intp], weight: Floats) -> tuple[Places, Places]:
    """Return sentences and words: those that remain when each loses its commonest words whose joint length stays below the least cosine."""
    by_rank = np.lexsort((np.arange(words.distinct), -frequency))  # the commonest word first
    rank = np.empty(words.distinct, np.int64)
    rank[by_rank] = np.arange(words.distinct)
    rows, columns = [], []
    for block in _blocks(words.sizes, _ENTRIES_AT_ONCE):
        sizes = words.sizes[block]
        numbers = words.numbers[words.starts[block.start] : words.starts[block.stop]]
        row = np.repeat(np.arange(len(sizes)), sizes)
        length = np.sqrt(np.bincount(row, weights=weight[numbers] ** 2, minlength=len(sizes)))
        column = by_rank[np.sort(row * words.distinct + rank[numbers]) - row * words.distinct]
        squares = np.cumsum((weight[column] / length[row]) ** 2)
        before = np.concatenate([[0.0], squares])[np.cumsum(sizes) - sizes]
        is_rare = squares - np.repeat(before, sizes) >= LEAST_COSINE**2 - 1e-9
        rows.append((row[is_rare] + block.start).astype(np.int32))
        columns.append(column[is_rare].astype(np.int32))
    return np.concatenate(rows), np.concatenate(columns)


def _uncommon(frequency: NDArray[np.intp], comparisons: float) -> NDArray[np.bool_]:
    """Return which words are not among the commonest, so that sentences that share one are not many more than COMPARISONS; (words,)."""
    work = frequency.astype(np.float64) ** 2
    order = np.argsort(work, kind="stable")
    is_uncommon = np.zeros(len(work), dtype=bool)
    is_uncommon[order[: int(np.searchsorted(np.cumsum(work[order]), max(comparisons, _COMPARISONS_AT_ONCE)))]] = True
    return is_uncommon


def _without_common(vectors: Any, rare: Any, is_uncommon: NDArray[np.bool_]) -> tuple[Any, NDArray[np.float32]]:
    """Return VECTORS without the entries of the commonest words that are not among the RARE, and the length of the commonest in each."""
    rare.sort_indices()
    sizes, width = np.diff(vectors.indptr), vectors.shape[1]
    length, left, data, indices = np.empty(len(sizes), np.float32), np.zeros(len(sizes), np.int64), [], []
    for rows in _blocks(sizes, _ENTRIES_AT_ONCE):
        entries = slice(vectors.indptr[rows.start], vectors.indptr[rows.stop])
        words, weights, count = vectors.indices[entries], vectors.data[entries], rows.stop - rows.start
        row = np.repeat(np.arange(count), sizes[rows])
        is_common = ~is_uncommon[words]
        length[rows] = np.sqrt(np.bincount(row, weights=np.where(is_common, weights**2, 0), minlength=count))
        stays = ~is_common | _is_in(row * width + words, rare[rows])
        left[rows] = np.bincount(row[stays], minlength=count)
        data.append(weights[stays].astype(np.float32))
        indices.append(words[stays])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(left)])
    return type(vectors)((np.concatenate(data), np.concatenate(indices), starts), shape=vectors.shape), length


def _is_in(keys: NDArray[np.int64], matrix: Any) -> NDArray[np.bool_]:
    """Return which KEYS, numbers of rows and columns together, are entries of a sparse MATRIX with sorted columns."""
    there = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * matrix.shape[1] + matrix.indices
    if not len(there):
        return np.zeros(len(keys), dtype=bool)
    is_there: NDArray[np.bool_] = there[np.minimum(np.searchsorted(there, keys), len(there) - 1)] == keys
    return is_there


def _candidates(vectors: Any, common: NDArray[np.float32]) -> Iterator[tuple[Places, Places]]:
    """Yield the sentences that can be nearly the same, some at a time, a sentence before the other.

    Their product over VECTORS and the COMMON lengths, which bound what is not in them, together reach the least cosine.
    """
    others = vectors.T.tocsr()
    counts = np.append(0, np.cumsum(np.diff(others.indptr)[vectors.indices], dtype=np.int64))
    for rows in _blocks(np.diff(counts[vectors.indptr]), _COMPARISONS_AT_ONCE):
        products = vectors[rows] @ others
        first = np.repeat(np.arange(rows.start, rows.stop, dtype=np.int32), np.diff(products.indptr))
        second = products.indices
        can = (second > first) & (products.data + common[first] * common[second] >= LEAST_COSINE - _ROUNDING)
        yield first[can], second[can]


def _near(vectors: Any, first: Places, second: Places) -> tuple[Places, Places, Floats]:
    """Return those of some sentences, two by two, that are nearly the same, and their cosines."""
    starts = range(0, len(first), _CANDIDATES_AT_ONCE)
    cosines = [_dots(vectors, first[start : start + _CANDIDATES_AT_ONCE], second[start : start + _CANDIDATES_AT_ONCE]) for start in starts]
    cosine = np.concatenate([np.zeros(0), *cosines]).round(9)  # so that the order of equal ones does not hang on sums' last digits
    near = cosine >= LEAST_COSINE
    return first[near].astype(np.int32), second[near].astype(np.int32), cosine[near]


def _dots(vectors: Any, first: NDArray[np.integer], second: NDArray[np.integer]) -> Floats:
    """Return the product of each two rows of a sparse matrix."""
    dots: Floats = np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1)).ravel()
    return dots
