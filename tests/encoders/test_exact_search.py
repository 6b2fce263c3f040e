"""Ranks and first documents by blocks against a plain sort of all documents: ties, documents that
do not count, models without vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.encoders import exact_search
from embedlab.encoders.encoder import EncoderFacts, similarities
from embedlab.encoders.exact_search import (
    NONE,
    OfIndex,
    OfTexts,
    OfVectors,
    first_documents,
    ranks_in_run,
    relevant_ranks,
)
from embedlab.encoders.loading import DiceScorer


@dataclass(kw_only=True)
class Relevant:
    """Which documents are relevant to which queries."""

    query: np.ndarray
    relevant: np.ndarray
    grade: np.ndarray
    excluded: tuple[np.ndarray, np.ndarray]


SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


def slow_ranks(table: np.ndarray, relevant: Relevant) -> list[float]:
    """Sort all documents of each query: by their score, what ties with the least relevant first."""
    ranks = []
    out = {*zip(*(one.tolist() for one in relevant.excluded), strict=True)}
    grades = {
        (query, document): grade
        for query, document, grade in zip(
            relevant.query.tolist(),
            relevant.relevant.tolist(),
            relevant.grade.tolist(),
            strict=True,
        )
    }
    for query, document in zip(relevant.query.tolist(), relevant.relevant.tolist(), strict=True):
        order = [
            own
            for own in range(table.shape[1])
            if (query, own) not in out and not np.isnan(table[query, own])
        ]
        order.sort(key=lambda own: (-table[query, own], grades.get((query, own), 0), -own))
        # Relevant documents of one grade that tie change places without a change of any measure:
        # their ranks are compared as a set.
        ranks.append(order.index(document) + 1.0 if document in order else np.inf)
    return ranks


def slow_first(table: np.ndarray, relevant: Relevant, count: int) -> list[list[int]]:
    """Sort all documents of each query: by their score, then what is not relevant, and the least
    relevant; of those the last item first.
    """
    out = {*zip(*(one.tolist() for one in relevant.excluded), strict=True)}
    columns = (one.tolist() for one in (relevant.query, relevant.relevant, relevant.grade))
    rows = list(zip(*columns, strict=True))
    grades = {(query, document): grade for query, document, grade in rows}
    items = {(query, document): item for item, (query, document, _) in enumerate(rows)}
    found = []
    for query, scores in enumerate(table):
        order = [own for own in range(len(scores)) if (query, own) not in out]
        order.sort(
            key=lambda own: (
                -scores[own],
                grades.get((query, own), 0),
                -items.get((query, own), -own),
            )
        )
        found.append([*order[:count], *[NONE] * (count - len(order))])
    return found


def as_sets(relevant: Relevant, ranks: Sequence[float]) -> dict[tuple[int, int], list[float]]:
    found: dict[tuple[int, int], list[float]] = {}
    for query, grade, rank in zip(
        relevant.query.tolist(), relevant.grade.tolist(), ranks, strict=True
    ):
        found.setdefault((query, grade), []).append(float(rank))
    return {key: sorted(values) for key, values in found.items()}


def some_relevant(rng: np.random.Generator, queries: int, documents: int) -> Relevant:
    pairs = np.array(
        [
            (query, document)
            for query in range(queries)
            for document in rng.choice(documents, rng.integers(1, 6), replace=False)
        ]
    )
    pairs = pairs[rng.random(len(pairs)) < 0.8]
    out = np.array(
        [
            (query, 0)
            for query in range(queries)
            if not ((pairs[:, 0] == query) & (pairs[:, 1] == 0)).any()
        ]
    ).reshape(-1, 2)
    return Relevant(
        query=pairs[:, 0],
        relevant=pairs[:, 1],
        grade=rng.integers(1, 4, len(pairs)),
        excluded=(out[:, 0], out[:, 1]),
    )


@pytest.fixture(params=[(8192, 2**26), (7, 100), (1, 1)], ids=str)
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, pairs = request.param
    monkeypatch.setattr(exact_search, "DOCUMENTS_AT_ONCE", documents)
    monkeypatch.setattr(exact_search, "PAIRS_AT_ONCE", pairs)
    monkeypatch.setattr(exact_search, "VECTOR_PAIRS_AT_ONCE", pairs)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("similarity", SIMILARITIES)
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
    table = similarities(
        np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1)), similarity
    ).reshape(len(first), -1)
    compared = OfVectors(first=first, second=second, similarity=similarity)
    ranks = relevant_ranks(compared, relevant)
    assert as_sets(relevant, ranks) == as_sets(relevant, slow_ranks(table, relevant))
    for count in (1, 4, 39, 60):
        found = first_documents(compared, relevant, count)
        assert found.tolist() == slow_first(table, relevant, count)


class Counting:
    """A scorer without vectors: the words that two texts share, as few different numbers."""

    name, fingerprint, facts = "counting", "c0", EncoderFacts()

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: object = None
    ) -> np.ndarray:
        return np.array(
            [
                len({*one.split()} & {*other.split()})
                for one, other in zip(first, second, strict=True)
            ],
            np.float32,
        )


@pytest.mark.usefixtures("sizes")
def test_models_without_vectors_score_every_pair() -> None:
    rng = np.random.default_rng(2)
    first, second = (
        [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 5))) for _ in range(count)]
        for count in (9, 30)
    )
    relevant = some_relevant(rng, 9, 30)
    for scorer in (Counting(), DiceScorer()):
        table = np.array([scorer.score([text] * 30, second) for text in first])
        found = relevant_ranks(OfTexts(scorer=scorer, first=first, second=second), relevant)
        assert as_sets(relevant, found) == as_sets(relevant, slow_ranks(table, relevant))


def test_a_score_that_is_lacking_is_refused() -> None:
    class Lacking(Counting):
        def score(
            self, first: Sequence[str], second: Sequence[str], progress: object = None
        ) -> np.ndarray:
            return np.where([text == "b" for text in second], np.nan, 1).astype(np.float32)

    relevant = Relevant(
        query=np.array([0]),
        relevant=np.array([0]),
        grade=np.array([1]),
        excluded=(np.array([], int),) * 2,
    )
    with pytest.raises(
        UsageError, match="'counting' has no score for 2 of 6 pairs of a query and a document"
    ):
        relevant_ranks(
            OfTexts(scorer=Lacking(), first=["a", "c"], second=["a", "b", "c"]), relevant
        )


@pytest.mark.parametrize("seed", range(4))
def test_ranks_in_a_run_are_those_of_a_sort_of_what_was_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (11, 25)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    relevant = some_relevant(rng, 11, 25)
    query, document = np.nonzero(~np.isnan(table))
    order = rng.permutation(len(query))
    query, document = query[order], document[order]
    found = ranks_in_run(query, document, table[query, document], relevant)
    assert np.isinf(found).any()
    assert as_sets(relevant, found) == as_sets(relevant, slow_ranks(table, relevant))


@pytest.mark.parametrize("grades", [1, 3])
def test_a_relevant_document_is_among_the_first_exactly_if_its_rank_says_so(grades: int) -> None:
    rng = np.random.default_rng(2)
    texts = tuple(" ".join(rng.choice(["a", "b", "c", "d"], 2)) for _ in range(30))
    relevant = some_relevant(rng, 6, 30)
    relevant = replace(relevant, grade=relevant.grade.clip(max=grades))
    found = OfTexts(scorer=DiceScorer(), first=texts[:6], second=texts)
    ranks = relevant_ranks(found, relevant)
    for count in range(1, 30):
        first = first_documents(found, relevant, count)
        assert [
            document in first[query]
            for query, document in zip(relevant.query, relevant.relevant, strict=True)
        ] == [*(ranks <= count)]


class Lengths:
    """An index that finds documents whose number of letters is near that of the query."""

    def __init__(self, documents: tuple[str, ...]) -> None:
        self._lengths = np.array([len(text) for text in documents], np.float32)

    def scores(self, query: str) -> np.ndarray:
        return -np.abs(self._lengths - len(query))


@pytest.mark.usefixtures("sizes")
def test_an_index_gives_the_scores_of_all_documents_at_once() -> None:
    documents, queries = ("aaaa", "b", "cc", "dddd", ""), ("xx", "yyyy", "z")
    nothing = np.array([], np.intp)
    relevant = Relevant(
        query=np.arange(3),
        relevant=np.array([2, 0, 4]),
        grade=np.ones(3, np.int64),
        excluded=(nothing, nothing),
    )
    found = OfIndex(index=Lengths(documents), first=queries, second=documents)
    table = np.stack([Lengths(documents).scores(text) for text in queries])
    assert found.of(np.array([2, 0, 2, 1]), np.array([1, 2, 0, 3])).tolist() == [
        table[2, 1],
        table[0, 2],
        table[2, 0],
        table[1, 3],
    ]
    assert relevant_ranks(found, relevant).tolist() == [1, 2, 3]
    assert first_documents(found, relevant, 3).tolist() == slow_first(table, relevant, 3)
