"""Reranked searches against plain sorts, over every kind of first search; what is stored, said
before, and refused.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.queries import Queries, open_query_folder
from embedlab.encoders.device import machine
from embedlab.encoders.kinds.bm25 import Bm25Index
from embedlab.encoders.loading import DiceScorer, load_encoder
from embedlab.models.catalog import resolve
from embedlab.scoring.readiness import Work, check_all
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import task
from tests.data.query_folders import write_folder
from tests.tasks.test_retrieval import evaluated

WORDS = ("dog", "fox", "bird", "barks", "sings", "runs", "night", "morning")
Score = Callable[[str, Sequence[str]], Sequence[float]]  # of a query and all documents


def dice(query: str, documents: Sequence[str]) -> Sequence[float]:
    return DiceScorer().score([query] * len(documents), list(documents)).tolist()


def bm25(query: str, documents: Sequence[str]) -> Sequence[float]:
    return Bm25Index(documents, "lucene").scores(query).tolist()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Thirty documents of few words, so that much ties, eight queries with grades, and one of the
    queries as a document.
    """
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 5))) for _ in range(38)]
    corpus = [f'{{"_id": "d{number}", "text": "{text}"}}' for number, text in enumerate(texts[:30])]
    queries = [
        f'{{"_id": "q{number}", "text": "{text}"}}' for number, text in enumerate(texts[30:])
    ]
    corpus.append(queries[1])
    qrels = ["query-id\tcorpus-id\tscore"]
    qrels += [
        f"q{query}\td{document}\t{rng.integers(1, 4)}"
        for query in range(8)
        for document in rng.choice(30, 3, replace=False)
    ]
    return str(write_folder(tmp_path / "folder", corpus, queries, qrels))


def slow_ranks(
    queries: Queries, model: Score, first: list[list[int]], depth: int
) -> dict[int, list[tuple[int, float]]]:
    """Return grade and rank of the relevant documents of each query: FIRST is the order of
    documents before.
    """
    found: dict[int, list[tuple[int, float]]] = {}
    for query, text in enumerate(queries.texts):
        grades, scores = grades_of(queries, query), model(text, queries.candidates)
        again, rest = first[query][:depth], first[query][depth:]
        order = sorted(again, key=lambda own: (-scores[own], grades.get(own, 0), own)) + rest
        found[query] = sorted(
            (grade, order.index(own) + 1.0 if own in order else np.inf)
            for own, grade in grades.items()
        )
    return found


def grades_of(queries: Queries, query: int) -> dict[int, int]:
    rows = zip(*queries.numbers(queries.items), queries.items["grade"], strict=True)
    return {int(document): grade for own, document, grade in rows if own == query}


def slow_order(queries: Queries, model: Score) -> list[list[int]]:
    rows = []
    for query, text in enumerate(queries.texts):
        grades, scores = grades_of(queries, query), model(text, queries.candidates)
        own_query, own_document = queries.numbers(queries.excluded)
        out = own_document[own_query == query]
        items = {place: item for item, place in enumerate(grades)}

        def place_of(
            own: int, scores: Any = scores, grades: Any = grades, items: Any = items
        ) -> Any:
            # of one grade the last item comes first
            return -scores[own], grades.get(own, 0), -items.get(own, -own)

        rows.append(sorted({*range(len(queries.candidates))} - {*out.tolist()}, key=place_of))
    return rows


def ranks_in(queries: Queries, found: Sequence[str]) -> dict[int, list[tuple[int, float]]]:
    rows: dict[int, list[tuple[int, float]]] = {}
    query_of_item, _ = queries.numbers(queries.items)
    for query, grade, rank in zip(query_of_item, queries.items["grade"], found, strict=True):
        rows.setdefault(query, []).append((grade, float(rank)))
    return {query: sorted(own) for query, own in rows.items()}


@pytest.mark.parametrize(
    ("before", "depth"), [("bm25", 2), ("bm25", 7), ("bm25", 100), ("rerank(dice,bm25,2)", 7)]
)
def test_the_first_documents_are_in_the_new_order_and_the_others_below_them_as_before(
    folder: str, tmp_path: Path, before: str, depth: int
) -> None:
    queries = open_query_folder(folder)
    found = (
        evaluated(f"rerank(dice,{before},{depth})", folder, tmp_path)
        .outcomes[0]
        .items["predicted"]
        .to_list()
    )
    assert ranks_in(queries, found) == slow_ranks(queries, dice, slow_order(queries, bm25), depth)


def test_what_another_program_found_is_reranked_and_what_it_did_not_find_stays_so(
    folder: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    order = {query: rng.permutation(30)[: 3 + query].tolist() for query in range(7)}
    lines = [
        f"q{query} Q0 d{own} 0 {-place} x"
        for query, documents in order.items()
        for place, own in enumerate(documents)
    ]
    (tmp_path / "x.trec").write_text("\n".join([*lines, "q1 Q0 unknown 0 5 x", "q1 Q0 q1 0 9 x"]))
    (found,) = evaluated(f"rerank:dice,trec:{tmp_path / 'x.trec'},5", folder, tmp_path).outcomes
    queries = open_query_folder(folder)
    first = [order.get(int(name[1:]), []) for name in queries.queries["id"]]
    expected = slow_ranks(queries, dice, first, 5)
    assert ranks_in(queries, found.items["predicted"].to_list()) == expected
    assert f"{folder}: 3 queries have fewer than 5 documents to rerank" in found.notes
    assert any("1 of its lines name documents that are not in" in note for note in found.notes)


def test_an_encoder_reads_only_what_was_found_first(
    folder: str, tmp_path: Path, tiny_encoder: Path
) -> None:
    name, queries = f"{tiny_encoder}?pooling=mean", open_query_folder(folder)
    found = evaluated(f"rerank({name},bm25,3)", folder, tmp_path)
    (spec,), here = resolve(name, tmp_path).members, machine(Settings(device="cpu", threads=1))
    encoder = load_encoder(spec, here, cache=tmp_path / "cache")
    first = slow_order(queries, bm25)
    read = {*queries.texts, *(queries.candidates[place] for own in first for place in own[:3])}
    others = [text for text in queries.candidates if text not in read]
    assert encoder.knows([*read]).all()
    assert not encoder.knows(others).all()

    def model(query: str, documents: Sequence[str]) -> Sequence[float]:
        return encoder.score([query] * len(documents), list(documents)).tolist()

    ranks = ranks_in(queries, found.outcomes[0].items["predicted"].to_list())
    assert ranks == slow_ranks(queries, model, first, 3)


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
    name: str, message: str, hint: str, folder: str, tmp_path: Path
) -> None:
    reader = tmp_path / "reader"
    reader.mkdir()
    (reader / "config_sentence_transformers.json").write_text('{"model_type": "CrossEncoder"}')
    (spec,) = resolve(name.replace("READER", str(reader)), tmp_path).members
    with pytest.raises(UsageError, match=message) as refused:
        task("retrieval").check(spec, Settings())
    assert hint in refused.value.hint


@pytest.mark.parametrize("name", ["rerank:dice,bm25,5", "bm25"])
def test_where_nothing_is_searched_it_is_refused_before_any_work(name: str, tmp_path: Path) -> None:
    (spec,) = resolve(name, tmp_path).members
    one = SelectedTask(task="transfer", names=("cr",))
    found = check_all([spec], Work(selected=[one]), Settings(data=TINY_FOLDER))
    assert (
        "puts the documents of a search in order, and transfer searches nothing"
        in found.unfit[spec.name, one].message
    )
