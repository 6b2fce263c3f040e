"""What the cache folder holds."""

from pathlib import Path

import numpy as np

from embedlab.analysis.scores import ScoreFile
from embedlab.encoders.cache import EmbeddingCache, sentence_keys
from embedlab.encoders.stored_scores import NO_SCORES
from embedlab.workflows.cache import cache_state, clear_cache


def test_only_what_embedlab_stores_is_listed_and_deleted(tmp_path: Path) -> None:
    for name in ("embeddings/a/vectors", "models/b/sts.json", "tokens/.c.tmp-1/rows", "others/mine", "comparisons/d.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x" * 2**20)
    state = cache_state(tmp_path)
    assert [(entry.kind, entry.path.name, entry.mib) for entry in state.entries] == [
        ("embeddings", "a", 1.0),
        ("models", "b", 1.0),
        ("comparisons", "d.json", 1.0),
    ]
    assert state.mib == 3.0
    assert {entry.model for entry in state.entries} == {""}
    clear_cache(state)
    assert cache_state(tmp_path).entries == ()
    assert (tmp_path / "others/mine").exists()
    assert (tmp_path / "tokens/.c.tmp-1/rows").exists()


def test_entries_have_the_names_of_their_models(tmp_path: Path) -> None:
    cache, runs = tmp_path / "cache", tmp_path / "runs"
    for folder in (cache / "models/scored", cache / "models/evaluated/evaluations", cache / "embeddings/f1", cache / "embeddings/f2"):
        folder.mkdir(parents=True)
    (runs / "mine/seed-1/evaluations").mkdir(parents=True)
    ScoreFile(scores=NO_SCORES, facts={"model": "sbert", "fingerprint": "f1"}).write(cache / "models/scored/scores.parquet")
    (cache / "models/evaluated/evaluations/sts.json").write_text('{\n "task": "sts",\n "model": "a \\"b\\"",\n "scores": []\n}')
    (runs / "mine/seed-1/evaluations/sts.json").write_text('{\n "model": "mine@1",\n "fingerprint": "f2"\n}')
    found = {entry.path.name: entry.model for entry in cache_state(cache, runs).entries}
    assert found == {"scored": "sbert", "evaluated": 'a "b"', "f1": "sbert", "f2": "mine@1"}


def test_the_cache_of_vectors_remembers_the_name_of_its_encoder(tmp_path: Path) -> None:
    keys = sentence_keys(["A cat."])
    for _ in range(2):
        EmbeddingCache(tmp_path / "embeddings", "f", dim=2, limit_bytes=2**20, name="sbert").store(
            keys, np.ones((1, 2), np.float32), np.zeros(1, np.bool_)
        )
    assert [entry.model for entry in cache_state(tmp_path).entries] == ["sbert"]
    assert EmbeddingCache(tmp_path / "embeddings", "f", dim=2, limit_bytes=2**20).knows(keys).all()
