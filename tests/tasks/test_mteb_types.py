"""Each type of mteb's text tasks on a model of embedlab, beside mteb's own evaluation of the same
model by sentence-transformers.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import embedlab
from embedlab.core.session import unseen
from embedlab.core.settings import Settings
from embedlab.data.source import Source, dataset
from embedlab.data.tiny import tiny_rows
from embedlab.tasks._mteb_rows import open_task
from embedlab.tasks.mteb import MtebEncoder, _run
from tests.data.query_folders import write_texts
from tests.tasks.evaluated import spec_of
from tests.tasks.test_refused_texts import Refusing
from tests.tasks.test_retrieval import searched, values_of

Row = Mapping[str, Any]

_SENTENCES = list(
    dict.fromkeys(tiny_rows(dataset("sts-benchmark"), "test")["sentence1"].head(200))
)[:60]
_DOCUMENTS: list[Row] = [
    {"_id": f"d{place}", "title": "", "text": text} for place, text in enumerate(_SENTENCES[:40])
]
_QUERIES: list[Row] = [
    {"_id": f"q{place}", "text": text} for place, text in enumerate(_SENTENCES[40:50])
]
_GRADES = [(query, place, place % 3) for query in range(10) for place in range(query, query + 8)]
_QRELS: list[Row] = [
    {"query-id": f"q{query}", "corpus-id": f"d{place}", "score": grade}
    for query, place, grade in _GRADES
]
_RANKED: list[Row] = [
    {"query-id": f"q{query}", "corpus-ids": [f"d{place}" for place in range(query, query + 9)]}
    for query in range(10)
]
_ROWS: Mapping[str, Sequence[Row]] = {  # task → rows of its only split
    "TwitterSemEval2015": [
        {"sent1": first, "sent2": second, "labels": place % 2}
        for place, (first, second) in enumerate(itertools.pairwise(_SENTENCES))
    ],
    "TwentyNewsgroupsClustering.v2": [
        {"sentences": _SENTENCES, "labels": [place % 4 for place in range(len(_SENTENCES))]}
    ]
    * 3,
    "SummEvalSummarization.v2": [
        {
            "text": _SENTENCES[place],
            "human_summaries": _SENTENCES[place : place + 3],
            "machine_summaries": _SENTENCES[place + 3 : place + 7],
            "relevance": [1.0, 2.0, 3.0, 4.0],
            "id": str(place),
        }
        for place in range(12)
    ],
}
_TABLES: Mapping[str, Mapping[str, Sequence[Row]]] = {  # task → tables of its repository
    "NFCorpus": {"corpus": _DOCUMENTS, "queries": _QUERIES, "default": _QRELS},
    "AskUbuntuDupQuestions": {
        "corpus": _DOCUMENTS,
        "queries": _QUERIES,
        "default": _QRELS,
        "top_ranked": _RANKED,
    },
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of a split in a file each, and copies of repositories with their cards."""
    folder = tmp_path_factory.mktemp("types")
    for task, rows in _ROWS.items():
        _write(folder / "mteb" / task / "test.jsonl", rows)
    for task, tables in _TABLES.items():
        for name, rows in tables.items():
            _write(folder / "mteb" / task / f"{name}.jsonl", rows)
        (folder / "mteb" / task / "README.md").write_text(_card(tables))
    return folder


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _card(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return the head of a repository's README.md, which says what each table is; its documents and
    queries are splits of their own.
    """
    card = "---\nconfigs:\n"
    for name in tables:
        split = name if name in {"corpus", "queries"} else "test"
        files = f"[{{split: {split}, path: {name}.jsonl}}]"
        card += f"- {{config_name: {name}, data_files: {files}}}\n"
    return f"{card}---\n"


def _score_by_mteb(task: str, folder: Path, data: Path) -> float:
    """Return mteb's main score x 100 of the encoder in FOLDER, pooled by the mean, by
    sentence-transformers.
    """
    import mteb
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(str(folder))
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    model = SentenceTransformer(
        modules=[transformer, pooling], device="cpu", trust_remote_code=False
    )
    rows = open_task(f"mteb:{task}", Source(folder=data)).task
    result = mteb.evaluate(model, rows, cache=None, co2_tracker=False, show_progress_bar=False)
    return 100 * float(result.task_results[0].scores["test"][0]["main_score"])


def test_the_task_of_search_has_mtebs_numbers_of_the_same_vectors(
    data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    folder = write_texts(tmp_path / "search", _SENTENCES[:40], _SENTENCES[40:50], _GRADES)
    name = f"{tiny_encoder}?pooling=mean"
    encoder = MtebEncoder(spec_of(name), Settings(device="cpu", data=data), unseen)
    result, _ = _run(encoder, open_task("mteb:NFCorpus", Source(folder=data)))
    (theirs,) = result.scores["test"]
    found = values_of(searched(name, folder))
    assert 0.05 < found["ndcg@10"] < 0.95
    # of 40 documents all are within 100; mteb rounds to five digits
    for metric in ("ndcg@10", "mrr@10", "recall@1", "recall@10", "map@100"):
        value = theirs[metric.replace("@", "_at_")]
        assert found[metric.removesuffix("@100")] == pytest.approx(value, abs=6e-6), metric


def test_a_task_that_draws_samples_draws_the_same_for_each_model(
    data: Path, tiny_encoder: Path
) -> None:
    encoder = MtebEncoder(
        spec_of(f"{tiny_encoder}?pooling=mean"), Settings(device="cpu", data=data), unseen
    )
    opened = open_task("mteb:TwentyNewsgroupsClustering.v2", Source(folder=data))
    first, second = (_run(encoder, opened)[0].scores["test"] for _ in range(2))
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("task", [*_ROWS, *_TABLES])
def test_each_type_of_task_has_the_number_that_mteb_gives_the_same_model(
    task: str, data: Path, tiny_encoder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    ours = embedlab.evaluate(
        [f"{tiny_encoder}?pooling=mean"], tasks=[f"mteb:{task}"], data=data
    ).frame["score"][0]
    assert capfd.readouterr().err == "", "no bar of an evaluator"
    assert ours == pytest.approx(_score_by_mteb(task, tiny_encoder, data), abs=0.01)


@pytest.mark.parametrize("task", [*_ROWS, *_TABLES])
def test_a_refused_text_does_not_end_the_task_and_is_left_out_for_all(
    task: str, data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    refusing = Refusing(_SENTENCES[8])
    models = [str(tiny_encoder), refusing]
    options = {"tasks": [f"mteb:{task}"], "data": data, "cache": tmp_path / "cache"}
    found = embedlab.compare(models, **options)  # type: ignore[arg-type]
    assert found.frame["score"].is_finite().all()
    said = "mteb: 1 text without a vector left out for all"
    # mteb draws the texts of clusters
    assert [said in note for note in found.notes].count(True) == refusing.has_refused
    assert refusing.has_refused or "Clustering" in task
    whole = open_task(f"mteb:{task}", Source(folder=data))
    left = whole.without({_SENTENCES[8]})
    if task in _TABLES:
        split = left.task.dataset["default"]["test"]
        assert "d8" not in split["corpus"]["id"]
        assert "d8" not in str(split["top_ranked"])
        assert {*split["relevant_docs"]} == {*split["queries"]["id"]} == {"q0", "q9"}
    else:
        assert _SENTENCES[8] not in str(left.task.dataset["test"].to_list())
