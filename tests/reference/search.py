"""Plain sorts of all documents of a query, for the tests of what searches and reranks."""

from collections.abc import Sequence

import numpy as np

from embedlab.data.queries import Queries


def sorted_documents(
    scores: np.ndarray, query: int, queries: Queries, among: Sequence[int] | None = None
) -> list[int]:
    """Sort the documents of a query, all that have a score and are not the query itself, or AMONG
    some: by their score, then what is not relevant, and the least relevant; of those the last item
    first.
    """
    row_of = {document: row for row, document in enumerate(queries.documents["id"])}
    asked = queries.queries["id"][query]
    items = queries.items.select("query", "document", "grade").iter_rows()
    ties = {
        row_of.get(document, -1): (grade, -item)
        for item, (own, document, grade) in enumerate(items)
        if own == asked
    }
    if among is None:
        out = {row_of[document] for own, document in queries.excluded.iter_rows() if own == asked}
        among = [each for each in np.flatnonzero(~np.isnan(scores)).tolist() if each not in out]
    return sorted(among, key=lambda each: (-scores[each], *ties.get(each, (0, each))))


def sorted_ranks(orders: Sequence[Sequence[int]], queries: Queries) -> list[float]:
    """The ranks of relevant documents where those of each query are in this order; those of one
    grade that tie change places without a change of any measure.
    """
    ranks = []
    for query, document in zip(*queries.numbers(queries.items), strict=True):
        order = orders[query]
        ranks.append(order.index(document) + 1.0 if document in order else np.inf)
    return ranks


def as_sets(queries: Queries, ranks: Sequence[float]) -> list[tuple[str, int, float]]:
    """The ranks of each query and grade, in whatever order."""
    return sorted(zip(queries.items["query"], queries.items["grade"], ranks, strict=True))
