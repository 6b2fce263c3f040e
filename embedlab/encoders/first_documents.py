"""The first documents of each query, in order: what a reranker reads.

The order is that of `exact_search`: what ties is in the worst order, documents that are not relevant first.
"""

import numpy as np
from numpy.typing import NDArray

from embedlab.encoders.exact_search import Places, Relevant, Scores, Similarities, document_blocks, exclude

NONE = -1  # the place of a document where a query has fewer
_SPARE = 32  # documents beyond those that are wanted, of which similarities in float32 may have the wrong order


def first_documents(found: Similarities, relevant: Relevant, count: int) -> Places:
    """Return the COUNT most similar documents of each query, in order, and NONE where there are fewer; (queries, count)."""
    wanted = count + _SPARE
    values = np.full((found.queries, wanted), -np.inf, np.float32)
    places = np.full((found.queries, wanted), NONE, np.intp)
    is_exact = True
    for documents in document_blocks(found):
        numbers = np.arange(documents.start, documents.stop)
        for queries, block, inexact in found.blocks(documents):
            is_exact &= inexact is None
            for pairs in (relevant.excluded, (relevant.query, relevant.document)):  # relevant ones are added below, all of them
                exclude(block, pairs, queries, documents)
            both = np.concatenate([values[queries], block], axis=1)
            known = np.concatenate([places[queries], np.broadcast_to(numbers, block.shape)], axis=1)
            stays = _highest(both, wanted)
            values[queries], places[queries] = both[stays].reshape(-1, wanted), known[stays].reshape(-1, wanted)
    query, column = np.nonzero(np.isfinite(values))
    document = places[query, column]
    score = values[query, column] if is_exact else found.of(query, document)
    return in_order(
        np.concatenate([query, relevant.query]),
        np.concatenate([document, relevant.document]),
        np.concatenate([score, found.of(relevant.query, relevant.document)]),
        relevant,
        queries=found.queries,
        count=count,
    )


def _highest(values: Scores, count: int) -> NDArray[np.bool_]:
    """Return which COUNT values of each row are the highest, of those that tie the first."""
    if values.shape[1] <= count:
        return np.ones(values.shape, np.bool_)
    least = np.partition(values, values.shape[1] - count, axis=1)[:, values.shape[1] - count, None]
    above, ties = values > least, values == least
    lacking = count - above.sum(axis=1, keepdims=True)
    found: NDArray[np.bool_] = above | (ties & (np.cumsum(ties, axis=1) <= lacking))
    return found


def in_order(query: Places, document: Places, score: NDArray[np.floating], relevant: Relevant, *, queries: int, count: int) -> Places:
    """Return the first COUNT of the scored documents of each query in the order of their scores, and NONE; (queries, count).

    What ties is in the worst order: what is not relevant by the places of the documents, then the relevant, the least relevant first.
    """
    base = max(int(one.max(initial=0)) for one in (document, relevant.document)) + 1
    grades = dict(zip((relevant.query * base + relevant.document).tolist(), relevant.grade.tolist(), strict=True))
    grade = np.array([grades.get(pair, 0) for pair in (query * base + document).tolist()], np.int64)
    order = np.lexsort((document, grade, -score, query))
    query, document = query[order], document[order]
    column = np.arange(len(query)) - np.searchsorted(query, query)
    is_first = column < count
    found = np.full((queries, count), NONE, np.intp)
    found[query[is_first], column[is_first]] = document[is_first]
    return found
