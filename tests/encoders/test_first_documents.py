"""The first documents of each query against a plain sort of all of them."""

from dataclasses import replace

import numpy as np
import pytest

from embedlab.encoders.encoder import similarities
from embedlab.encoders.exact_search import OfIndex, OfTexts, OfVectors, Relevant, relevant_ranks
from embedlab.encoders.first_documents import NONE, first_documents
from embedlab.encoders.lexical import DiceScorer
from tests.encoders.test_exact_search import SIMILARITIES, sizes, some_relevant

__all__ = ["sizes"]  # a fixture


def slow_first(table: np.ndarray, relevant: Relevant, count: int) -> list[list[int]]:
    """Sort all documents of each query: by their score, then what is not relevant, and the least
    relevant; of those the last item first.
    """
    out = {*zip(*(one.tolist() for one in relevant.excluded), strict=True)}
    columns = (one.tolist() for one in (relevant.query, relevant.document, relevant.grade))
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


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("count", [1, 4, 39, 60])
@pytest.mark.parametrize("kind", ["different", "repeated", "nearly equal"])
def test_the_first_documents_are_those_of_a_sort_of_all(
    similarity: str, count: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.encoders.first_documents._SPARE", 3 if kind == "different" else 40
    )
    rng = np.random.default_rng(5)
    first, second = (rng.standard_normal((rows, 6)).astype(np.float32) for rows in (13, 40))
    if kind == "repeated":
        second = second[rng.integers(0, 6, len(second))]
    if kind == "nearly equal":
        second = (second[:1] + 1e-7 * second).astype(np.float32)
    relevant = some_relevant(rng, len(first), len(second))
    table = similarities(
        np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1)), similarity
    ).reshape(len(first), -1)
    found = first_documents(
        OfVectors(first=first, second=second, similarity=similarity), relevant, count
    )
    assert found.tolist() == slow_first(table, relevant, count)


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
            for query, document in zip(relevant.query, relevant.document, strict=True)
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
        document=np.array([2, 0, 4]),
        grade=np.ones(3, np.int64),
        excluded=(nothing, nothing),
    )
    found = OfIndex(index=Lengths(documents), first=queries, documents=5)
    table = np.stack([Lengths(documents).scores(text) for text in queries])
    assert found.of(np.array([2, 0, 2, 1]), np.array([1, 2, 0, 3])).tolist() == [
        table[2, 1],
        table[0, 2],
        table[2, 0],
        table[1, 3],
    ]
    assert relevant_ranks(found, relevant).tolist() == [1, 2, 3]
    assert first_documents(found, relevant, 3).tolist() == slow_first(table, relevant, 3)
