"""Ranks and first documents by blocks against a plain sort of all documents: ties, documents that
do not count, models without vectors.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.data.queries import Queries
from embedlab.encoders import exact_search
from embedlab.encoders.encoder import EncoderFacts, pair_similarities
from embedlab.encoders.exact_search import (
    IndexSearch,
    TextSearch,
    VectorSearch,
    first_documents,
    ranks_in_run,
    relevant_ranks,
)
from embedlab.encoders.loading import DiceScorer
from tests.reference.search import as_sets, sorted_documents, sorted_ranks
from tests.stored_scores import part_of

Compared = VectorSearch | TextSearch | IndexSearch


def slow_orders(table: np.ndarray, queries: Queries) -> list[list[int]]:
    return [sorted_documents(scores, query, queries) for query, scores in enumerate(table)]


def assert_ranks(queries: Queries, ranks: np.ndarray, orders: list[list[int]]) -> None:
    assert as_sets(queries, ranks) == as_sets(queries, sorted_ranks(orders, queries))


def assert_first(
    queries: Queries, compared: Compared, orders: list[list[int]], *counts: int
) -> None:
    """So many documents of each query, by their rank, are the first of its order."""
    for count in counts:
        found = first_documents(compared, queries, count)
        query, document = queries.numbers(found.sort("rank"))
        listed = [document[query == number].tolist() for number in range(len(orders))]
        assert listed == [order[:count] for order in orders]


def some_relevant(rng: np.random.Generator, queries: int, documents: int) -> Queries:
    """A part of the pairs, and the first document of the queries for which it is not relevant has
    their text.
    """
    query, relevant = np.nonzero(rng.random((queries, documents)) < 0.1)
    items = pl.DataFrame({"query": query, "document": relevant}).cast(pl.String)
    texts = ["it", *(f"another {number}" for number in range(documents - 1))]
    return Queries(
        part=part_of("some", items),
        queries=pl.DataFrame({"id": map(str, range(queries)), "text": "it"}),
        documents=pl.DataFrame({"id": map(str, range(documents)), "text": texts}),
        items=items.with_columns(grade=rng.integers(1, 4, len(query))),
    )


@pytest.fixture(params=[(8192, 2**26), (7, 100), (1, 1)], ids=str)
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, pairs = request.param
    monkeypatch.setattr(exact_search, "DOCUMENTS_AT_ONCE", documents)
    monkeypatch.setattr(exact_search, "PAIRS_AT_ONCE", pairs)
    monkeypatch.setattr(exact_search, "VECTOR_PAIRS_AT_ONCE", pairs)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
@pytest.mark.parametrize("kind", ["different", "repeated", "nearly equal"])
def test_ranks_and_first_documents_are_those_of_a_sort_of_all(similarity: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    first, second = (rng.standard_normal((rows, 6)).astype(np.float32) for rows in (13, 40))
    first[2] = second[3] = 0
    if kind == "repeated":
        second = second[rng.integers(0, 6, len(second))]
    if kind == "nearly equal":  # closer than float32 sums are exact
        second = (second[:1] + 1e-7 * second).astype(np.float32)
    relevant = some_relevant(rng, len(first), len(second))
    pairs = np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))
    table = pair_similarities(*pairs, similarity).reshape(len(first), -1)
    compared = VectorSearch(first=first, second=second, similarity=similarity)
    orders = slow_orders(table, relevant)
    assert_ranks(relevant, relevant_ranks(compared, relevant), orders)
    assert_first(relevant, compared, orders, 1, 4, 39, 60)


class Counting:
    """A scorer without vectors: the words that two texts share, as few different numbers."""

    name, fingerprint, facts = "counting", "c0", EncoderFacts()

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: object = None
    ) -> np.ndarray:
        pairs = zip(first, second, strict=True)
        return np.array([len({*one.split()} & {*two.split()}) for one, two in pairs], np.float32)


def test_a_score_that_is_lacking_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.array([1, np.nan, 1] * 2, np.float32)
    monkeypatch.setattr(Counting, "score", lambda *_: scores)
    compared = TextSearch(scorer=Counting(), first=["a", "c"], second=["a", "b", "c"])
    with pytest.raises(UsageError, match="'counting' has no score for 2 of 6 pairs"):
        relevant_ranks(compared, some_relevant(np.random.default_rng(0), 2, 3))


@pytest.mark.parametrize("seed", range(4))
def test_ranks_in_a_run_are_those_of_a_sort_of_what_was_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (11, 25)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    relevant = some_relevant(rng, 11, 25)
    query, document = rng.permutation(np.argwhere(~np.isnan(table))).T
    ids = {"query": query.astype(str), "document": document.astype(str)}
    scored = pl.DataFrame({**ids, "score": table[query, document]})
    found = ranks_in_run(scored, relevant)
    assert np.isinf(found).any()
    assert_ranks(relevant, found, slow_orders(table, relevant))


class Lengths:
    """An index that finds documents whose number of letters is near that of the query."""

    def __init__(self, documents: Sequence[str]) -> None:
        self._lengths = np.array([len(text) for text in documents], np.float32)

    def scores(self, query: str) -> np.ndarray:
        return -np.abs(self._lengths - len(query))


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize(
    "compare",
    [
        lambda first, second: TextSearch(scorer=Counting(), first=first, second=second),
        lambda first, second: TextSearch(scorer=DiceScorer(), first=first, second=second),
        lambda first, second: IndexSearch(index=Lengths(second), first=first),
    ],
)
def test_a_model_without_vectors_scores_every_pair_and_an_index_all_documents_at_once(
    compare: Callable[[list[str], list[str]], Compared],
) -> None:
    rng = np.random.default_rng(2)
    first, second = (
        [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 5))) for _ in range(count)]
        for count in (9, 30)
    )
    relevant, compared = some_relevant(rng, 9, 30), compare(first, second)
    query, document = np.divmod(np.arange(9 * 30), 30)
    table = compared.score_pairs(query, document).reshape(9, 30)
    np.testing.assert_array_equal(compared.score_rows(slice(0, 9)), table)
    orders = slow_orders(table, relevant)
    assert_ranks(relevant, relevant_ranks(compared, relevant), orders)
    assert_first(relevant, compared, orders, 4)
