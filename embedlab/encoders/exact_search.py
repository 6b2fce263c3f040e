"""The ranks of relevant documents among all documents, and the first documents of each query,
exactly: the similarities of some queries with all documents are held at once.

Documents of equal similarity are put in the order that is worst for the model: first those that are
not relevant, then the relevant ones, the least relevant first. So a model that gives every document
the same score gains nothing from the order in which they are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import UsageError
from embedlab.core.session import ProgressCallback
from embedlab.data.queries import PAIR, Places, Queries
from embedlab.encoders.encoder import PairScorer, Vectors, row_similarities, similarity_rows

DOCUMENTS_AT_ONCE = 8_192  # whose vectors are made float64 together
PAIRS_AT_ONCE = 2**22  # similarities of a block: 17 MB of float32
VECTOR_PAIRS_AT_ONCE = 2**26  # the same of vectors, all of which are read for each block

Scores = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorSearch:
    """The similarities of vectors, in float64."""

    first: Vectors  # (queries, dim)
    second: Vectors  # (documents, dim)
    similarity: Similarity

    def score_pairs(self, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs; (pairs,)."""
        return row_similarities(self.first, query, self.second, document, self.similarity)

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
    scorer: Similarities, queries: Queries, progress: ProgressCallback | None = None
) -> NDArray[np.float64]:
    """Return the rank of each relevant document among those of its query, 1 = most similar,
    infinite where it is not there; what ties is in the worst order.
    """
    # documents that are at least as similar, itself included
    counts = np.zeros(queries.items.height, np.int64)
    for number, (row, items, documents) in enumerate(_rows(scorer, queries)):
        for item, document in zip(items, documents, strict=True):
            counts[item] = np.count_nonzero(row >= row[document])
        if progress is not None:
            progress(number + 1, queries.queries.height)
    # Relevant documents of a query that tie have equal counts; the less relevant ones come first.
    count = pl.col("count")
    after = pl.col("grade").rank("ordinal", descending=True).over("query", "count") - 1
    rank = pl.when(count > 0).then(count - after).otherwise(np.inf)
    ranks = queries.items.with_columns(count=counts).select(rank)
    return ranks.to_series().to_numpy()


def first_documents(scorer: Similarities, queries: Queries, count: int) -> pl.DataFrame:
    """Return the COUNT most similar documents of each query with their ranks, fewer where there are
    no more; query, document, rank.
    """
    scored: list[pl.DataFrame] = []
    ids = queries.documents["id"]
    for number, (row, _, relevant) in enumerate(_rows(scorer, queries)):
        other_scores = row.copy()
        other_scores[relevant] = -np.inf  # all relevant documents are candidates anyway
        document = np.concatenate([_highest(other_scores, count), relevant])
        query = queries.queries["id"][[number] * len(document)]
        columns = {"query": query, "document": ids[document], "score": row[document]}
        scored.append(pl.DataFrame(columns))
    ranked = rank_documents(pl.concat(scored), queries)
    return ranked.filter(pl.col("rank") <= count)


def _rows(scorer: Similarities, queries: Queries) -> Iterator[tuple[Scores, Places, Places]]:
    """Yield the similarities of each query, −inf for documents that do not count, and the numbers
    of its items and of their documents.
    """
    count = queries.queries.height
    pairs_at_once = VECTOR_PAIRS_AT_ONCE if isinstance(scorer, VectorSearch) else PAIRS_AT_ONCE
    step = max(1, pairs_at_once // max(queries.documents.height, 1))
    query, document = queries.numbers(queries.items)
    order = np.argsort(query, kind="stable")
    order = order[document[order] >= 0]
    starts = np.searchsorted(query[order], np.arange(1, count))
    items = np.split(order, starts)
    own_query, own_document = queries.numbers(queries.excluded)
    for start in range(0, count, step):
        similarities = scorer.score_rows(slice(start, start + step))
        is_in_block = (own_query >= start) & (own_query < start + step)
        similarities[own_query[is_in_block] - start, own_document[is_in_block]] = -np.inf
        for row, own in zip(similarities, items[start:], strict=False):
            yield row, own, document[own]


def _highest(scores: Scores, count: int) -> Places:
    """Return the indices of the COUNT highest scores; of equal scores the first come first."""
    indices: Places = np.argsort(-scores, kind="stable")[:count]
    return indices[np.isfinite(scores[indices])]


def ranks_in_run(scored: pl.DataFrame, queries: Queries) -> NDArray[np.float64]:
    """Return the rank of each relevant document among those that another program SCORED; infinite
    where it was not found.
    """
    ranked = rank_documents(scored, queries)
    found = queries.items.join(ranked, on=PAIR, how="left", maintain_order="left")["rank"]
    return found.cast(pl.Float64).fill_null(np.inf).to_numpy()


def rank_documents(scored: pl.DataFrame, queries: Queries) -> pl.DataFrame:
    """Return the query, document and rank of SCORED documents, which have a query, a document and
    a score in any order: from 1 by query, in their order. Pairs that do not count are removed.

    Ties are in the worst order: first documents that are not relevant, in their own order, then the
    relevant ones, the least relevant first. Items of one grade are ordered from the last to the
    first, so that the first documents are those whose ranks `ranks_in_run` gives.
    """
    items = queries.items.with_row_index("item")
    places = queries.documents.select(document="id", place=pl.int_range(pl.len()))
    rows = scored.join(queries.excluded, on=PAIR, how="anti")
    rows = rows.join(items, on=PAIR, how="left").join(places, on="document", how="left")
    tied = pl.coalesce(-pl.col("item").cast(pl.Int64), "place")
    ordered = rows.sort(-pl.col("score"), pl.col("grade").fill_null(0), tied)
    return ordered.select(*PAIR, rank=pl.int_range(1, pl.len() + 1).over("query"))
