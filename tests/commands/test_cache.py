"""What the cache folder holds is listed with the names of its models, and deleted."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.pair_frames import store_similarities
from embedlab.core.cache import trim
from embedlab.core.disk import write_json
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.vector_cache import EmbeddingCache
from tests.cli import conftest
from tests.cli.conftest import Embedlab

embedlab = conftest.embedlab  # a fixture
PAIR = pl.DataFrame(
    {"dataset": ["d"], "pair": [0], "sentence1": ["a"], "sentence2": ["b"], "gold": [1.0]}
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with entries of several kinds, as embedlab writes them."""
    folder = tmp_path / "own"
    monkeypatch.setenv("EMBEDLAB_CACHE", str(folder))
    for name in ("sbert", "simcse"):  # the last name counts
        EmbeddingCache(folder, "0123456789abcdef", dim=2, limit_bytes=2**20, name=name).store(
            sentence_keys(["A cat."]), np.ones((1, 2), np.float32), np.zeros(1, np.bool_)
        )
    store_similarities(PAIR, folder / "models/0a0a0a0a/evaluations", "compared", pl.Series([0.5]))
    write_json(folder / "models/0b0b0b0b/evaluations/sts.json", {"model": 'a "b"', "scores": []})
    (folder / "tokens" / "0c0c0c0c").mkdir(parents=True)
    (folder / "tokens" / "0c0c0c0c" / "flat.npy").write_bytes(b"x" * 2**20)
    (folder / "notes.txt").write_text("mine")
    return folder


def test_entries_are_listed_with_the_names_of_their_models(embedlab: Embedlab, cache: Path) -> None:
    rows = {row["entry"]: row for row in embedlab("cache", "ls", "--json").rows}
    assert {entry: (row["kind"], row["model"]) for entry, row in rows.items()} == {
        "0123456789abcdef": ("embeddings", "simcse"),
        "0a0a0a0a": ("models", "compared"),
        "0b0b0b0b": ("models", 'a "b"'),
        "0c0c0c0c": ("tokens", None),
    }
    assert rows["0c0c0c0c"]["mib"] == 1


def test_what_is_stored_is_deleted_and_nothing_else(embedlab: Embedlab, cache: Path) -> None:
    trim(cache, limit_bytes=2**30)
    before = sum(row["mib"] for row in embedlab("cache", "ls", "--json").rows)
    answer = embedlab("cache", "clear", "--yes", "--json")
    assert answer.json["deleted"] == 4
    assert answer.json["mib"] == pytest.approx(before)
    left = {path.name for path in cache.rglob("*") if path.is_file()}
    assert left == {"notes.txt", "CACHEDIR.TAG"}
    assert embedlab("cache", "ls", "--json").rows == []
