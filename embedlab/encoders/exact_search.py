"""The ranks of relevant documents among all documents, and the first documents of each query,
exactly, in blocks: no document is left out, and memory does not grow with them.

Documents of equal similarity are put in the order that is worst for the model: those that are not
relevant first, then the relevant ones, the least relevant first. A model that gives every document
the same score so gains nothing from the order in which they are read.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import PairScorer, Vectors, similarities, similarity_rows

DOCUMENTS_AT_ONCE = 8_192
QUERIES_AT_ONCE = 512  # 17 MB of float32 with a block of documents
_EXACT_AT_ONCE = 8_192  # pairs whose similarity is computed in float64: 50 MB at 384 dimensions
_ROUNDING = 6e-8  # of a float32
NONE = -1  # the place of a document where a query has fewer
# documents beyond those that are wanted, of which similarities in float32 may have the wrong order
_SPARE = 32

Places = NDArray[np.intp]
Scores = NDArray[np.float32]
Ranks = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Relevant:
    """Which documents are relevant to which queries, and which do not count as candidates of
    one.
    """

    query: Places  # (items,)
    document: Places  # (items,)
    grade: NDArray[np.int64]  # (items,) 1 and more
    excluded: tuple[Places, Places]  # queries and documents; none of these pairs is an item


class Similarities:
    """The similarities of all queries with all documents, a block at a time."""

    first: Sized  # queries
    second: Sized  # documents

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.first)

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.second)

    @property
    def at_once(self) -> int:
        """The number of documents that a block has."""
        return DOCUMENTS_AT_ONCE

    def of(self, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs, exactly; (pairs,)."""
        raise NotImplementedError

    def blocks(
        self, documents: slice
    ) -> Iterator[tuple[slice, Scores, NDArray[np.float32] | None]]:
        """Yield some queries, their similarities with DOCUMENTS, and how inexact those of each
        query may be; None: exact.
        """
        raise NotImplementedError


def relevant_ranks(
    compared: Similarities, relevant: Relevant, progress: ProgressCallback | None = None
) -> Ranks:
    """Return the rank of each relevant document among those of its query, 1 = most similar; what
    ties is in the worst order.
    """
    scores = compared.of(relevant.query, relevant.document)
    counts = np.zeros(len(scores), np.int64)
    for documents in _document_blocks(compared):
        for queries, block, inexact in compared.blocks(documents):
            _exclude(block, relevant.excluded, queries, documents)
            items = np.flatnonzero(
                (relevant.query >= queries.start) & (relevant.query < queries.stop)
            )
            for some in np.split(
                items, range(QUERIES_AT_ONCE, len(items), QUERIES_AT_ONCE)
            ):  # a query may have any number of them
                counts[some] += _at_least(
                    compared,
                    block,
                    inexact,
                    scores[some],
                    relevant.query[some],
                    queries.start,
                    documents,
                )
        if progress is not None:
            progress(documents.stop, compared.documents)
    return in_worst_order(relevant.query, counts, relevant.grade)


def _document_blocks(compared: Similarities) -> Iterator[slice]:
    """Yield the documents in blocks, in order."""
    for start in range(0, compared.documents, compared.at_once):
        yield slice(start, min(start + compared.at_once, compared.documents))


def in_worst_order(query: Places, counts: NDArray[np.int64], grade: NDArray[np.int64]) -> Ranks:
    """Return the ranks of relevant documents by how many candidates of its query are at least as
    similar as each, itself included.

    Those of a query that tie have equal counts, the last rank of all that tie; the more relevant
    come after the less relevant.
    """
    order = np.lexsort((-grade, counts, query))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(query[order]) != 0) | (np.diff(counts[order]) != 0)
    starts = np.flatnonzero(is_new)
    later = np.arange(len(order)) - np.repeat(
        starts, np.diff(np.append(starts, len(order)))
    )  # relevant ones that tie and come after it
    ranks = np.empty(len(order))
    ranks[order] = counts[order] - later
    return ranks


def _exclude(
    block: Scores, excluded: tuple[Places, Places], queries: slice, documents: slice
) -> None:
    """Put the pairs of QUERIES and DOCUMENTS that are EXCLUDED behind all others in the BLOCK of
    their similarities.
    """
    query, document = excluded
    inside = (
        (query >= queries.start)
        & (query < queries.stop)
        & (document >= documents.start)
        & (document < documents.stop)
    )
    block[query[inside] - queries.start, document[inside] - documents.start] = -np.inf


def _at_least(
    compared: Similarities,
    block: Scores,
    inexact: NDArray[np.float32] | None,
    scores: Scores,
    query: Places,
    first: int,
    documents: slice,
) -> NDArray[np.int64]:
    """Return how many DOCUMENTS are at least as similar to the query of each item as its SCORES
    say; close ones are computed exactly.
    """
    rows = block[query - first]
    if inexact is None:
        exact: NDArray[np.int64] = np.count_nonzero(rows >= scores[:, None], axis=1)
        return exact
    margin = inexact[query - first]
    counts: NDArray[np.int64] = np.count_nonzero(rows > (scores + margin)[:, None], axis=1)
    low = (scores - margin)[:, None]
    unsure = np.flatnonzero(np.count_nonzero(rows >= low, axis=1) > counts)
    item, document = np.nonzero(
        (rows[unsure] >= low[unsure]) & (rows[unsure] <= (scores + margin)[unsure, None])
    )
    for start in range(0, len(item), _EXACT_AT_ONCE):
        batch = slice(start, start + _EXACT_AT_ONCE)
        unsure_rows = unsure[item[batch]]
        is_high = (
            compared.of(query[unsure_rows], document[batch] + documents.start)
            >= scores[unsure_rows]
        )
        counts += np.bincount(unsure_rows[is_high], minlength=len(counts))
    return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class OfVectors(Similarities):
    """The similarities of vectors: fast in float32, those that matter again in float64."""

    first: Vectors  # (queries, dim)
    second: Vectors  # (documents, dim)
    similarity: Similarity

    def of(self, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs; (pairs,)."""
        scores = np.empty(len(query), np.float32)
        for start in range(0, len(query), _EXACT_AT_ONCE):
            block = slice(start, start + _EXACT_AT_ONCE)
            scores[block] = similarities(
                self.first[query[block]], self.second[document[block]], self.similarity
            )
        return scores

    def blocks(
        self, documents: slice
    ) -> Iterator[tuple[slice, Scores, NDArray[np.float32] | None]]:
        """Yield some queries, their similarities with DOCUMENTS, and by how much those of each
        query may be inexact.
        """
        second = self.second[documents]
        lengths = _lengths(second)
        if self.similarity == "cosine":
            second = _unit(second, lengths)
            lengths = np.ones(1, np.float32)
        for start in range(0, self.queries, QUERIES_AT_ONCE):
            block = slice(start, min(start + QUERIES_AT_ONCE, self.queries))
            yield block, *self._block(self.first[block], second, lengths.max(initial=0))

    def _block(
        self, first: Vectors, second: Vectors, longest: float
    ) -> tuple[Scores, NDArray[np.float32]]:
        lengths, sums = (
            _lengths(first),
            (first.shape[1] + 32) * _ROUNDING,
        )  # bounds the error of a sum of so many products
        if self.similarity == "cosine":
            return _unit(first, lengths) @ second.T, np.full(len(first), sums, np.float32)
        if self.similarity == "dot":
            return first @ second.T, (sums * lengths * longest).astype(np.float32)
        return similarity_rows(first, second, self.similarity), (sums * (lengths + longest)).astype(
            np.float32
        )


def _lengths(vectors: Vectors) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    return lengths


def _unit(vectors: Vectors, lengths: NDArray[np.float32]) -> Vectors:
    unit: Vectors = (vectors / np.maximum(lengths, np.finfo(np.float32).tiny)[:, None]).astype(
        np.float32, copy=False
    )
    return unit


@dataclass(frozen=True, kw_only=True, eq=False)
class OfTexts(Similarities):
    """The scores that a model without vectors gives pairs of texts."""

    scorer: PairScorer
    first: Sequence[str]  # queries
    second: Sequence[str]  # documents
    progress: ProgressCallback | None = None  # of pairs one by one

    def of(self, query: Places, document: Places) -> Scores:
        """Return the score of each of these pairs; (pairs,)."""
        first, second = (
            [self.first[index] for index in query],
            [self.second[index] for index in document],
        )
        return self._complete(self.scorer.score(first, second, self.progress))

    def blocks(
        self, documents: slice
    ) -> Iterator[tuple[slice, Scores, NDArray[np.float32] | None]]:
        """Yield some queries and their scores with DOCUMENTS, which are exact."""
        second = self.second[documents]
        score_all: Callable[[Sequence[str], Sequence[str]], Scores] = getattr(
            self.scorer, "score_all", self._pair_by_pair
        )
        for start in range(0, self.queries, QUERIES_AT_ONCE):
            block = slice(start, min(start + QUERIES_AT_ONCE, self.queries))
            yield block, score_all(self.first[block], second), None

    def _pair_by_pair(self, first: Sequence[str], second: Sequence[str]) -> Scores:
        scores = self.scorer.score([text for text in first for _ in second], [*second] * len(first))
        return self._complete(scores).reshape(len(first), len(second))

    def _complete(self, scores: Scores) -> Scores:
        if lacking := int(np.isnan(scores).sum()):
            message = (
                f"{self.scorer.name!r} has no score of {lacking} of {len(scores)} pairs of a "
                f"query and a document"
            )
            raise UsageError(
                message, hint="a file of scores needs all of them; models with vectors need no file"
            )
        return scores


class TextIndex(Protocol):
    """Documents that were read before, each of which has a score for any query."""

    def scores(self, query: str) -> Scores:
        """Return the score of each document for a QUERY, higher = nearer; (documents,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OfIndex(Similarities):
    """The scores of an index of all documents, which weighs a text by what the others hold."""

    index: TextIndex
    first: Sequence[str]  # queries
    second: Sequence[str]  # documents

    @property
    def at_once(self) -> int:
        """The number of documents that a block has: all, since a query gives the scores of all of
        them.
        """
        return max(self.documents, 1)

    def of(self, query: Places, document: Places) -> Scores:
        """Return the score of each of these pairs; (pairs,)."""
        scores = np.empty(len(query), np.float32)
        order = np.argsort(query, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
            if len(rows):
                scores[rows] = self.index.scores(self.first[query[rows[0]]])[document[rows]]
        return scores

    def blocks(
        self, documents: slice
    ) -> Iterator[tuple[slice, Scores, NDArray[np.float32] | None]]:
        """Yield some queries and their scores with DOCUMENTS, which are exact."""
        step = max(1, QUERIES_AT_ONCE * DOCUMENTS_AT_ONCE // self.at_once)
        for start in range(0, self.queries, step):
            block = slice(start, min(start + step, self.queries))
            yield (
                block,
                np.stack([self.index.scores(text)[documents] for text in self.first[block]]),
                None,
            )


def first_documents(similarities: Similarities, relevant: Relevant, count: int) -> Places:
    """Return the COUNT most similar documents of each query, in order, and NONE where there are
    fewer; (queries, count).
    """
    wanted = count + _SPARE
    values = np.full((similarities.queries, wanted), -np.inf, np.float32)
    places = np.full((similarities.queries, wanted), NONE, np.intp)
    is_exact = True
    for documents in _document_blocks(similarities):
        numbers = np.arange(documents.start, documents.stop)
        for queries, block, inexact in similarities.blocks(documents):
            is_exact &= inexact is None
            for pairs in (
                relevant.excluded,
                (relevant.query, relevant.document),
            ):  # relevant ones are added below, all of them
                _exclude(block, pairs, queries, documents)
            both = np.concatenate([values[queries], block], axis=1)
            known = np.concatenate([places[queries], np.broadcast_to(numbers, block.shape)], axis=1)
            stays = _highest(both, wanted)
            values[queries], places[queries] = (
                both[stays].reshape(-1, wanted),
                known[stays].reshape(-1, wanted),
            )
    query, column = np.nonzero(np.isfinite(values))
    document = places[query, column]
    score = values[query, column] if is_exact else similarities.of(query, document)
    return in_order(
        np.concatenate([query, relevant.query]),
        np.concatenate([document, relevant.document]),
        np.concatenate([score, similarities.of(relevant.query, relevant.document)]),
        relevant,
        queries=similarities.queries,
        count=count,
    )


def _highest(values: Scores, count: int) -> NDArray[np.bool_]:
    """Return which COUNT values of each row are the highest, of those that tie the first."""
    if values.shape[1] <= count:
        return np.ones(values.shape, np.bool_)
    least = np.partition(values, values.shape[1] - count, axis=1)[:, values.shape[1] - count, None]
    above, ties = values > least, values == least
    lacking = count - above.sum(axis=1, keepdims=True)
    is_highest: NDArray[np.bool_] = above | (ties & (np.cumsum(ties, axis=1) <= lacking))
    return is_highest


def in_order(
    query: Places,
    document: Places,
    score: NDArray[np.floating],
    relevant: Relevant,
    *,
    queries: int,
    count: int,
) -> Places:
    """Return the first COUNT of the scored documents of each query in the order of their scores,
    and NONE; (queries, count).

    What ties is in the worst order: what is not relevant by the places of the documents, then the
    relevant, the least relevant first; those of one grade from the last item to the first, so that
    who is among the first is who has such a rank.
    """
    base = max(int(numbers.max(initial=0)) for numbers in (document, relevant.document)) + 1
    items = {
        pair: item for item, pair in enumerate((relevant.query * base + relevant.document).tolist())
    }
    item = np.array([items.get(pair, NONE) for pair in (query * base + document).tolist()], np.intp)
    is_relevant = item != NONE
    grade = (
        np.where(is_relevant, relevant.grade[item], 0)
        if len(relevant.grade)
        else np.zeros(len(item), np.int64)
    )
    order = np.lexsort((np.where(is_relevant, -item, document), grade, -score, query))
    query, document = query[order], document[order]
    column = np.arange(len(query)) - np.searchsorted(query, query)
    is_first = column < count
    ordered = np.full((queries, count), NONE, np.intp)
    ordered[query[is_first], column[is_first]] = document[is_first]
    return ordered


def ranks_in_run(
    query: Places, document: Places, score: NDArray[np.float64], relevant: Relevant
) -> Ranks:
    """Return the rank of each relevant document in a ranking that another program wrote; infinite
    where it was not found.

    QUERY, DOCUMENT and SCORE are its lines, in any order; a document that is unknown, and so not
    relevant, is −1. Pairs that do not count are removed, and what ties is in the worst order.
    """
    base = max(int(numbers.max(initial=0)) for numbers in (document, relevant.excluded[1])) + 2
    stays = np.flatnonzero(
        ~np.isin(query * base + document, relevant.excluded[0] * base + relevant.excluded[1])
    )
    stays = stays[np.lexsort((-score[stays], query[stays]))]
    query, document, score = query[stays], document[stays], score[stays]
    is_last = np.ones(len(query), bool)
    is_last[:-1] = (np.diff(query) != 0) | (np.diff(score) != 0)
    ends = np.flatnonzero(is_last)
    counts = ends[np.searchsorted(ends, np.arange(len(query)))] + 1 - np.searchsorted(query, query)
    known = dict(zip((query * base + document).tolist(), counts.tolist(), strict=True))
    run_ranks = np.array(
        [known.get(pair, 0) for pair in (relevant.query * base + relevant.document).tolist()],
        np.int64,
    )
    ranks, has = np.full(len(run_ranks), np.inf), run_ranks > 0
    ranks[has] = in_worst_order(relevant.query[has], run_ranks[has], relevant.grade[has])
    return ranks
