"""The first documents of each query, in order: what a reranker reads.

The order is that of `exact_search`: what ties is in the worst order, documents that are not
relevant first.
"""

import numpy as np
from numpy.typing import NDArray

from embedlab.encoders.exact_search import (
    Places,
    Relevant,
    Scores,
    Similarities,
    document_blocks,
    exclude,
)

NONE = -1  # the place of a document where a query has fewer
# documents beyond those that are wanted, of which similarities in float32 may have the wrong order
_SPARE = 32


def first_documents(similarities: Similarities, relevant: Relevant, count: int) -> Places:
    """Return the COUNT most similar documents of each query, in order, and NONE where there are
    fewer; (queries, count).
    """
    wanted = count + _SPARE
    values = np.full((similarities.queries, wanted), -np.inf, np.float32)
    places = np.full((similarities.queries, wanted), NONE, np.intp)
    is_exact = True
    for documents in document_blocks(similarities):
        numbers = np.arange(documents.start, documents.stop)
        for queries, block, inexact in similarities.blocks(documents):
            is_exact &= inexact is None
            for pairs in (
                relevant.excluded,
                (relevant.query, relevant.document),
            ):  # relevant ones are added below, all of them
                exclude(block, pairs, queries, documents)
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
