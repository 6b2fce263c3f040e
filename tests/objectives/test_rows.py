"""Numbering sentences and classes."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.encoders.encoder import TextPair
from embedlab.objectives.needs import NEEDS, Needs, index_rows

FRAME = pl.DataFrame(
    {
        "premise": ["p", "p", "q"],
        "hypothesis": ["h", "q", "h"],
        "label": ["neutral", "entailment", "contradiction"],
    },
)


def test_a_sentence_has_one_number_in_every_column() -> None:
    rows = index_rows(FRAME, NEEDS)
    assert rows.sentences.to_list() == ["p", "q", "h"]
    assert {column: index.tolist() for column, index in rows.columns.items()} == {
        "premise": [0, 0, 1],
        "hypothesis": [2, 1, 2],
        "label": [1, 0, 2],
    }
    assert len(rows) == 3


def test_an_unknown_class_is_refused_with_its_row() -> None:
    frame = FRAME.with_columns(label=pl.Series(["neutral", "maybe", "neutral"]))
    with pytest.raises(UsageError, match="row 1: 'label' is 'maybe'"):
        index_rows(frame, NEEDS)


def test_texts_that_are_encoded_together_are_pairs_whatever_characters_they_hold() -> None:
    frame = pl.DataFrame(
        {"sentence1": ["a\x1fb", "a", "a\x1fb"], "sentence2": ["c", "b\x1fc", "c"]}
    )
    rows = index_rows(frame, Needs(sentences=("sentence1", "sentence2"), joint=True))
    assert rows.texts == [
        TextPair(first="a\x1fb", second="c"),
        TextPair(first="a", second="b\x1fc"),
    ]
    assert rows.columns["joint"].tolist() == [0, 1, 0]
    assert index_rows(FRAME, NEEDS).texts == ["p", "q", "h"]


WORDS = Needs(sentences=("definition",), words=("word",))
DEFINED = pl.DataFrame(
    {
        "definition": ["a pet", "a fruit", "a pet", "a tool"],
        "word": ["cat", "zzz", "dog", "axe"],
        "more": [1, 2, 3, 4],
    }
)


def ids(words: Sequence[str]) -> NDArray[np.int64]:
    return np.array([{"axe": 0, "dog": 7, "cat": 3}.get(word, -1) for word in words])


def test_rows_whose_word_is_not_one_token_are_left_out_and_counted() -> None:
    rows = index_rows(DEFINED, WORDS, ids)
    assert rows.columns["word"].tolist() == [3, 7, 0]
    assert rows.columns["definition"].tolist() == [0, 0, 1]
    assert (rows.left_out, len(rows), rows.at(1)) == (1, 3, "a tool")
    assert rows.frame.equals(DEFINED[[0, 2, 3]].select("definition", "word"))


def test_scores_are_float32_and_every_column_can_be_written_to() -> None:
    needs = Needs(sentences=("premise",), numbers=("gold",), classes=NEEDS.classes)
    rows = index_rows(FRAME.with_columns(gold=pl.Series([0.1, 2.5, 5.0])), needs)
    assert rows.columns["gold"].tolist() == pytest.approx([0.1, 2.5, 5.0])
    words = index_rows(DEFINED, WORDS)
    assert words.columns["word"].tolist() == [0, 1, 2, 3]  # without tokens, as they appear
    for name, column in (rows.columns | words.columns).items():
        assert column.flags.writeable, name  # torch takes it without a copy
        assert column.dtype == (np.float32 if name == "gold" else np.int64)
