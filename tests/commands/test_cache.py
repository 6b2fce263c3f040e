"""What the cache folder holds."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.pair_frames import store_similarities
from embedlab.commands.cache import cache_state, clear
from embedlab.commands.options import Confirmed
from embedlab.commands.terminal import Terminal
from embedlab.core.seal import sealed_json
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.data.stated_corpora import TEXTS, CorpusText
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.outcomes.stored import stored_links
from embedlab.store.entries import Store
from embedlab.store.files import write_atomic
from embedlab.store.marks import KINDS
from embedlab.store.sealed import write_checksums
from embedlab.store.vectors import EmbeddingCache

PAIR = pl.DataFrame(
    {"dataset": ["d"], "pair": [0], "sentence1": ["a"], "sentence2": ["b"], "gold": [1.0]}
)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache folder with an entry of each kind, as embedlab writes them."""
    vectors = EmbeddingCache(
        tmp_path / "embeddings", "0123456789abcdef", dim=2, limit_bytes=2**20, name="sbert"
    )
    vectors.store(sentence_keys(["A cat."]), np.ones((1, 2), np.float32), np.zeros(1, np.bool_))
    store_similarities(PAIR, tmp_path / "models/b/evaluations", "sbert", pl.Series([0.5]))
    write_atomic(tmp_path / "models/b/evaluations/sts.json", sealed_json({"task": "sts"}))
    tokens = tmp_path / "tokens" / "a" / "flat.npy"
    tokens.parent.mkdir(parents=True)
    np.save(tokens, np.arange(3))
    write_checksums(tokens.parent)
    build_random_encoder(tmp_path / "tiny-encoder" / "89d8d552", seed=1, layers=1)
    write_atomic(tmp_path / "comparisons" / "d.json", sealed_json({"by": "dataset"}))
    stored_links(pl.Series([f"{row} words" for row in range(300)]), tmp_path)
    Store(tmp_path).put(TEXTS, "e", CorpusText(rows=1, text=KnownText.of([PAIR])))
    (tmp_path / "pairs").mkdir()
    PAIR.write_parquet(tmp_path / "pairs" / "c.parquet", metadata={"embedlab-pairs": "{}"})
    return tmp_path


FOREIGN = (
    *(
        "embeddings/mine/a.npy",
        "embeddings/0123456789abcdef/mine.npy",
        "embeddings/mine/model.txt",
        "models/mine/config.json",
    ),
    *(
        "models/b/notes.txt",
        "models/b/evaluations/mine.json",
        "tokens/a/mine.npy",
        "tokens/mine/flat.npy",
        "comparisons/mine.json",
    ),
    *(
        "tiny-encoder/mine/config.json",
        "tiny-encoder/89d8d552/mine.txt",
        "pairs/mine.parquet",
        "others/mine",
    ),
    "models/c/scores.parquet",
)


def test_entries_of_each_kind_are_listed_and_deleted_whole(cache: Path) -> None:
    state = cache_state(cache)
    assert [(entry.kind, entry.path.name) for entry in state.entries] == [
        ("embeddings", "0123456789abcdef"),
        ("models", "b"),
        ("tokens", "a"),
        ("tiny-encoder", "89d8d552"),
        ("pairs", "c.parquet"),
        ("comparisons", "d.json"),
        ("similar-sentences", state.entries[-2].path.name),
        ("training-text", "e.parquet"),
    ]
    assert {*KINDS} == {entry.kind for entry in state.entries}
    assert state.mib == pytest.approx(
        sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 2**20
    )
    clear(Confirmed(yes=True), Terminal(Settings(cache=state.folder)))
    assert [path for path in cache.rglob("*") if path.parent != cache] == []


def test_what_others_put_into_the_folder_is_neither_counted_nor_deleted(cache: Path) -> None:
    before = cache_state(cache)
    for name in FOREIGN:
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"a": [1]}).write_parquet(cache / name) if name.endswith(
            "c/scores.parquet"
        ) else (cache / name).write_text('{"a": 1}')
    (cache / "embeddings" / "link").symlink_to(cache / "embeddings" / "mine")
    state = cache_state(cache)
    assert [(entry.path, {*entry.files}, entry.mib) for entry in state.entries] == [
        (entry.path, {*entry.files}, entry.mib) for entry in before.entries
    ]
    clear(Confirmed(yes=True), Terminal(Settings(cache=state.folder)))
    left = {
        path.relative_to(cache).as_posix()
        for path in cache.rglob("*")
        if path.is_file() and "link" not in path.parts
    }
    assert left == {*FOREIGN}


def test_entries_have_the_names_of_their_models(tmp_path: Path) -> None:
    cache, runs = tmp_path / "cache", tmp_path / "runs"
    (cache / "models/evaluated/evaluations").mkdir(parents=True)
    for name in ("f1", "f2"):
        EmbeddingCache(cache / "embeddings", name, dim=2, limit_bytes=2**20).store(
            sentence_keys(["A cat."]), np.ones((1, 2), np.float32), np.zeros(1, np.bool_)
        )
    (runs / "mine/seed-1/evaluations").mkdir(parents=True)
    store_similarities(PAIR, cache / "models/scored/evaluations", "f1", pl.Series([0.5]))
    written = sealed_json({"task": "sts", "model": 'a "b"', "fingerprint": "f3", "scores": []})
    write_atomic(cache / "models/evaluated/evaluations/sts.json", written)
    (runs / "mine/seed-1/evaluations/sts.json").write_text(
        '{\n "model": "mine@1",\n "fingerprint": "f2"\n}'
    )
    found = {entry.path.name: entry.model for entry in cache_state(cache, runs).entries}
    assert found == {"scored": "f1", "evaluated": 'a "b"', "f1": "f1", "f2": "mine@1"}


def test_the_cache_of_vectors_remembers_the_name_of_its_encoder(tmp_path: Path) -> None:
    keys = sentence_keys(["A cat."])
    for _ in range(2):
        EmbeddingCache(tmp_path / "embeddings", "f", dim=2, limit_bytes=2**20, name="sbert").store(
            keys, np.ones((1, 2), np.float32), np.zeros(1, np.bool_)
        )
    assert [entry.model for entry in cache_state(tmp_path).entries] == ["sbert"]
    assert EmbeddingCache(tmp_path / "embeddings", "f", dim=2, limit_bytes=2**20).knows(keys).all()
