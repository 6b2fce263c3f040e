"""The measures of a search beside mteb's own evaluation of the same vectors on a local task."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.tasks.test_retrieval import evaluated

DIM, DOCUMENTS, QUERIES = 8, 120, 30


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Any]:
    """Texts with random vectors, in a file, and grades of which most are of near documents, as a
    folder in BEIR's layout.
    """
    rng = np.random.default_rng(4)
    ids = [f"d{number}" for number in range(DOCUMENTS)], [f"q{number}" for number in range(QUERIES)]
    documents, queries = ({own: f"text of {own}" for own in some} for some in ids)
    texts = [*documents.values(), *queries.values()]
    vectors = rng.standard_normal((len(texts), DIM)).astype(np.float32)
    near = np.argsort(-(vectors[DOCUMENTS:] @ vectors[:DOCUMENTS].T), axis=1)
    grades = {
        own: {
            f"d{place}": int(rng.integers(1, 4))
            for place in {near[number, 2], near[number, 9], int(rng.integers(DOCUMENTS))}
        }
        for number, own in enumerate(queries)
    }
    folder = tmp_path / "folder"
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text(
            "\n".join(json.dumps({"_id": key, "text": text}) for key, text in rows.items())
        )
    lines = [
        f"{query}\t{document}\t{grade}"
        for query, own in grades.items()
        for document, grade in own.items()
    ]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    frame = pl.DataFrame(
        {"sentence": texts, "vector": vectors.tolist()},
        schema_overrides={"vector": pl.List(pl.Float32)},
    )
    frame.write_parquet(tmp_path / "made.parquet")
    return {
        "folder": str(folder),
        "vectors": dict(zip(texts, vectors, strict=True)),
        "texts": (documents, queries),
        "grades": grades,
    }


def test_mteb_has_the_same_numbers_for_the_same_vectors(
    made: dict[str, Any], tmp_path: Path
) -> None:
    from datasets import Dataset
    from mteb import TaskMetadata
    from mteb.abstasks.retrieval import AbsTaskRetrieval

    from embedlab.core.settings import Settings
    from embedlab.models.catalog import resolve
    from embedlab.tasks._mteb_encoder import MtebEncoder

    class Local(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="Local",
            description="made",
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
            dataset={"path": "made", "revision": "1"},
        )

        def load_data(self, **_: Any) -> None:
            corpus, queries = (
                Dataset.from_list([{"id": key, "text": text} for key, text in own.items()])
                for own in made["texts"]
            )
            parts = {
                "corpus": corpus,
                "queries": queries,
                "relevant_docs": made["grades"],
                "top_ranked": None,
            }
            self.dataset = {"default": {"test": parts}}
            self.data_loaded = True

    name = f"vectors:{tmp_path / 'made.parquet'}"
    model = MtebEncoder(
        resolve(name, tmp_path).members[0],
        Settings(cache=tmp_path / "cache", device="cpu"),
        lambda _: lambda *_: None,
    )
    theirs = Local().evaluate(model, "test", encode_kwargs={})["default"]
    ours = {
        score.metric: score.value
        for score in evaluated(name, made["folder"], tmp_path).evaluation.scores
    }
    names = {"ndcg@10": "ndcg_at_10", "mrr@10": "mrr_at_10", "map": "map_at_1000"}
    names |= {f"recall@{cut}": f"recall_at_{cut}" for cut in (1, 10, 100)}
    assert {metric: ours[metric] for metric in names} == pytest.approx(
        {metric: theirs[own] for metric, own in names.items()}, abs=1e-5
    )
    assert 0.1 < ours["ndcg@10"] < 0.9
