import numpy as np
import pytest

from embedlab.encoders import encoder
from embedlab.encoders.encoder import cosines, distinct_texts
from tests.encoders.opening import TableEncoder


def test_distinct_keeps_first_appearance_and_every_place() -> None:
    unique, index = distinct_texts(["b", "a", "b", "", "a"])
    assert unique == ["b", "a", ""]
    assert index.tolist() == [0, 1, 0, 2, 1]


def test_cosines_equal_a_slow_loop() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 20, 7)).astype(np.float32)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    slow = [a @ b for a, b in zip(first, second, strict=True)] / lengths
    np.testing.assert_allclose(cosines(first, second), slow, atol=1e-6)
    zero = np.zeros_like(first)
    assert not cosines(zero, zero).any()
    assert not cosines(zero, first).any()


def test_a_vector_has_cosine_one_with_itself_exactly() -> None:
    vectors = np.random.default_rng(1).normal(size=(500, 384)).astype(np.float32)
    assert (cosines(vectors, vectors) == 1).all()


def test_pairs_are_scored_in_pieces_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    words = TableEncoder("w", vectors)
    whole = words.score("abcda", "bbacd")
    monkeypatch.setattr(encoder, "PAIRS_AT_ONCE", 2)
    assert words.score("abcda", "bbacd").tolist() == whole.tolist()
