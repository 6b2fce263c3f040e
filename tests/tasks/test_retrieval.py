"""The task on models with vectors and without, on runs of other programs, on files and folders."""

import json
import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from embedlab.analysis.measures import MEASURES
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.own_files import open_query_file
from embedlab.encoders.device import machine
from embedlab.encoders.encoder import Encoder, pair_similarities, similarity_rows
from embedlab.encoders.exact_search import VectorSearch, relevant_ranks
from embedlab.encoders.loading import DiceScorer, load_encoder
from embedlab.models.catalog import resolve
from embedlab.scoring.dev_score import dev_score
from embedlab.scoring.results import evaluate_task
from embedlab.tasks.retrieval import METRICS, gold_of, ranks_by
from embedlab.tasks.task import Selection, TaskResult, task
from tests.data.query_folders import write_folder

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
    (tmp_path / "faq.csv").write_text(
        "question,answer\n" + "".join(f"{first},{second}\n" for first, second in PAIRS)
    )
    return str(tmp_path / "faq.csv")


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_similarities_of_all_with_all_are_those_of_pairs(similarity: str) -> None:
    rng = np.random.default_rng(3)
    first, second = (rng.standard_normal((rows, 5)).astype(np.float32) for rows in (4, 6))
    first[1] = 0
    second[2] = first[0]
    found = similarity_rows(first, second, similarity)
    pairs = pair_similarities(np.repeat(first, 6, axis=0), np.tile(second, (4, 1)), similarity)
    assert found.ravel() == pytest.approx(pairs, abs=1e-5)


def test_a_query_ranks_all_its_positives_among_the_texts_of_the_file_but_its_own(
    faq: str, tiny_encoder: Path
) -> None:
    queries = open_query_file(faq)
    for scorer in (DiceScorer(), encoder_of(f"{tiny_encoder}?pooling=mean", Path("runs"))):
        expected = []
        for anchor in dict.fromkeys(anchor for anchor, _ in PAIRS):
            own = [positive for first, positive in PAIRS if first == anchor]
            others = [text for text in queries.candidates if text != anchor]
            values = np.round(scorer.score([anchor] * len(others), others), 5).tolist()
            scores = dict(zip(others, values, strict=True))
            order = sorted(others, key=lambda text: (-scores[text], text in own))
            expected.append(sorted(order.index(positive) + 1 for positive in own))
        found = ranks_by(scorer, queries)
        numbers = gold_of(queries)
        assert [sorted(found[numbers == number].tolist()) for number in range(4)] == expected


def encoder_of(name: str, runs: Path) -> Encoder:
    here = machine(Settings(device="cpu", threads=1))
    return load_encoder(resolve(name, runs).members[0], here)


def evaluated(model: str, dataset: str, folder: Path, **more: object) -> TaskResult:
    settings = Settings(
        cache=folder / "cache", runs=folder / "runs", device="cpu", threads=1, **more
    )
    return evaluate_task(
        "retrieval",
        resolve(model, folder).members[0],
        settings,
        lambda _: lambda *_: None,
        [dataset],
    )


def test_an_evaluation_stores_ranks_and_all_measures(faq: str, tmp_path: Path) -> None:
    found = evaluated("dice", faq, tmp_path)
    assert [(score.metric, score.items) for score in found.evaluation.scores] == [
        (metric, 6) for metric in METRICS
    ]
    (outcomes,) = found.outcomes
    gold, ranks = (outcomes.items[name].cast(float).to_numpy() for name in ("gold", "predicted"))
    assert gold.tolist() == gold_of(open_query_file(faq)).tolist()  # without grades
    values = [MEASURES[metric].value(gold, ranks) for metric in METRICS]
    assert [score.value for score in found.evaluation.scores] == values
    (items,) = task("retrieval").items(None, [faq])
    assert outcomes.name == items.name == faq
    assert items.part.frame.rows() == PAIRS


def test_the_dev_score_of_a_file_is_its_mrr(faq: str) -> None:
    class Trained:
        encoder = DiceScorer()

    queries = open_query_file(faq)
    expected = 100 * MEASURES["mrr"].value(gold_of(queries), ranks_by(Trained.encoder, queries))
    assert dev_score(None, faq)(Trained()) == pytest.approx(expected)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(write_folder(tmp_path / "folder"))


def test_a_run_of_another_program_is_a_model_with_what_it_does_not_share_said(
    folder: str, tmp_path: Path
) -> None:
    lines = [
        "q1 Q0 d2 1 3 bm25",
        "q1 Q0 q1 2 9 bm25",
        "q1 Q0 d9 3 2 bm25",
        "q1 Q0 d1 4 1 bm25",
        "q7 Q0 d1 1 1 bm25",
    ]
    (tmp_path / "bm25.trec").write_text("\n".join(lines))
    found = evaluated(f"trec:{tmp_path / 'bm25.trec'}", folder, tmp_path)
    # The document q1 is the query itself and does not count; d9 is not in the corpus and takes a
    # place; nothing was found for q2.
    assert found.outcomes[0].items["predicted"].to_list() == [3, 1, float("inf")]
    said = {note.removeprefix(f"{folder}: ") for note in found.evaluation.notes}
    assert {
        "it has no documents for 1 of 2 queries",
        "its documents for 1 other queries are ignored",
        "1 of its lines name documents that are not in the corpus",
    } <= said
    values = {score.metric: score.value for score in found.evaluation.scores}
    assert values["recall@10"] == 0.5
    assert values["map"] == pytest.approx((1 + 2 / 3) / 2 / 2)


def test_qrels_alone_take_runs_and_refuse_models_that_read_texts(
    folder: str, tmp_path: Path
) -> None:
    graded = f"retrieval:{folder}/qrels/test.tsv"
    (tmp_path / "bm25.trec").write_text("q1 Q0 d2 1 3 bm25\nq2 Q0 d3 1 3 bm25\n")
    found = evaluated(f"trec:{tmp_path / 'bm25.trec'}", graded, tmp_path)
    assert found.outcomes[0].items["predicted"].to_list() == [float("inf"), 1, 1]
    assert found.tested == ()
    keys = found.outcomes[0].items.select("first_text", "second_text").to_numpy()
    assert keys is not None
    assert keys[0, 0] == keys[1, 0] != keys[2, 0]
    with pytest.raises(UsageError, match="has qrels but no texts that 'dice' could read"):
        evaluated("dice", graded, tmp_path)
    (tmp_path / "other.trec").write_text("7 Q0 d2 1 3 bm25\n")
    with pytest.raises(MissingError, match=r"other.trec has no query of"):
        evaluated(f"trec:{tmp_path / 'other.trec'}", graded, tmp_path)


def test_queries_and_documents_have_the_prompts_that_the_folder_of_a_model_states(
    faq: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_encoder, model)
    (model / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "who a dog ", "document": "a bird "}})
    )
    plain, own = f"{model}?pooling=mean", open_query_file(faq)
    encoder = encoder_of(plain, tmp_path)
    vectors = VectorSearch(
        first=encoder.encode([f"who a dog {text}" for text in own.texts]),
        second=encoder.encode([f"a bird {text}" for text in own.candidates]),
        similarity="cosine",
    )
    found = evaluated(plain, faq, tmp_path)
    ranks = found.outcomes[0].items["predicted"].cast(float).to_list()
    assert ranks == relevant_ranks(vectors, own).tolist()
    notes = {"prompt 'query' of its folder", "prompt 'document' of its folder"}
    assert notes <= {*found.evaluation.notes}
    assert found.evaluation.fingerprint == encoder.fingerprint
    typed = evaluated(f"{plain}&prompt=query", faq, tmp_path)
    assert not any("of its folder" in note for note in typed.evaluation.notes)


def test_a_model_that_reads_each_query_with_each_document_is_refused_above_a_number_of_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "config_sentence_transformers.json").write_text('{"model_type": "CrossEncoder"}')
    (spec,) = resolve(str(folder), tmp_path).members
    monkeypatch.setattr("embedlab.tasks.retrieval.MOST_PAIRS", 10)
    with pytest.raises(UsageError, match="would read each pair by itself") as refused:
        task("retrieval").evaluate(
            spec,
            Settings(data=TINY_FOLDER),
            lambda _: lambda *_: None,
            Selection(names=("retrieval-captions",)),
        )
    assert f"rerank:{folder},bm25,100" in (refused.value.hint or "")


def test_a_relevant_document_that_is_absent_counts_as_one_that_is_never_found(
    folder: str, tmp_path: Path
) -> None:
    before = evaluated("dice", folder, tmp_path).outcomes[0].items["predicted"]
    path = Path(folder) / "qrels" / "test.tsv"
    path.write_text(path.read_text() + "q1\td77\t1\n")
    result = evaluated("dice", folder, tmp_path)
    assert result.outcomes[0].items["predicted"].to_list() == [*before, float("inf")]
    recall = {score.metric: score.value for score in result.evaluation.scores}["recall@100"]
    assert recall == pytest.approx((2 / 3 + 1) / 2)
    run = tmp_path / "found.trec"
    run.write_text("q1 Q0 d77 1 9 x\nq1 Q0 d1 2 8 x\nq1 Q0 d2 3 7 x\nq2 Q0 d3 1 5 x\n")
    found = evaluated(f"trec:{run}", folder, tmp_path)
    assert [float(p) for p in found.outcomes[0].items["predicted"]] == [2, 3, 1, 1]
    reranked = evaluated(f"rerank:dice,trec:{run},3", folder, tmp_path).outcomes[0]
    assert len(reranked.items["predicted"]) == 4


@pytest.mark.parametrize("grades", [[2, 0, 0, 0, 0, 1], [1, 0, 0, 2, 3, 0], [0, 1, 1, 0, 0, 2]])
def test_the_best_possible_score_is_that_of_the_best_order_of_texts(
    grades: list[int], tmp_path: Path
) -> None:
    texts = ["a cat", "a cat", "a cat", "a cat", "a dog", "a man"]
    if grades[0] != 2:
        texts[2:4] = ["a dog", "a dog"]
    corpus = [f'{{"_id": "d{n}", "text": "{text}"}}' for n, text in enumerate(texts)]
    qrels = [f"q0\td{n}\t{grade}" for n, grade in enumerate(grades)]
    header = "query-id\tcorpus-id\tscore"
    path = str(
        write_folder(
            tmp_path / "copies",
            corpus=corpus,
            queries=['{"_id": "q0", "text": "a query"}'],
            qrels=[header, *qrels],
        )
    )

    def gain(ranked: list[int]) -> float:
        return sum(grade / np.log2(rank + 2) for rank, grade in enumerate(ranked))

    def ranked(order: tuple[str, ...]) -> list[int]:
        by_text = [sorted(g for g, t in zip(grades, texts, strict=True) if t == x) for x in order]
        return [grade for tied in by_text for grade in tied]

    highest = max(gain(ranked(order)) for order in permutations({*texts}))
    best = 100 * highest / gain(sorted(grades, reverse=True))
    said = "\n".join(evaluated("dice", path, tmp_path).evaluation.notes)
    assert f"the best possible ndcg@10 is {best:.2f}" in said


def test_copies_of_relevant_documents_and_of_queries_and_what_they_cost_are_said(
    tmp_path: Path,
) -> None:
    documents = [
        *(f"an answer of number {n}" for n in range(4)),
        *["an answer of number 0"] * 2,
        "An ANSWER of number 1.",
    ]
    corpus = [f'{{"_id": "d{n}", "text": "{text}"}}' for n, text in enumerate(documents)]
    queries = [
        f'{{"_id": "q{n}", "text": "{text}"}}'
        for n, text in enumerate(("number 0", "of 1", "Of 1?"))
    ]
    qrels = ["query-id\tcorpus-id\tscore", "q0\td0\t1", "q1\td1\t1", "q2\td1\t1"]
    path = str(write_folder(tmp_path / "faq", corpus=corpus, queries=queries, qrels=qrels))
    result = evaluated("dice", path, tmp_path).evaluation
    said = "\n".join(result.notes)
    assert "2 documents have the text of a relevant one" in said
    assert "1 document has the words of a relevant one but is not marked relevant" in said
    assert "a query has the words of another: 1 of 3" in said
    best = 100 * (1 / np.log2(2 + 2) + 1 + 1) / 3
    assert f"the best possible ndcg@10 is {best:.2f}" in said
    value = {score.metric: score.value for score in result.scores}["ndcg@10"]
    assert 100 * value <= best + 1e-9
