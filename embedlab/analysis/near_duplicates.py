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
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.overlap import WordSets, digest_sentences, row_products

if TYPE_CHECKING:
    from embedlab.analysis.influence import Floats

LEAST_COSINE = 0.3
METHOD = "words-1"  # of the links that other processes stored; another one for another method
# beyond it, as for a hundred thousand sentences, words of most sentences do not make candidates
MOST_COMPARISONS = 200_000_000
_COMPARISONS_AT_ONCE = 4_000_000
_MOST_REMEMBERED = 64
_GROUPS = 16  # of the commonest words
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
    rows = np.repeat(np.arange(len(words.sizes)), words.sizes)  # of each word of each sentence
    frequency = words.occurrences()
    weight = (np.log(len(sentences) / np.maximum(frequency, 1)) + _LEAST_WEIGHT)[words.numbers]
    lengths = np.sqrt(np.bincount(rows, weights=weight**2, minlength=len(words.sizes)))
    parts = weight / lengths[rows]  # of a unit vector
    vectors = words.matrix(parts)
    makes_candidates = _rarest(words, rows, parts, frequency)
    comparisons = words.occurrences(makes_candidates).astype(np.float64) ** 2
    is_cheap = _cheapest(comparisons, MOST_COMPARISONS)
    makes_candidates &= is_cheap[words.numbers]
    # what costs no more than these do besides; the other words are the commonest
    spent = max(float(comparisons[is_cheap].sum()), _COMPARISONS_AT_ONCE)
    is_common = ~_cheapest(frequency.astype(np.float64) ** 2, spent)[words.numbers]
    used_parts = np.where(makes_candidates | ~is_common, parts, 0).astype(np.float32)
    uncommon = words.matrix(used_parts).copy()  # the words' own numbers stay as they are
    uncommon.eliminate_zeros()
    del weight, used_parts  # of millions of words
    # also of common words in these vectors: they may not be in those of the other sentence
    common_lengths = np.empty((_GROUPS, len(lengths)), np.float32)
    for group in range(_GROUPS):
        squares = np.where(is_common & (words.numbers % _GROUPS == group), parts**2, 0)
        common_lengths[group] = np.sqrt(np.bincount(rows, squares, minlength=len(lengths)))
    del rows, squares, is_common
    near_pairs = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))]
    for first, second in _candidates(uncommon, common_lengths):
        # rounded, so that the order of equal ones does not hang on sums' last digits
        cosine = row_products(vectors, first, second).round(9)
        is_near = cosine >= LEAST_COSINE
        near_pairs.append((first[is_near], second[is_near], cosine[is_near]))
    first, second, cosine = map(np.concatenate, zip(*near_pairs, strict=True))
    if not is_cheap.all():  # some that are similar share no word that makes candidates
        candidate_words = words.matrix(makes_candidates.astype(np.int8))
        has_shared_word = row_products(candidate_words, first, second) > 0
        first = first[has_shared_word]
        second = second[has_shared_word]
        cosine = cosine[has_shared_word]
    order = np.lexsort((second, first, -cosine))
    return Links(first=first[order], second=second[order], cosine=cosine[order].astype(np.float32))


def _cheapest(costs: Floats, limit: float) -> NDArray[np.bool_]:
    """Return the words that together cost at most LIMIT comparisons; COSTS has those of each word;
    (words,).
    """
    order = np.argsort(costs, kind="stable")
    is_cheap = np.zeros(len(costs), dtype=bool)
    is_cheap[order[: int(np.searchsorted(np.cumsum(costs[order]), limit))]] = True
    return is_cheap


def _rarest(
    words: WordSets, rows: NDArray[np.intp], parts: Floats, frequency: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which words of each sentence remain when it loses its commonest ones whose joint
    length stays below the least cosine; PARTS are those of the unit vectors.
    """
    by_frequency = np.argsort(-frequency, kind="stable")  # the commonest word first
    rank = np.empty(words.distinct, np.intp)
    rank[by_frequency] = np.arange(words.distinct)
    order = np.argsort(rows * words.distinct + rank[words.numbers])
    squares = np.cumsum(parts[order] ** 2)
    sum_before = np.append(0.0, squares)[words.starts[:-1]]
    is_rare = np.zeros(len(parts), dtype=bool)
    is_rare[order] = squares - sum_before[rows] >= LEAST_COSINE**2 - 1e-9
    return is_rare


def _candidates(
    vectors: Any, common_lengths: NDArray[np.float32]
) -> Iterator[tuple[Places, Places]]:
    """Yield the sentences that can be nearly the same, some at a time, a sentence before the other.

    The product of their VECTORS and what their common words add at most, the product of the LENGTHS
    of these in each group (Cauchy and Schwarz), together reach the least cosine. Sentences are
    compared with those that come after the first of their part.
    """
    whole = np.sqrt((common_lengths**2).sum(axis=0))
    edges = np.linspace(0, vectors.shape[0], _PARTS + 1).astype(np.intp)
    for begin, end in pairwise(edges.tolist()):
        later_vectors = vectors[begin:].T.tocsr()
        word_numbers = vectors[begin:end].indices
        ends = np.cumsum(np.diff(later_vectors.indptr)[word_numbers])  # of the words' comparisons
        counts = np.append(0, ends)[vectors.indptr[begin : end + 1] - vectors.indptr[begin]]
        for start, stop in pairwise(_block_edges(counts).tolist()):
            rows = np.arange(begin + start, begin + stop, dtype=np.int32)
            products = vectors[begin + start : begin + stop] @ later_vectors
            first = np.repeat(rows, np.diff(products.indptr))
            second = products.indices + np.int32(begin)
            most = products.data + whole[first] * whole[second]
            can_reach = np.flatnonzero((second > first) & (most >= LEAST_COSINE - _ROUNDING))
            first = first[can_reach]
            second = second[can_reach]
            most = products.data[can_reach]
            for lengths in common_lengths:
                most += lengths[first] * lengths[second]
            is_candidate = most >= LEAST_COSINE - _ROUNDING
            yield first[is_candidate], second[is_candidate]


def _block_edges(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where blocks of rows begin and end, of so many comparisons at once, or of a single
    row; COUNTS has the comparisons before each row, and those of all.
    """
    limits = np.arange(0, counts[-1], _COMPARISONS_AT_ONCE)
    return np.unique([*np.searchsorted(counts, limits), 0, len(counts) - 1])
