import re
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import MissingError
from embedlab.encoders.kinds.word_vectors import WordVectorEncoder, load_word_vectors

GLOVE = "the 1 0 0\nParis 0 2 0\nparis 0 0 3\nfrance 4 4 4\n, 0 1 1\n"


def load(tmp_path: Path, text: str | bytes) -> WordVectorEncoder:
    file = tmp_path / "vectors.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_word_vectors(file)


def test_a_sentence_is_the_mean_of_its_known_words(tmp_path: Path) -> None:
    encoder = load(tmp_path, GLOVE)
    texts = ["the Paris", "The PARIS, unknown", "nothing known", ""]
    expected = [[0.5, 1, 0], [1 / 3, 1 / 3, 4 / 3], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-6)
    # word2vec's files start with two counts
    np.testing.assert_allclose(load(tmp_path, f"5 3\n{GLOVE}").encode(texts), expected, atol=1e-6)


def test_unknown_words_are_counted_once_a_sentence(tmp_path: Path) -> None:
    encoder = load(tmp_path, GLOVE)
    encoder.encode(["the Paris", "the unknown word"])
    encoder.encode(["the unknown word"])
    assert encoder.facts.notes == ("2 of 5 words have no vector",)


def test_a_word_may_have_blanks_and_the_first_of_two_equal_words_counts(tmp_path: Path) -> None:
    encoder = load(tmp_path, "4 2\na 1 2\na 9 9\n. . . 5 6\nb 3 4\n")
    np.testing.assert_allclose(encoder.encode(["a", "b"]), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("the 1 0 0\nparis 1 2\n", 2),
        ("the 1 0 0\nparis 1 2 x\n", 2),
        ("3 3\nthe 1 0 0\nparis 1\n", 3),
        ("the 1 0\n\nparis 1 2\n", 2),
        ("the 1 0\nparis 1 nan\n", 2),
        (b"the 1 0\n\xff\xfe 1 2\n", 2),
        ("word\n", 1),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, text: str | bytes, line: int) -> None:
    with pytest.raises(MissingError, match=re.escape(f"vectors.txt, line {line}:")):
        load(tmp_path, text)
    with pytest.raises(MissingError, match="no word vectors"):
        load(tmp_path, "")
