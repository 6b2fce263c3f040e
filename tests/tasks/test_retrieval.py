"""The task on models with vectors and without, on runs of other programs, on files and folders."""

import json
import shutil
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from embedlab.analysis.measures import MEASURES
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.session import unseen
from embedlab.core.settings import Settings
from embedlab.data.own_files import open_query_file
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.exact_search import VectorSearch, relevant_ranks
from embedlab.encoders.loading import DiceScorer, load_encoder
from embedlab.objectives.objective import TrainedEncoder
from embedlab.scoring.dev_score import dev_score
from embedlab.scoring.results import evaluate_task
from embedlab.tasks.retrieval import METRICS, gold_of, ranks_by
from embedlab.tasks.task import TaskResult, task
from tests.data.query_folders import write_folder, write_found, write_texts
from tests.reference.search import as_sets, sorted_documents, sorted_ranks
from tests.refusal import refused
from tests.tasks.evaluated import evaluated, spec_of

PAIRS = [
    ("what barks", "a dog barks"),
    ("what barks", "the fox barks too"),
    ("what sings", "a bird sings"),
    ("a bird sings", "what sings"),
    ("who reads a book", "the girl reads"),
    ("who reads a book", "a bird sings"),
]


@pytest.fixture
def faq(tmp_path: Path) -> str:
    lines = ["question,answer", *map(",".join, PAIRS)]
    (tmp_path / "faq.csv").write_text("\n".join(lines))
    return str(tmp_path / "faq.csv")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(write_folder(tmp_path / "folder"))


def encoder_of(name: str, cache: Path | None = None) -> Encoder:
    return load_encoder(spec_of(name), Settings(device="cpu", threads=1), cache=cache)


def searched(model: str, dataset: str) -> TaskResult:
    settings = Settings(device="cpu", threads=1)
    return evaluate_task("retrieval", spec_of(model), settings, unseen, [dataset])


def ranks_of(found: TaskResult) -> list[float]:
    return found.outcomes[0].items["predicted"].cast(float).to_list()


def values_of(found: TaskResult) -> dict[str, float]:
    return {score.metric: score.value for score in found.evaluation.scores}


def write_reader(folder: Path) -> str:
    """A model that reads each query with each document, of which nothing but that is known."""
    folder.mkdir()
    (folder / "config_sentence_transformers.json").write_text('{"model_type": "CrossEncoder"}')
    return str(folder)


def test_a_query_ranks_all_its_positives_among_the_texts_of_the_file_but_its_own(
    faq: str, tiny_encoder: Path
) -> None:
    queries = open_query_file(faq)
    for scorer in (DiceScorer(), encoder_of(f"{tiny_encoder}?pooling=mean")):
        orders = []
        for query, text in enumerate(queries.texts):
            scores = scorer.score([text] * len(queries.candidates), queries.candidates)
            orders.append(sorted_documents(np.round(scores, 5), query, queries))
        found, expected = ranks_by(scorer, queries), sorted_ranks(orders, queries)
        assert as_sets(queries, found.tolist()) == as_sets(queries, expected)


def test_an_evaluation_stores_ranks_and_all_measures(faq: str) -> None:
    found = searched("dice", faq)
    assert {score.items for score in found.evaluation.scores} == {6}
    (outcomes,) = found.outcomes
    gold = outcomes.items["gold"].cast(float).to_numpy()
    assert gold.tolist() == gold_of(open_query_file(faq)).tolist()  # without grades
    ranks = np.array(ranks_of(found))
    assert values_of(found) == {name: MEASURES[name].value(gold, ranks) for name in METRICS}
    (items,) = task("retrieval").items(None, [faq])
    assert outcomes.name == items.name == faq
    assert items.part.frame.rows() == PAIRS


def test_the_dev_score_of_a_file_is_its_mrr(faq: str) -> None:
    queries, dice = open_query_file(faq), DiceScorer()
    expected = 100 * MEASURES["mrr"].value(gold_of(queries), ranks_by(dice, queries))
    trained = TrainedEncoder(encoder=dice, objectives=())  # type: ignore[arg-type]
    assert dev_score(None, faq)(trained) == pytest.approx(expected)


def test_a_run_of_another_program_is_a_model_with_what_it_does_not_share_said(
    folder: str, tmp_path: Path
) -> None:
    model = write_found(tmp_path / "x.trec", "q1 d2 3", "q1 q1 9", "q1 d9 2", "q1 d1 1", "q7 d1 1")
    found = searched(model, folder)
    # The document q1 is the query itself and does not count; d9 is not in the corpus and takes a
    # place; nothing was found for q2.
    assert ranks_of(found) == [3, 1, float("inf")]
    said = {note.removeprefix(f"{folder}: ") for note in found.evaluation.notes}
    assert {
        "it has no documents for 1 of 2 queries",
        "its documents for 1 other queries are ignored",
        "1 of its lines name documents that are not in the corpus",
    } <= said
    assert values_of(found)["recall@10"] == 0.5
    assert values_of(found)["map"] == pytest.approx((1 + 2 / 3) / 2 / 2)


def test_qrels_alone_take_runs_and_refuse_models_that_read_texts(
    folder: str, tmp_path: Path
) -> None:
    graded = f"retrieval:{folder}/qrels/test.tsv"
    found = searched(write_found(tmp_path / "bm25.trec", "q1 d2 3", "q2 d3 3"), graded)
    assert ranks_of(found) == [float("inf"), 1, 1]
    assert found.tested == ()
    keys = found.outcomes[0].items["first_text"]
    assert keys[0] == keys[1] != keys[2]
    with pytest.raises(UsageError, match="has qrels but no texts that 'dice' could read"):
        searched("dice", graded)
    with pytest.raises(MissingError, match=r"other.trec has no query of"):
        searched(write_found(tmp_path / "other.trec", "7 d2 3"), graded)


def test_queries_and_documents_have_the_prompts_that_the_folder_of_a_model_states(
    faq: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    model = shutil.copytree(tiny_encoder, tmp_path / "model")
    prompts = {"prompts": {"query": "who a dog ", "document": "a bird "}}
    (model / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    plain, own = f"{model}?pooling=mean", open_query_file(faq)
    encoder = encoder_of(plain)
    vectors = VectorSearch(
        first=encoder.encode([f"who a dog {text}" for text in own.texts]),
        second=encoder.encode([f"a bird {text}" for text in own.candidates]),
        similarity="cosine",
    )
    found = searched(plain, faq)
    assert ranks_of(found) == relevant_ranks(vectors, own).tolist()
    notes = {"prompt 'query' of its folder", "prompt 'document' of its folder"}
    assert notes <= {*found.evaluation.notes}
    assert found.evaluation.fingerprint == encoder.fingerprint
    typed = searched(f"{plain}&prompt=query", faq)
    assert not any("of its folder" in note for note in typed.evaluation.notes)


def test_a_model_that_reads_each_query_with_each_document_is_refused_above_a_number_of_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reader = write_reader(tmp_path / "reader")
    monkeypatch.setattr("embedlab.tasks.retrieval.MOST_PAIRS", 10)
    with refused("would read each pair by itself", f"rerank:{reader},bm25,100"):
        evaluated("retrieval", spec_of(reader), "retrieval-captions")


def test_a_relevant_document_that_is_absent_counts_as_one_that_is_never_found(
    folder: str, tmp_path: Path
) -> None:
    before = ranks_of(searched("dice", folder))
    with (Path(folder) / "qrels" / "test.tsv").open("a") as qrels:
        qrels.write("q1\td77\t1\n")
    result = searched("dice", folder)
    assert ranks_of(result) == [*before, float("inf")]
    assert values_of(result)["recall@100"] == pytest.approx((2 / 3 + 1) / 2)
    run = write_found(tmp_path / "x.trec", "q1 d77 9", "q1 d1 8", "q1 d2 7", "q2 d3 5")
    assert ranks_of(searched(run, folder)) == [2, 3, 1, 1]
    assert len(ranks_of(searched(f"rerank:dice,{run},3", folder))) == 4


@pytest.mark.parametrize(
    ("texts", "grades"),
    [
        ("cat cat cat cat dog man", [2, 0, 0, 0, 0, 1]),
        ("cat cat dog dog dog man", [1, 0, 0, 2, 3, 0]),
        ("cat cat dog dog dog man", [0, 1, 1, 0, 0, 2]),
    ],
)
def test_the_best_possible_score_is_that_of_the_best_order_of_texts(
    texts: str, grades: list[int], tmp_path: Path
) -> None:
    rows = list(zip(texts.split(), grades, strict=True))
    graded = [(0, document, grade) for document, grade in enumerate(grades)]
    path = write_texts(tmp_path / "copies", texts.split(), ["a query"], graded)

    def gain(ranked: Sequence[int]) -> float:
        return sum(grade / np.log2(rank + 2) for rank, grade in enumerate(ranked))

    gains = []
    for order in permutations({*texts.split()}):
        ranked: list[int] = []
        for text in order:
            ranked += sorted(grade for own, grade in rows if own == text)
        gains.append(gain(ranked))
    best = 100 * max(gains) / gain(sorted(grades, reverse=True))
    said = "\n".join(searched("dice", path).evaluation.notes)
    assert f"the best possible ndcg@10 is {best:.2f}" in said


def test_copies_of_relevant_documents_and_of_queries_and_what_they_cost_are_said(
    tmp_path: Path,
) -> None:
    documents = [f"an answer of number {n}" for n in (0, 1, 2, 3, 0, 0)]
    documents.append("An ANSWER of number 1.")
    grades = [(0, 0, 1), (1, 1, 1), (2, 1, 1)]
    path = write_texts(tmp_path / "faq", documents, ["number 0", "of 1", "Of 1?"], grades)
    result = searched("dice", path)
    said = "\n".join(result.evaluation.notes)
    assert "2 documents have the text of a relevant one" in said
    assert "1 document has the words of a relevant one but is not marked relevant" in said
    assert "a query has the words of another: 1 of 3" in said
    best = 100 * (1 / np.log2(2 + 2) + 1 + 1) / 3
    assert f"the best possible ndcg@10 is {best:.2f}" in said
    assert 100 * values_of(result)["ndcg@10"] <= best + 1e-9
