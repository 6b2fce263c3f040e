import numpy as np
import pytest

from embedlab.encoders import encoder
from embedlab.encoders.encoder import cosines, distinct, score_by_vectors
from embedlab.encoders.kinds.word_vectors import WordVectorEncoder


def test_distinct_keeps_first_appearance_and_every_place() -> None:
    unique, index = distinct(["b", "a", "b", "", "a"])
    assert unique == ["b", "a", ""]
    assert index.tolist() == [0, 1, 0, 2, 1]


def test_cosines_equal_a_slow_loop() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 20, 7)).astype(np.float32)
    slow = [
        a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(first, second, strict=True)
    ]
    np.testing.assert_allclose(cosines(first, second), slow, atol=1e-6)


def test_a_vector_has_cosine_one_with_itself_exactly() -> None:
    vectors = np.random.default_rng(1).normal(size=(500, 384)).astype(np.float32)
    assert (cosines(vectors, vectors) == 1).all()


def test_a_zero_vector_has_cosine_zero() -> None:
    zero = np.zeros((1, 3), np.float32)
    assert cosines(zero, zero).tolist() == cosines(zero, zero + 1).tolist() == [0]


def test_pairs_are_scored_in_pieces_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    words = WordVectorEncoder(
        name="w", fingerprint="w", places={"a": 0, "b": 1, "c": 2, "d": 3}, vectors=vectors
    )
    first, second = ["a", "b", "c", "d", "a"], ["b", "b", "a", "c", "d"]
    whole = score_by_vectors(words, first, second)
    monkeypatch.setattr(encoder, "PAIRS_AT_ONCE", 2)
    assert score_by_vectors(words, first, second).tolist() == whole.tolist()
