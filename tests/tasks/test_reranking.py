"""Reranked searches against plain sorts, over every kind of first search; what is stored, said
before, and refused.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.queries import Queries, open_query_folder
from embedlab.encoders.kinds.bm25 import Bm25Index
from embedlab.encoders.loading import DiceScorer
from embedlab.scoring.readiness import Work, check_all
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import TaskResult, task
from tests.data.query_folders import write_found, write_texts
from tests.reference.search import as_sets, sorted_documents, sorted_ranks
from tests.refusal import refused
from tests.tasks.evaluated import spec_of
from tests.tasks.test_retrieval import encoder_of, searched, write_reader

WORDS = ("dog", "fox", "bird", "barks", "sings", "runs", "night", "morning")
Score = Callable[[str, Sequence[str]], np.ndarray]  # of a query and all documents
Orders = list[list[int]]  # of documents, for each query


def dice(query: str, documents: Sequence[str]) -> np.ndarray:
    return DiceScorer().score([query] * len(documents), list(documents))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Thirty documents of few words, so that much ties, eight queries with grades, and one of the
    queries as a document.
    """
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 5))) for _ in range(38)]
    grades = [
        (query, document, rng.integers(1, 4))
        for query in range(8)
        for document in rng.choice(30, 3, replace=False)
    ]
    folder = tmp_path / "folder"
    written = write_texts(folder, texts[:30], texts[30:], grades)
    query = (folder / "queries.jsonl").read_text().splitlines()[1]
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write(query)
    return written


@pytest.fixture
def queries(folder: str) -> Queries:
    return open_query_folder(folder)


def bm25_orders(queries: Queries) -> Orders:
    index = Bm25Index(queries.candidates, "lucene")
    return [
        sorted_documents(index.scores(text), query, queries)
        for query, text in enumerate(queries.texts)
    ]


def assert_reranked(
    found: TaskResult, queries: Queries, first: Orders, score: Score, depth: int
) -> None:
    """What was FIRST is in the order of a model's scores down to DEPTH, and then as before."""
    orders = []
    for query, (text, order) in enumerate(zip(queries.texts, first, strict=True)):
        scores = score(text, queries.candidates)
        orders.append(sorted_documents(scores, query, queries, order[:depth]) + order[depth:])
    ranks = found.outcomes[0].items["predicted"].cast(float).to_list()
    assert as_sets(queries, ranks) == as_sets(queries, sorted_ranks(orders, queries))


@pytest.mark.parametrize(
    ("before", "depth"), [("bm25", 2), ("bm25", 7), ("bm25", 100), ("rerank(dice,bm25,2)", 7)]
)
def test_the_first_documents_are_in_the_new_order_and_the_others_below_them_as_before(
    folder: str, queries: Queries, before: str, depth: int
) -> None:
    found = searched(f"rerank(dice,{before},{depth})", folder)
    assert_reranked(found, queries, bm25_orders(queries), dice, depth)


def test_what_another_program_found_is_reranked_and_what_it_did_not_find_stays_so(
    folder: str, queries: Queries, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    orders = {f"q{query}": rng.permutation(30)[: 3 + query].tolist() for query in range(7)}
    lines = [
        f"{query} d{own} {-place}"
        for query, documents in orders.items()
        for place, own in enumerate(documents)
    ]
    other = write_found(tmp_path / "x.trec", *lines, "q1 unknown 5", "q1 q1 9")
    found = searched(f"rerank:dice,{other},5", folder)
    first = [orders.get(name, []) for name in queries.queries["id"]]
    assert_reranked(found, queries, first, dice, 5)
    notes = found.outcomes[0].notes
    assert f"{folder}: 3 queries have fewer than 5 documents to rerank" in notes
    assert any("1 of its lines name documents that are not in" in note for note in notes)


def test_an_encoder_reads_only_what_was_found_first(
    folder: str, queries: Queries, tiny_encoder: Path
) -> None:
    name = f"{tiny_encoder}?pooling=mean"
    found, first = searched(f"rerank({name},bm25,3)", folder), bm25_orders(queries)
    encoder = encoder_of(name, cache=Settings().cache)
    read = {*queries.texts, *(queries.candidates[place] for own in first for place in own[:3])}
    others = [text for text in queries.candidates if text not in read]
    assert encoder.knows([*read]).all()
    assert not encoder.knows(others).all()

    def score(query: str, documents: Sequence[str]) -> np.ndarray:
        return encoder.score([query] * len(documents), list(documents))

    assert_reranked(found, queries, first, score, 3)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            "rerank:rerank(dice,bm25,4),bm25,5",
            "cannot score a query with a document",
            "rerank:MODEL,rerank(dice,bm25,4),5",
        ),
        (
            "rerank:dice,READER,5",
            "reads each query with each document: nothing is left to rerank",
            "rerank:dice,bm25,5",
        ),
        ("rerank(dice,rerank(dice,READER,9),5)", "nothing is left to rerank", "rerank:dice,bm25,9"),
    ],
)
def test_parts_that_cannot_do_theirs_are_refused(
    name: str, message: str, hint: str, tmp_path: Path
) -> None:
    spec = spec_of(name.replace("READER", write_reader(tmp_path / "reader")))
    with refused(message, hint):
        task("retrieval").check(spec, Settings())


@pytest.mark.parametrize("name", ["rerank:dice,bm25,5", "bm25"])
def test_where_nothing_is_searched_it_is_refused_before_any_work(name: str) -> None:
    spec, one = spec_of(name), SelectedTask(task="transfer", names=("cr",))
    found = check_all([spec], Work(selected=[one]), Settings(data=TINY_FOLDER))
    message = found.unfit[spec.name, one].message
    assert "puts the documents of a search in order, and transfer searches nothing" in message
