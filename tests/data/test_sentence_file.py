"""Sentences as a stream from a user's file, in every format, with the line of what is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.sentence_file import sentences
from tests.data.conftest import Write


@pytest.mark.parametrize(
    ("name", "content", "column", "expected"),
    [
        ("a.txt", "one\n\ntwo\r\nthree", None, ["one", "", "two", "three"]),
        ("a.txt", "\ufeffone\u2028still\n", None, ["one\u2028still"]),
        ("a.tsv", 'id\tsentence\n1\t"one"\n2\ttwo\n\n', None, ['"one"', "two"]),
        ("a.TSV", "id\ttext\n1\tone\n", "text", ["one"]),
        ("a.csv", 'sentence,id\n"one, ""a""\nb",1\ntwo,2\n', None, ['one, "a"\nb', "two"]),
        ("a.jsonl", '{"sentence": "one"}\n\n{"sentence": "two", "id": 3}\n', None, ["one", "two"]),
        ("a.jsonl", '{"text": "one", "sentence": 5}\n', "text", ["one"]),
    ],
)
def test_the_sentences_of_a_file_come_in_order(
    name: str, content: str, column: str | None, expected: list[str], write: Write
) -> None:
    assert list(sentences(write(name, content), column)) == expected


@pytest.mark.parametrize(
    ("name", "content", "column", "words"),
    [
        ("a.txt", "one\n", "text", "--column is for .tsv, .csv and .jsonl files"),
        ("a.txt", "one\ntwo\0\n", None, "line 2: a NUL character"),
        ("a.txt", b"one\ncaf\xe9\n", None, "line 2: byte 0xe9 is not UTF-8"),
        ("a.tsv", "", None, "is empty"),
        ("a.tsv", "id\ttext\n", None, "has no column 'sentence'"),
        ("a.tsv", "id\tsentence\n1\n2\ttwo\n", None, "line 2: only 1 columns"),
        ("a.csv", "id,sentence\n1,two\0\n", None, "line 2: a NUL character"),
        ("a.csv", 'sentence\n"one\n', None, "line 2: not readable as CSV"),
        (
            "a.jsonl",
            '{"sentence": "one"}\n{"sentence": 2}\n',
            None,
            "line 2: 'sentence' is 2, not a text",
        ),
        ("a.jsonl", '{"text": "one"}\n', None, "has no column 'sentence'"),
        ("a.jsonl", '{"sentence": null}\n', None, "line 1: 'sentence' is None, not a text"),
        ("a.parquet", "", None, "sentences cannot be read from '.parquet' files"),
    ],
)
def test_what_is_not_a_sentence_is_refused_with_its_line(
    name: str, content: str | bytes, column: str | None, words: str, write: Write
) -> None:
    with pytest.raises(EmbedlabError) as refused:
        list(sentences(write(name, content), column))
    assert words in refused.value.message
    assert refused.value.hint


def test_the_columns_to_choose_from_are_in_the_hint(write: Write) -> None:
    with pytest.raises(UsageError) as refused:
        list(sentences(write("a.tsv", "id\ttext\n1\tone\n")))
    assert refused.value.hint == "name one of its columns: --column id | text"


def test_a_file_is_read_no_further_than_its_sentences_are_taken(write: Write) -> None:
    stream = sentences(write("a.txt", "one\ntwo\0\n"))
    assert next(stream) == "one"
    with pytest.raises(MissingError):
        next(stream)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="cannot read"):
        list(sentences(tmp_path / "none.txt"))
