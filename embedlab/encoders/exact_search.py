"""The ranks of relevant documents among all documents, and the first documents of each query,
exactly: the similarities of some queries with all documents are held at once.

Documents of equal similarity are put in the order that is worst for the model: first those that are
not relevant, then the relevant ones, the least relevant first. So a model that gives every document
the same score gains nothing from the order in which they are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import UsageError
from embedlab.core.session import ProgressCallback
from embedlab.encoders.encoder import PairScorer, Vectors, pair_similarities, similarity_rows

if TYPE_CHECKING:
    from embedlab.data.queries import Queries

DOCUMENTS_AT_ONCE = 8_192  # whose vectors are made float64 together
PAIRS_AT_ONCE = 2**22  # similarities of a block: 17 MB of float32
VECTOR_PAIRS_AT_ONCE = 2**26  # the same of vectors, all of which are read for each block
NONE = -1  # the place of a document where a query has fewer

Places = NDArray[np.intp]
Scores = NDArray[np.float32]
Ranks = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorSearch:
    """The similarities of vectors, in float64."""

    first: Vectors  # (queries, dim)
    second: Vectors  # (documents, dim)
    similarity: Similarity

    def score_pairs(self, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs; (pairs,)."""
        scores = np.empty(len(query), np.float32)
        for start in range(0, len(query), DOCUMENTS_AT_ONCE):
            block = slice(start, start + DOCUMENTS_AT_ONCE)
            first, second = self.first[query[block]], self.second[document[block]]
            scores[block] = pair_similarities(first, second, self.similarity)
        return scores

    def score_rows(self, queries: slice) -> Scores:
        """Return the similarity of each of some QUERIES with each document."""
        first = self.first[queries]
        scores = np.empty((len(first), len(self.second)), np.float32)
        for start in range(0, len(self.second), DOCUMENTS_AT_ONCE):
            block = slice(start, start + DOCUMENTS_AT_ONCE)
            scores[:, block] = similarity_rows(first, self.second[block], self.similarity)
        return scores


@dataclass(frozen=True, kw_only=True, eq=False)
class TextSearch:
    """The scores that a model without vectors gives pairs of texts."""

    scorer: PairScorer
    first: Sequence[str]  # queries
    second: Sequence[str]  # documents
    progress: ProgressCallback | None = None  # of pairs one by one

    def score_pairs(self, query: Places, document: Places) -> Scores:
        """Return the score of each of these pairs; (pairs,)."""
        first = [self.first[index] for index in query]
        second = [self.second[index] for index in document]
        return self._complete(self.scorer.score(first, second, self.progress))

    def score_rows(self, queries: slice) -> Scores:
        """Return the score of each of some QUERIES with each document."""
        first, count = self.first[queries], len(self.second)
        if hasattr(self.scorer, "score_all"):
            table: Scores = self.scorer.score_all(first, self.second)
            return table
        texts = [text for text in first for _ in range(count)]
        scores = self._complete(self.scorer.score(texts, [*self.second] * len(first)))
        return scores.reshape(-1, count)

    def _complete(self, scores: Scores) -> Scores:
        if missing_count := int(np.isnan(scores).sum()):
            raise UsageError(
                f"{self.scorer.name!r} has no score for {missing_count} of {len(scores)} pairs "
                f"of a query and a document",
                hint="a file of scores needs all of them; models with vectors need no file",
            )
        return scores


@dataclass(frozen=True, kw_only=True, eq=False)
class IndexSearch:
    """The scores of an index of all documents, which weighs a text by what the others hold."""

    index: Any  # its `scores(query)` are those of all documents, higher = nearer
    first: Sequence[str]  # queries
    second: Sequence[str]  # documents

    def score_pairs(self, query: Places, document: Places) -> Scores:
        """Return the score of each of these pairs; (pairs,)."""
        scores = np.empty(len(query), np.float32)
        for number in np.unique(query):
            rows = query == number
            scores[rows] = self.index.scores(self.first[number])[document[rows]]
        return scores

    def score_rows(self, queries: slice) -> Scores:
        """Return the score of each of some QUERIES with each document."""
        return np.stack([self.index.scores(text) for text in self.first[queries]])


Similarities = VectorSearch | TextSearch | IndexSearch
"""The similarities of all queries, `first`, with all documents, `second`."""


def relevant_ranks(
    scorer: Similarities, judgements: "Queries", progress: ProgressCallback | None = None
) -> Ranks:
    """Return the rank of each relevant document among those of its query, 1 = most similar; what
    ties is in the worst order.
    """
    counts = np.zeros(len(judgements.query), np.int64)
    for query, row, items in _rows(scorer, judgements):
        for item in items[judgements.relevant[items] < len(row)]:
            counts[item] = np.count_nonzero(row >= row[judgements.relevant[item]])
        if progress is not None:
            progress(query + 1, len(scorer.first))
    return ranks_from_counts(judgements, counts)


def first_documents(scorer: Similarities, judgements: "Queries", count: int) -> Places:
    """Return the COUNT most similar documents of each query, in order, and NONE where there are
    fewer; (queries, count).
    """
    candidates: list[tuple[Places, Places, Scores]] = []
    for number, row, items in _rows(scorer, judgements):
        relevant = judgements.relevant[items]
        relevant = relevant[relevant < len(row)]
        other_scores = row.copy()
        other_scores[relevant] = -np.inf  # all relevant documents are candidates anyway
        document = np.concatenate([_highest(other_scores, count), relevant])
        candidates.append((np.full(len(document), number), document, row[document]))
    query, document, score = (np.concatenate(column) for column in zip(*candidates, strict=True))
    return best_documents(
        query, document, score, judgements, queries=len(scorer.first), count=count
    )


def _rows(scorer: Similarities, judgements: "Queries") -> Iterator[tuple[int, Scores, Places]]:
    """Yield each query with its similarities, −inf for documents that do not count, and its
    items.
    """
    queries, documents = len(scorer.first), len(scorer.second)
    pairs_at_once = VECTOR_PAIRS_AT_ONCE if isinstance(scorer, VectorSearch) else PAIRS_AT_ONCE
    step = max(1, pairs_at_once // max(documents, 1))
    order = np.argsort(judgements.query, kind="stable")
    bounds = np.searchsorted(judgements.query[order], np.arange(queries + 1))
    for start in range(0, queries, step):
        rows = scorer.score_rows(slice(start, start + step))
        query, document = judgements.excluded
        is_in_block = (query >= start) & (query < start + step) & (document < documents)
        rows[query[is_in_block] - start, document[is_in_block]] = -np.inf
        for number, row in enumerate(rows, start=start):
            yield number, row, order[bounds[number] : bounds[number + 1]]


def _highest(scores: Scores, count: int) -> Places:
    """Return the indices of the COUNT highest scores; of equal scores the first come first."""
    indices: Places = np.arange(len(scores))
    if len(scores) > count:
        threshold = np.partition(scores, -count)[-count]
        higher = np.flatnonzero(scores > threshold)
        equal = np.flatnonzero(scores == threshold)
        indices = np.concatenate([higher, equal[: count - len(higher)]])
    return indices[np.isfinite(scores[indices])]


def ranks_from_counts(judgements: "Queries", counts: NDArray[np.int64]) -> Ranks:
    """Return the ranks of relevant documents. COUNTS is how many candidates of its query are at
    least as similar as each document, itself included; at 0 it was not found, and its rank is
    infinite.

    Relevant documents of a query that tie have equal counts; the less relevant ones come first.
    """
    order = np.lexsort((-judgements.grade, counts, judgements.query))
    keys = np.stack([judgements.query[order], counts[order]])
    is_new = np.append(True, (np.diff(keys) != 0).any(axis=0))[: len(order)]
    starts = np.flatnonzero(is_new)[np.cumsum(is_new) - 1]
    ranks = np.empty(len(order))
    # relevant documents that tie and come after it do not count
    ranks[order] = counts[order] - (np.arange(len(order)) - starts)
    return np.where(counts > 0, ranks, np.inf)


def best_documents(
    query: Places,
    document: Places,
    score: NDArray[np.floating],
    judgements: "Queries",
    *,
    queries: int,
    count: int,
) -> Places:
    """Return the first COUNT of the scored documents of each query in the order of their scores,
    and NONE; (queries, count).
    """
    query, document, column = _sort_documents(query, document, score, judgements)
    is_first = column < count
    ordered = np.full((queries, count), NONE, np.intp)
    ordered[query[is_first], column[is_first]] = document[is_first]
    return ordered


def ranks_in_run(
    query: Places, document: Places, score: NDArray[np.floating], judgements: "Queries"
) -> Ranks:
    """Return the rank of each relevant document in a ranking that another program wrote; infinite
    where it was not found.

    QUERY, DOCUMENT and SCORE are the lines of the ranking, in any order. An unknown document, which
    is not relevant, is −1. Pairs that do not count are removed.
    """
    is_counted = ~np.isin(_pairs(query, document), _pairs(*judgements.excluded))
    query, document, column = _sort_documents(
        query[is_counted], document[is_counted], score[is_counted], judgements
    )
    ranks = dict(zip(_pairs(query, document), column + 1, strict=True))
    items = _pairs(judgements.query, judgements.relevant)
    return np.array([ranks.get(pair, np.inf) for pair in items], np.float64)


def _sort_documents(
    query: Places, document: Places, score: NDArray[np.floating], judgements: "Queries"
) -> tuple[Places, Places, Places]:
    """Return scored documents in the order of their queries and scores, and the rank of each for
    its query, from 0.

    Ties are in the worst order: first documents that are not relevant, in their own order, then the
    relevant ones, the least relevant first. Items of one grade are ordered from the last to the
    first, so that the first documents are those whose ranks `ranks_in_run` gives.
    """
    items = _pairs(judgements.query, judgements.relevant)
    item_of_pair = {pair: item for item, pair in enumerate(items)}
    item = np.array([item_of_pair.get(pair, NONE) for pair in _pairs(query, document)], np.intp)
    grade = np.append(judgements.grade, 0)[item]  # 0 of what is not relevant
    order = np.lexsort((np.where(item == NONE, document, -item), grade, -score, query))
    query = query[order]
    return query, document[order], np.arange(len(query)) - np.searchsorted(query, query)


def _pairs(query: Places, document: Places) -> list[int]:
    """Return a number of each pair of a query and a document."""
    numbers = query.astype(np.int64) << 32 | document.astype(np.int64) & 0xFFFFFFFF
    pairs: list[int] = numbers.tolist()
    return pairs
