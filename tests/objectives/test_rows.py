"""Numbering sentences and classes."""

import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.encoders.texts import TextPair
from embedlab.objectives.needs import Needs
from embedlab.objectives.nli import NEEDS
from embedlab.objectives.rows import index_rows

FRAME = pl.DataFrame(
    {"premise": ["p", "p", "q"], "hypothesis": ["h", "q", "h"], "label": ["neutral", "entailment", "contradiction"]},
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
    frame = pl.DataFrame({"sentence1": ["a\x1fb", "a", "a\x1fb"], "sentence2": ["c", "b\x1fc", "c"]})
    rows = index_rows(frame, Needs(sentences=("sentence1", "sentence2"), joint=True))
    assert rows.texts == [TextPair(first="a\x1fb", second="c"), TextPair(first="a", second="b\x1fc")]
    assert rows.columns["joint"].tolist() == [0, 1, 0]
    assert index_rows(FRAME, NEEDS).texts == ["p", "q", "h"]
