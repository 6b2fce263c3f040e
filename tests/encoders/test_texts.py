"""Sentences and pairs of texts: each has its own bytes, and those of ordinary sentences are as they
always were.
"""

from itertools import combinations

import pytest

from embedlab.core.errors import UsageError
from embedlab.encoders.encoder import Text, TextPair, key_content, single_texts

ODD: tuple[Text, ...] = (
    "ab",
    "a\x1fb",
    "pair",
    "a[SEP]b",
    "",
    TextPair(first="a", second="b"),
    TextPair(first="ab", second=""),
    TextPair(first="", second="ab"),
    TextPair(first="a\x1f", second="b"),
    TextPair(first="a", second="\x1fb"),
    TextPair(first="", second=""),
)


def test_no_two_texts_are_stored_under_one_key() -> None:
    assert all(key_content(one) != key_content(other) for one, other in combinations(ODD, 2))


@pytest.mark.parametrize(
    "text", ["A man is playing a guitar.", "", "e\u0301 \ud800", "a < s > b", "[1] <b>x</b>"]
)
def test_what_was_stored_of_an_ordinary_sentence_is_found(text: str) -> None:
    assert key_content(text) == text.encode("utf-8", "surrogatepass")


def test_an_encoder_of_single_texts_refuses_a_pair_by_its_own_name() -> None:
    assert single_texts("word-vectors:x", ["a", "b\x1fc"]) == ["a", "b\x1fc"]
    with pytest.raises(UsageError, match="'word-vectors:x' does not read two texts at once"):
        single_texts("word-vectors:x", ["a", TextPair(first="a", second="b")])
