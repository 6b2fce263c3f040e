"""Rows of a user's file with the place of each, and its sentences as a stream."""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.table_file import (
    PLACE,
    class_texts,
    full_rows,
    number_of,
    read_rows,
    refuse_nested,
    refuse_rows,
    rows_with,
    sentences,
)
from tests.data.conftest import Write

ROWS = pl.DataFrame({"text": ["a", None, "c"], "score": ["1", "x", None], PLACE: [2, 3, 4]})


@pytest.mark.parametrize(
    ("title", "place"),
    [
        (Path("own.tsv"), "line"),
        (Path("own.jsonl"), "line"),
        (Path("own.parquet"), "row"),
        (Path("own.PARQUET"), "row"),
        ("a dataset", "row"),
    ],
)
def test_a_refused_row_is_named_by_its_place_with_what_it_holds(
    title: Path | str, place: str
) -> None:
    with pytest.raises(MissingError) as refused:
        refuse_rows(title, ROWS, pl.col("score") == "x", "score is not a number", "score")
    assert (refused.value.message, refused.value.hint) == (
        f"{title}, {place} 3: score is not a number: 'x'",
        f"correct the {place}",
    )


def test_the_first_refused_row_is_named_and_of_nothing_nothing_is_quoted() -> None:
    with pytest.raises(MissingError) as refused:
        refuse_rows(
            "it",
            ROWS,
            pl.col("score").is_null() | pl.col("text").is_null(),
            "text is empty",
            "text",
            hint="write one",
        )
    assert (refused.value.message, refused.value.hint) == ("it, row 3: text is empty", "write one")
    refuse_rows("it", ROWS, pl.col("text") == "no such text", "never", "text")


@pytest.mark.parametrize("text", ["", "  \t", None])
def test_rows_without_a_text_are_left_out_and_counted_with_their_places(text: str | None) -> None:
    columns = {"text": ["a", text, "b", text, text, text], PLACE: [1, 2, 3, 4, 6, 8]}
    rows = pl.DataFrame(columns, schema_overrides={"text": pl.String})
    left, skipped = full_rows(Path("in/a.csv"), rows, ["text"])
    assert left["text"].to_list() == ["a", "b"]
    assert skipped == {"empty text at a.csv:2, 4, 6…": 4}
    with pytest.raises(MissingError, match="it: text is empty in every row"):
        full_rows("it", rows[1:2], ["text"])


def test_rows_without_a_score_or_label_are_left_out_and_counted_with_their_places() -> None:
    rows = pl.DataFrame({"label": ["a", " ", "-", None], PLACE: [2, 3, 4, 5]})
    left, skipped = rows_with(Path("a.csv"), rows, "label", without=["-"])
    assert (left["label"].to_list(), skipped) == (["a"], {"blank label at a.csv:3, 4, 5": 3})
    with pytest.raises(MissingError, match="it: label is empty in every row"):
        rows_with("it", rows[1:], "label", without=["-"])


def test_each_text_of_a_list_has_a_row_and_of_two_lists_each_text_with_each() -> None:
    rows = pl.DataFrame(
        {
            "anchor": ["one", "two", "three"],
            "pos": [["a", "b"], ["c"], []],
            "neg": [["x", "y"], ["z"], ["w"]],
            PLACE: [1, 2, 3],
        }
    )
    left, skipped = full_rows("it", rows, ["anchor", "pos", "neg"], lists=["pos", "neg"])
    assert left.drop(PLACE).rows() == [
        ("one", "a", "x"),
        ("one", "a", "y"),
        ("one", "b", "x"),
        ("one", "b", "y"),
        ("two", "c", "z"),
    ]
    assert skipped == {"empty pos at row 3": 1}


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_csv_file_is_read_by_the_separator_on_which_its_rows_agree(
    separator: str, write: Write
) -> None:
    mark = separator
    for head in ("", f"sep={mark}\n", f'"sep={mark}"\n'):
        text = f"{head}a, b{mark}c\nx, y{mark}z\nx{mark}y\n"
        rows = read_rows(write("a.csv", text.replace("\n", "\r\n")))
        assert rows.drop(PLACE).rows() == [("x, y", "z"), ("x", "y")]
        assert rows[PLACE].to_list() == [2 + bool(head), 3 + bool(head)]


@pytest.mark.parametrize("separator", ["^", "~", ":", "\x01", "¦", "||", "::", "\t"])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_another_separator_than_those_is_refused(separator: str, ending: str, write: Write) -> None:
    text = separator.join(["premise", "hypothesis", "label"]) + "\n"
    text += separator.join(["one text", "another longer text", "neutral"]) + "\n"
    if separator == "\t":
        text = text.replace("\t", "," if ending == "tsv" else "¦")
    with pytest.raises(MissingError, match=r"line 1: (its columns are separated by|column '')"):
        read_rows(write(f"a.{ending}", text))


def test_one_column_whose_name_has_a_sign_is_one_column(write: Write) -> None:
    rows = read_rows(write("a.csv", "text:en\none text\nanother: text\n"))
    assert rows["text:en"].to_list() == ["one text", "another: text"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "txt"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n",
            "a git-lfs pointer",
        ),
        (b"\n<!DOCTYPE html>\n<html>", "a web page"),
        (b"\x1f\x8b\x08\x00\x00\x00", "compressed by gzip"),
        (b"PK\x03\x04\x14\x00", "a zip archive or a spreadsheet"),
        ("a,b\nc,d\n".encode("utf-16"), "text in UTF-16"),
    ],
)
def test_a_file_that_is_in_the_place_of_another_is_called_so(
    content: bytes, what: str, ending: str, write: Write
) -> None:
    path = write(f"a.{ending}", content)
    for read in (read_rows, lambda path: list(sentences(path))):
        if ending == "txt" and read is read_rows:
            continue
        if ending == "parquet" and read is not read_rows:
            continue
        with pytest.raises(MissingError, match=f"is {what}") as error:
            read(path)
        assert error.value.hint


def test_lines_that_end_in_a_carriage_return_alone_are_lines(write: Write) -> None:
    for ending in ("csv", "tsv"):
        mark = "," if ending == "csv" else "\t"
        path = write(f"a.{ending}", f"sentence{mark}b\rone{mark}two\rthree{mark}four\r")
        assert read_rows(path).drop(PLACE).rows() == [("one", "two"), ("three", "four")]
        assert list(sentences(path)) == ["one", "three"]
    assert list(sentences(write("a.txt", "one\rtwo\r"))) == ["one", "two"]


def test_bytes_of_a_parquet_file_are_text_where_they_are_utf_8(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["é".encode(), None], "b": [b"\xff", b"x"]})
    frame.write_parquet(tmp_path / "a.parquet")
    rows = read_rows(tmp_path / "a.parquet")
    assert rows["a"].to_list() == ["é", None]
    assert rows.schema["b"] == pl.Binary


def test_a_nul_character_is_refused_and_other_texts_are_not() -> None:
    with pytest.raises(MissingError, match="row 1: text holds a NUL character"):
        full_rows("it", pl.DataFrame({"text": ["a\0b"], PLACE: [1]}), ["text"])
    full_rows(
        "it",
        pl.DataFrame({"text": ["0", "a\u00a0b"], "number": [0, 1], PLACE: [1, 2]}),
        ["text", "number"],
    )


def test_lists_and_bytes_are_refused_where_texts_belong() -> None:
    for values in ([["a"]], [{"a": 1}], [b"a"]):
        with pytest.raises(MissingError, match="text holds lists, tables or bytes"):
            refuse_nested("it", pl.DataFrame({"text": values}), ["text"])
    refuse_nested("it", pl.DataFrame({"text": ["a"], "other": [["a"]]}), ["text", "absent"])


def test_every_row_has_the_line_that_it_is_on(write: Write) -> None:
    assert read_rows(write("a.csv", 'sentence1,sentence2\na,"b\nb"\nc,d\n'))[PLACE].to_list() == [
        2,
        4,
    ]
    assert read_rows(write("a.jsonl", '{"a": 1}\n\n{"a": 2}\n'))[PLACE].to_list() == [1, 3]
    frame = pl.DataFrame({"a": [5, 6]})
    frame.write_parquet(path := write("a.parquet", ""))
    assert read_rows(path).rows(named=True) == [{PLACE: 1, "a": 5}, {PLACE: 2, "a": 6}]


def test_a_row_may_end_before_a_column_that_is_not_needed(write: Write) -> None:
    path = write("a.tsv", "sentence1\tsentence2\tnote\na\tb\nc\td\tx\n")
    assert read_rows(path)["note"].to_list() == [None, "x"]
    with pytest.raises(MissingError, match="line 2: 2 fields: the header has 3"):
        read_rows(path, needed=["note"])
    with pytest.raises(MissingError, match="line 2: 3 fields: the header has 2"):
        read_rows(write("b.tsv", "sentence1\tsentence2\na\tb\tc\n"))
    assert len(read_rows(write("c.tsv", "sentence1\tsentence2\na\tb\n\n\n"))) == 1


@pytest.mark.parametrize("mark", [";", ","])
def test_another_mark_between_the_columns_is_named(mark: str, write: Write) -> None:
    with pytest.raises(MissingError, match="line 1"):
        read_rows(write("a.tsv", f"sentence1{mark}sentence2\na{mark}b\n"))


def test_a_column_that_occurs_twice_is_refused(write: Write) -> None:
    with pytest.raises(MissingError, match="column 'a' occurs twice"):
        read_rows(write("a.csv", "a,b,a\n1,2,3\n"))


def test_lines_of_blanks_between_json_objects_are_skipped(write: Write) -> None:
    found = read_rows(write("a.jsonl", '  \n{"a": 1}\n\t\n  {"a": 2}\n \n'))
    assert found["a"].to_list() == [1, 2]
    assert found[PLACE].to_list() == [2, 4]


NUMBERS = {
    **{
        " 1.5 ": 1.5,
        "0,75": 0.75,
        "-0,5": -0.5,
        "+3,25": 3.25,
        "1,2345": 1.2345,
        "0,123": 0.123,
        "12,34": 12.34,
        "7": 7,
        "1e3": 1000,
    },
    **dict.fromkeys(("1,234", "12,345", "1,234,567", "x", "1.2.3", "", None)),
}


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_numbers_are_read_with_a_point_or_a_comma_that_is_not_of_thousands(
    text: str | None, number: float | None
) -> None:
    assert pl.DataFrame({"a": [text]}, schema={"a": pl.String}).select(
        number_of("a")
    ).to_series().to_list() == [number]


def test_numbers_of_any_type_are_numbers() -> None:
    frame = pl.DataFrame({"whole": [1, None], "half": [0.5, -2.0]})
    assert frame.select(number_of("whole"), number_of("half")).rows() == [(1.0, 0.5), (None, -2.0)]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, None, 2.0], ["1", None, "2"]),
        ([1.0, 1.5], ["1.0", "1.5"]),
        ([1, 2], ["1", "2"]),
        ([" yes ", "no\t"], ["yes", "no"]),
        ([True, False], ["true", "false"]),
    ],
)
def test_labels_are_texts_and_whole_numbers_are_without_a_point(
    values: list[object], texts: list[str | None]
) -> None:
    assert class_texts(pl.Series(values)).to_list() == texts


def test_fields_that_a_row_lacks_are_blank_and_blank_rows_at_the_end_are_none(write: Write) -> None:
    rows = read_rows(write("p.csv", " a ,b,c\n1,2,3\n4\n,,\n5,6\n,,\n\n"))
    assert rows.drop(PLACE).rows() == [
        ("1", "2", "3"),
        ("4", None, None),
        (None, None, None),
        ("5", "6", None),
    ]
    assert rows.columns[:3] == ["a", "b", "c"]
    assert rows[PLACE].to_list() == [2, 3, 4, 5]
    with pytest.raises(MissingError, match="line 3: 1 field: the header has 3"):
        read_rows(write("q.csv", "a,b,c\n1,2,3\n4\n"), needed=("b", "absent"))
    assert read_rows(write("r.csv", "a,b,c\n1,2\n"), needed=("b",)).height == 1


def test_a_row_that_ends_too_early_is_refused_also_where_one_of_its_fields_is_blank(
    write: Write,
) -> None:
    with pytest.raises(MissingError, match="line 2: 2 fields: the header has 3"):
        read_rows(write("a.csv", "sentence1,sentence2,score\n,b\nc,d,1\n"), needed=["score"])


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
