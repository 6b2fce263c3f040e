"""Text files as corpora have them: lines, fields and numbers, and the line that is named where one
is wrong.
"""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data.text_file import read_csv_rows, read_fields, read_lines, read_numbers, text_fault
from tests.data.conftest import Write


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("one\n", ["one"]),
        ("one", ["one"]),
        ("one\ntwo\n", ["one", "two"]),
        ("one\n\n", ["one", ""]),
        ("one\r\ntwo\r\n", ["one", "two"]),
        ("a\u2028b\x0bc\x85d\n", ["a\u2028b\x0bc\x85d"]),
        ("\ufeffone\n", ["one"]),
        ("a\rb\nc\n", ["a\rb", "c"]),
    ],
)
def test_lines_end_at_a_line_feed_only(content: str, lines: list[str], write: Write) -> None:
    assert read_lines(write("a.txt", content)) == lines


def test_lines_that_end_in_a_carriage_return_alone_are_lines(write: Write) -> None:
    assert read_lines(write("a.txt", "one\rtwo\r")) == ["one", "two"]


def test_latin_1_is_read_where_it_is_documented_and_refused_elsewhere(write: Write) -> None:
    path = write("a.txt", "plain\ncaf\xe9\n".encode("latin-1"))
    assert read_lines(path, encoding="latin-1") == ["plain", "café"]
    with pytest.raises(MissingError, match="line 2: byte 0xe9 is not UTF-8"):
        read_lines(path)
    with pytest.raises(
        MissingError, match="line 2: byte 0xe9 is not UTF-8"
    ):  # one file never mixes the two
        read_lines(
            write("a.txt", "naïve\n".encode() + "caf\xe9\n".encode("latin-1")), encoding="latin-1"
        )


def test_fields_are_found_by_position_and_may_be_of_several_counts(write: Write) -> None:
    path = write("a.tsv", 'a\t"b"\nc\td\te\n')
    found = read_fields(path, (1, 0), line_shape="two or three", fields=(2, 3))
    assert found.rows() == [(1, '"b"', "a"), (2, "d", "c")]
    with pytest.raises(MissingError, match=r"line 2: 3 tab-separated fields: expected a pair$"):
        read_fields(path, (0,), line_shape="a pair", fields=(2,))
    with pytest.raises(
        MissingError, match="line 1: 2 tab-separated fields: expected more in 3 or 4 fields"
    ):
        read_fields(path, (0,), line_shape="more", fields=(3, 4))
    with pytest.raises(MissingError, match="line 2: 1 tab-separated field: "):
        read_fields(write("a.tsv", "a\tb\nc\n"), (0,), line_shape="a pair", fields=(2,))


def test_fields_are_found_by_the_names_of_a_header(write: Write) -> None:
    path = write("a.tsv", "id\t gold \ttext\n1\t2.5\tone\n2\t3\ttwo\n")
    assert read_fields(path, ("text", "gold"), line_shape="x").rows() == [
        (2, "one", "2.5"),
        (3, "two", "3"),
    ]
    with pytest.raises(MissingError, match="line 1: no column 'label': found id, gold, text"):
        read_fields(path, ("text", "label"), line_shape="x")
    with pytest.raises(
        MissingError, match="line 3: 2 tab-separated fields: expected x in 3 fields"
    ):
        read_fields(
            write("a.tsv", "id\tgold\ttext\n1\t2\tone\n2\ttwo\n"), ("text",), line_shape="x"
        )
    with pytest.raises(MissingError, match="line 1: column 'text' occurs twice"):
        read_fields(write("a.tsv", "text\ttext\na\tb\n"), ("text",), line_shape="x")


def test_a_quoted_field_of_several_lines_counts_them(write: Write) -> None:
    assert list(read_csv_rows(write("a.csv", 'h\n"a\nb"\nc\n'))) == [
        (1, ["h"]),
        (2, ["a\nb"]),
        (4, ["c"]),
    ]
    with pytest.raises(MissingError, match="line 2: not readable as CSV"):
        list(read_csv_rows(write("a.csv", 'h\n"a\nb\n')))


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a\0b", "a NUL character"), ("a\ud800", "half of a surrogate pair"), ("a\u2028é", None)],
)
def test_no_text_may_hold_what_cannot_be_stored(text: str, fault: str | None) -> None:
    assert text_fault(text) == fault


def test_numbers_are_read_with_blanks_and_refused_outside_their_range() -> None:
    lines = pl.Series([2, 3, 4], dtype=pl.UInt32)
    found = read_numbers(Path("a.tsv"), pl.Series(["0", " 5 ", ""]), lines, 0, 5, "gold")
    assert found.to_list() == [0.0, 5.0, None]
    for wrong in ("5.01", "-0.01", "nan", "five", "inf"):
        with pytest.raises(MissingError, match=r"line 3: gold '.*' is not a number from 0 to 5"):
            read_numbers(Path("a.tsv"), pl.Series(["0", wrong, ""]), lines, 0, 5, "gold")
    with pytest.raises(
        MissingError, match=r"line 4: label '1\.5' is not a whole number from 0 to 2"
    ):
        read_numbers(
            Path("a.tsv"), pl.Series(["0", "2", "1.5"]), lines, 0, 2, "label", is_class=True
        )
