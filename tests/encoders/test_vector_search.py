from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from embedlab.choices import Similarity
from embedlab.encoders import vector_search
from embedlab.encoders.encoder import similarities
from embedlab.encoders.texts import sentence_keys
from embedlab.encoders.vector_search import cached_search
from embedlab.store.vectors import EmbeddingCache

DIM = 6
CORPUS = [f"sentence {number}" for number in range(90)]
QUERIES = ["sentence 3", "not in the corpus"]


@pytest.fixture
def vectors(tmp_path: Path) -> dict[str, np.ndarray]:
    """Vectors in two segments that overlap, with sentences outside the corpus; the last ten of the
    corpus have none.
    """
    rng = np.random.default_rng(1)
    found = {
        text: rng.normal(size=DIM).astype(np.float32)
        for text in [*CORPUS[:80], "not in the corpus", *(f"other {n}" for n in range(60))]
    }
    found["sentence 7"][:] = 0
    texts = list(found)
    for part in (texts[:50], texts[40:]):
        stacked = np.stack([found[text] for text in part])
        EmbeddingCache(tmp_path, "f", dim=DIM, limit_bytes=2**30).store(
            sentence_keys(part), stacked, np.zeros(len(part), np.bool_)
        )
    return found


@pytest.mark.parametrize("similarity", get_args(Similarity))
@pytest.mark.parametrize("block", [8, 10_000])
def test_a_search_gives_what_scoring_each_pair_gives(
    vectors: dict[str, np.ndarray],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    similarity: Similarity,
    block: int,
) -> None:
    monkeypatch.setattr(vector_search, "BLOCK_ROWS", block)
    search = cached_search(tmp_path, "f", CORPUS, similarity)
    assert search is not None
    assert search.is_known.tolist() == [text in vectors for text in CORPUS]
    found = search.approximate([*QUERIES, "sentence 85"])
    for query, row in zip(QUERIES, found, strict=False):
        slow = [
            similarities(vectors[query][None], vectors[text][None], similarity)[0]
            for text in CORPUS[:80]
        ]
        np.testing.assert_allclose(row[:80], slow, rtol=0, atol=1e-4)
        assert search.exact(query, np.arange(80)).tolist() == slow
        assert search.exact(query, np.array([7])).tolist() == slow[7:8]
    assert np.isnan(found[:2, 80:]).all()
    assert np.isnan(found[2]).all()  # it has no vector


def test_a_damaged_row_is_not_compared_and_other_files_are_noticed(
    vectors: dict[str, np.ndarray], tmp_path: Path
) -> None:
    (file,) = [path for path in tmp_path.glob("f/*.vectors.npy") if np.load(path).shape[0] == 50]
    keys = np.load(file.with_name(file.name.replace("vectors", "keys")))
    row = int(np.flatnonzero((keys == sentence_keys(["sentence 5"])).all(axis=1))[0])
    stored = np.load(file)
    stored[row, 0] += 1
    np.save(file, stored)
    search = cached_search(tmp_path, "f", CORPUS)
    assert search is not None
    found = search.exact("sentence 3", np.array([4, 5, 6]))
    assert np.isnan(found).tolist() == [False, True, False]
    assert search.is_current
    EmbeddingCache(tmp_path, "f", dim=DIM, limit_bytes=2**30).store(
        sentence_keys(["new"]), np.ones((1, DIM), np.float32), np.zeros(1, np.bool_)
    )
    assert not search.is_current
    assert cached_search(tmp_path, "unknown", CORPUS) is None
