"""Rows of a user's file as they are read, each with its place, and what is said of a row that is
refused.
"""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data.row_file import (
    PLACE,
    class_texts,
    number_of,
    read_rows,
    refuse_bad_texts,
    refuse_nested,
    refuse_rows,
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
def test_a_blank_text_is_refused(text: str | None) -> None:
    rows = pl.DataFrame({"text": ["a", text], PLACE: [1, 2]}, schema_overrides={"text": pl.String})
    with pytest.raises(MissingError, match="row 2: text is empty"):
        refuse_bad_texts("it", rows, ["text"])


def test_a_nul_character_is_refused_and_other_texts_are_not() -> None:
    with pytest.raises(MissingError, match="row 1: text holds a NUL character"):
        refuse_bad_texts("it", pl.DataFrame({"text": ["a\0b"], PLACE: [1]}), ["text"])
    refuse_bad_texts(
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
