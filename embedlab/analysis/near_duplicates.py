"""Sentences of a dataset that are nearly the same: those whose weighted words have a high cosine.

A sentence is the set of its lower-case words; a word that df of S sentences contain weighs ln(S /
df) + 0.1. Every two sentences with a cosine of at least 0.3 are found, without comparing each with
each: such sentences share a word among the rarest of both, those that are left when the commonest
ones with a joint weight below 0.3 are removed (prefix filtering; Bayardo, Ma & Srikant 2007). The
cosine is computed of those alone whose product over all but the commonest words, with the most that
these can add, reaches 0.3: the product of their lengths in groups of these words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.overlap import WordSets, digest_sentences

if TYPE_CHECKING:
    from embedlab.analysis.influence import Floats

LEAST_COSINE = 0.3
METHOD = "words-1"  # of the links that other processes stored; another one for another method
# beyond it, as for a hundred thousand sentences, words of most sentences do not make candidates
MOST_COMPARISONS = 200_000_000
_CANDIDATES_AT_ONCE = 500_000
_COMPARISONS_AT_ONCE = 4_000_000
_ENTRIES_AT_ONCE = 2_000_000
_BOUNDS_AT_ONCE = 100_000
_MOST_REMEMBERED = 64
_GROUPS, _ALONE = 32, 8  # of the commonest words; of the very commonest each is one
_PARTS = 8  # of the sentences, each compared with what follows its beginning
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
    def none(cls) -> NearDuplicates:
        """Build for sentences of which nothing is known but whether they are equal."""
        no_index = np.zeros(0, np.int32)
        return cls(
            ids=np.zeros(0, np.uint64),
            links=Links(first=no_index, second=no_index, cosine=np.zeros(0, np.float32)),
        )

    @classmethod
    def joined(cls, parts: Sequence[NearDuplicates]) -> NearDuplicates:
        """Build from those of several datasets, or of none; the same ones count once."""
        parts = [*{id(part): part for part in parts if len(part.ids)}.values()]
        if len(parts) < 2:
            return parts[0] if parts else cls.none()
        offset = np.int32(0)
        firsts = []
        seconds = []
        for part in parts:
            firsts.append(part.links.first + offset)
            seconds.append(part.links.second + offset)
            offset += np.int32(len(part.ids))
        first = np.concatenate(firsts)
        second = np.concatenate(seconds)
        cosine = np.concatenate([part.links.cosine for part in parts])
        order = np.argsort(-cosine, kind="stable")
        links = Links(first=first[order], second=second[order], cosine=cosine[order])
        return cls(ids=np.concatenate([part.ids for part in parts]), links=links)


FindLinks = Callable[[pl.Series], Links]
_remembered: dict[str, Links] = {}


def find_near_links(sentences: pl.Series, find: FindLinks | None = None) -> Links:
    """Return the links between SENTENCES, which are distinct, as FIND gives them, or computed; once
    in a process for the same ones, of which it remembers 64.
    """
    key = links_key(sentences)
    links = _remembered.get(key)
    if links is None:
        links = _remembered[key] = (find or similar_pairs)(sentences)
        for oldest in list(_remembered)[:-_MOST_REMEMBERED]:
            _remembered.pop(oldest, None)
    return links  # what another thread forgets meanwhile is returned all the same


def links_key(sentences: pl.Series) -> str:
    """Return what identifies SENTENCES in this order, and the method that finds their links."""
    return digest_sentences(sentences, f"{METHOD} {LEAST_COSINE}\0")


def near_duplicates(
    ids: TextIds, sentences: pl.Series, find: FindLinks | None = None
) -> NearDuplicates:
    """Return which of the SENTENCES of one dataset are nearly the same; equal ones have equal IDS,
    and are one. FIND finds their links.
    """
    first_rows = np.unique(ids, return_index=True)[1]
    first_rows.sort()  # links of the same cosine are in the order of the dataset
    ids = ids[first_rows]
    sentences = sentences.gather(first_rows)
    return NearDuplicates(ids=ids, links=find_near_links(sentences, find))


def similar_pairs(sentences: Sequence[str] | pl.Series) -> Links:
    """Return every two similar SENTENCES, the first before the second."""
    words = WordSets.of(pl.Series(sentences, dtype=pl.String))
    frequency = _occurrences(words, np.ones(len(words.numbers), dtype=bool))
    weighted = _Weighted.of(
        words, np.log(len(sentences) / np.maximum(frequency, 1)) + _LEAST_WEIGHT
    )
    by_rank = np.lexsort((np.arange(words.distinct), -frequency))  # the commonest word first
    rank = np.empty(words.distinct, np.int32)
    rank[by_rank] = np.arange(words.distinct)
    is_rare = _rare_entries(weighted, rank)
    comparisons = _occurrences(words, is_rare).astype(np.float64) ** 2
    is_cheap = _cheapest(comparisons, MOST_COMPARISONS)
    is_rare &= is_cheap[words.numbers]
    is_uncommon = _cheapest(
        frequency.astype(np.float64) ** 2,
        max(float(comparisons[is_cheap].sum()), _COMPARISONS_AT_ONCE),
    )
    del comparisons, by_rank, frequency
    parts = [
        _near_pairs(weighted, *candidates)
        for candidates in _candidates(*_without_common(weighted, is_rare, is_uncommon, rank))
    ]
    first, second, cosine = (np.concatenate([part[side] for part in parts]) for side in range(3))
    if not is_cheap.all():  # some that are similar share no word that makes candidates
        shares = _have_common_word(words, is_rare, first, second)
        first = first[shares]
        second = second[shares]
        cosine = cosine[shares]
    order = np.lexsort((second, first, -cosine))
    return Links(first=first[order], second=second[order], cosine=cosine[order].astype(np.float32))


def _blocks(sizes: NDArray[Any], limit: int) -> Iterator[slice]:
    """Yield rows in order, so many at once that their SIZES sum to at most LIMIT, or a single one;
    at least one slice, if of nothing.
    """
    ends = np.cumsum(sizes)
    start = 0
    while True:
        offset = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, offset + limit, side="right")), start + 1)
        yield slice(start, min(stop, len(sizes)))
        if stop >= len(sizes):
            return
        start = stop


@dataclass(frozen=True, kw_only=True, eq=False)
class _Weighted:
    """The words of sentences with their weights; very many sentences take a few bytes a word, and
    numbers are computed where needed.
    """

    words: WordSets
    has_word: Any  # (sentences, words), sparse
    weight: Floats  # (words,)
    length: Floats  # (sentences,) the root of the sum of the squared weights of its words

    @classmethod
    def of(cls, words: WordSets, weight: Floats) -> Self:
        length = np.zeros(len(words.sizes))
        for rows, row, numbers in _entries(words):
            length[rows] = np.sqrt(
                np.bincount(row, weights=weight[numbers] ** 2, minlength=rows.stop - rows.start)
            )
        return cls(words=words, has_word=words.matrix(), weight=weight, length=length)

    def vectors(self, rows: NDArray[np.intp]) -> Any:
        """Return the unit vectors of some sentences; (rows, words), sparse."""
        vectors = self.has_word[rows].astype(np.float64)
        lengths = np.repeat(self.length[rows], np.diff(vectors.indptr))
        vectors.data = self.weight[vectors.indices] / lengths
        return vectors


def _starts(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _entries(words: WordSets) -> Iterator[tuple[slice, NDArray[np.intp], NDArray[np.int32]]]:
    """Yield sentences in order, some at a time: which they are, and the row among them and the
    number of each of their words.
    """
    for rows in _blocks(words.sizes, _ENTRIES_AT_ONCE):
        sizes = words.sizes[rows]
        yield (
            rows,
            np.repeat(np.arange(len(sizes)), sizes),
            words.numbers[words.starts[rows.start] : words.starts[rows.stop]],
        )


def _occurrences(words: WordSets, counts: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return how many of the entries that COUNT each word has; (words,)."""
    return np.bincount(words.numbers[counts], minlength=words.distinct)


def _cheapest(costs: Floats, limit: float) -> NDArray[np.bool_]:
    """Return the words that together cost at most LIMIT comparisons; COSTS has those of each word;
    (words,).
    """
    order = np.argsort(costs, kind="stable")
    is_cheap = np.zeros(len(costs), dtype=bool)
    is_cheap[order[: int(np.searchsorted(np.cumsum(costs[order]), limit))]] = True
    return is_cheap


def _rare_entries(weighted: _Weighted, rank: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which words of each sentence remain when it loses its commonest ones whose joint
    length stays below the least cosine.

    RANK has the place of each word, the commonest first.
    """
    words = weighted.words
    is_rare = np.zeros(len(weighted.words.numbers), dtype=bool)
    for block, row, numbers in _entries(words):
        sizes = words.sizes[block]
        order = np.argsort(row * words.distinct + rank[numbers])
        squares = np.cumsum((weighted.weight[numbers[order]] / weighted.length[block][row]) ** 2)
        sum_before = np.concatenate([[0.0], squares])[np.cumsum(sizes) - sizes]
        is_rare[words.starts[block.start] + order] = (
            squares - np.repeat(sum_before, sizes) >= LEAST_COSINE**2 - 1e-9
        )
    return is_rare


@dataclass(frozen=True, kw_only=True, eq=False)
class _Common:
    """Bounds of what the commonest words, which are not in the vectors of every sentence, add to
    the product of two sentences.

    By Cauchy and Schwarz it is at most the product of their lengths, and the sum of these products
    over groups of words.
    """

    length: NDArray[np.float32]  # (sentences,)
    groups: NDArray[np.uint8]  # (sentences, groups) the length in each group, in 255ths, rounded up

    def reach(
        self, products: NDArray[np.float32], first: Places, second: Places
    ) -> NDArray[np.bool_]:
        """Return which two sentences can be nearly the same, of whose other words the PRODUCTS are;
        (candidates,).
        """
        can_reach = products + self.length[first] * self.length[second] >= LEAST_COSINE - _ROUNDING
        undecided = np.flatnonzero(can_reach)
        for start in range(0, len(undecided), _BOUNDS_AT_ONCE):
            block = undecided[start : start + _BOUNDS_AT_ONCE]
            first_groups, second_groups = (
                self.groups[positions[block]].astype(np.float32) for positions in (first, second)
            )
            upper_bound = products[block] + np.einsum(
                "cg,cg->c", first_groups, second_groups
            ) / np.float32(255 * 255)
            can_reach[block] = upper_bound >= LEAST_COSINE - _ROUNDING
        return can_reach


def _without_common(
    weighted: _Weighted,
    is_used: NDArray[np.bool_],
    is_uncommon: NDArray[np.bool_],
    rank: NDArray[np.int32],
) -> tuple[Any, _Common]:
    """Return the vectors without the entries of the commonest words that are not USED, and bounds
    of these.
    """
    from scipy.sparse import csr_matrix

    words = weighted.words
    is_used_entry = is_used.copy()
    sizes = np.zeros(len(words.sizes), np.int64)
    length = np.zeros(len(sizes), np.float32)
    groups = np.zeros((len(sizes), _GROUPS), np.uint8)
    group_of = np.where(
        rank < _ALONE, rank, _ALONE + (rank - _ALONE) % (_GROUPS - _ALONE)
    )  # the very commonest words have their own
    for rows, row, numbers in _entries(words):
        entries = slice(words.starts[rows.start], words.starts[rows.stop])
        count = rows.stop - rows.start
        is_common = ~is_uncommon[numbers]
        is_used_entry[entries] |= ~is_common
        sizes[rows] = np.bincount(row[is_used_entry[entries]], minlength=count)
        row, numbers = (
            row[is_common],
            numbers[is_common],
        )  # also those that stay: they may not stay in the other sentence
        squares = (weighted.weight[numbers] / weighted.length[rows][row]) ** 2
        length[rows] = np.sqrt(np.bincount(row, weights=squares, minlength=count))
        in_groups = np.bincount(
            row * _GROUPS + group_of[numbers], weights=squares, minlength=count * _GROUPS
        )
        groups[rows] = np.ceil(255 * np.sqrt(in_groups).clip(0, 1)).reshape(count, _GROUPS)
    starts = _starts(sizes)
    data = np.empty(starts[-1], np.float32)
    indices = np.empty(starts[-1], np.int32)
    for rows, row, numbers in _entries(words):
        is_kept = is_used_entry[words.starts[rows.start] : words.starts[rows.stop]]
        entries = slice(starts[rows.start], starts[rows.stop])
        indices[entries] = numbers[is_kept]
        data[entries] = weighted.weight[numbers[is_kept]] / weighted.length[rows][row[is_kept]]
    vectors = csr_matrix((data, indices, starts), shape=(len(sizes), words.distinct))
    return vectors, _Common(length=length, groups=groups)


def _candidates(vectors: Any, common: _Common) -> Iterator[tuple[Places, Places]]:
    """Yield the sentences that can be nearly the same, some at a time, a sentence before the other.

    Their product over VECTORS and what the COMMON words add at most together reach the least
    cosine. Sentences are compared with those that come after the first of their part.
    """
    count = vectors.shape[0]
    edges = (
        np.unique(np.linspace(0, count, _PARTS + 1).astype(np.intp))
        if count
        else np.zeros(2, np.intp)
    )
    for begin, end in pairwise(edges.tolist()):
        block_vectors = (vectors[begin:] if begin else vectors).T.tocsr()
        indices = vectors.indices[vectors.indptr[begin] : vectors.indptr[end]]
        counts = _starts(np.diff(block_vectors.indptr)[indices])[
            vectors.indptr[begin : end + 1] - vectors.indptr[begin]
        ]
        for rows in _blocks(np.diff(counts), _COMPARISONS_AT_ONCE):
            products = vectors[begin + rows.start : begin + rows.stop] @ block_vectors
            first = np.repeat(
                np.arange(begin + rows.start, begin + rows.stop, dtype=np.int32),
                np.diff(products.indptr),
            )
            second = products.indices + np.int32(begin)
            is_after = np.flatnonzero(second > first)
            first = first[is_after]
            second = second[is_after]
            is_candidate = common.reach(products.data[is_after], first, second)
            yield first[is_candidate], second[is_candidate]


def _near_pairs(
    weighted: _Weighted, first: Places, second: Places
) -> tuple[Places, Places, Floats]:
    """Return which pairs of sentences are nearly the same, and their cosines."""
    starts = range(0, len(first), _CANDIDATES_AT_ONCE)
    cosines = [
        _cosines(
            weighted,
            first[start : start + _CANDIDATES_AT_ONCE],
            second[start : start + _CANDIDATES_AT_ONCE],
        )
        for start in starts
    ]
    cosine = np.concatenate([np.zeros(0), *cosines]).round(
        9
    )  # so that the order of equal ones does not hang on sums' last digits
    is_near = cosine >= LEAST_COSINE
    return first[is_near].astype(np.int32), second[is_near].astype(np.int32), cosine[is_near]


def _cosines(weighted: _Weighted, first: Places, second: Places) -> Floats:
    """Return the cosine of each two sentences."""
    rows, positions = np.unique(np.concatenate([first, second]), return_inverse=True)
    vectors = weighted.vectors(rows)
    first_vectors = vectors[positions[: len(first)]]
    second_vectors = vectors[positions[len(first) :]]
    cosines: Floats = first_vectors.multiply(second_vectors).sum(axis=1).A1
    return cosines


def _have_common_word(
    words: WordSets, is_used: NDArray[np.bool_], first: Places, second: Places
) -> NDArray[np.bool_]:
    """Return which two sentences share a word that both USE."""
    uses = words.matrix(is_used.astype(np.int8))
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(first), _CANDIDATES_AT_ONCE):
        sides = (uses[rows[start : start + _CANDIDATES_AT_ONCE]] for rows in (first, second))
        first_uses, second_uses = sides
        counts.append(first_uses.multiply(second_uses).sum(axis=1).A1)
    return np.concatenate(counts) > 0
