"""A user's own rows in a TSV, CSV, JSONL or parquet file: all its columns, and the place of each
row for errors.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.core.hints import Hint
from embedlab.core.name_options import outside_quotes
from embedlab.data.json_objects import json_object, refuse_json_values
from embedlab.data.text_file import bad_line, csv_rows, read_lines, read_text

TABLES = (".tsv", ".csv", ".jsonl", ".parquet")
PLACE = "line of the file"  # a column that we add to the user's
_ODD_ESCAPE = re.compile(
    r"\\u(?:[dD][89a-fA-F]|0000)"
)  # polars reads half of a surrogate pair as a NUL character
_MARKS = {".csv": ",", ".tsv": "\t"}
_PAIR = ("sentence1", "sentence2")


def read_rows(path: Path, needed: Sequence[str] = _PAIR) -> pl.DataFrame:
    """Return all columns of a TSV, CSV, JSONL or parquet file, of text files as text, with the
    number of each row in PLACE.

    A row of a text file that ends before a NEEDED column is refused; missing fields after those are
    blank.
    """
    if path.is_dir():
        raise MissingError(
            f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it"
        )
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}",
            hint="a dataset is a name from `embedlab data ls` or the path of a file",
        )
    try:
        match path.suffix.lower():
            case ".parquet":
                return read_foreign_parquet(path).with_row_index(PLACE, offset=1)
            case ".jsonl":
                return _read_jsonl(path)
            case ".csv":
                return _table(path, _csv_rows(path), needed)
            case ".tsv":  # quotes are literal, as in the corpora
                return _table(
                    path,
                    [(number, line.split("\t")) for number, line in enumerate(read_lines(path), 1)],
                    needed,
                )
    except pl.exceptions.PolarsError as error:
        raise MissingError(
            f"{path} is not a readable {path.suffix[1:]} file: {str(error).splitlines()[0]}",
            hint="correct the file",
        ) from error
    raise MissingError(
        f"{path}: rows cannot be read from {path.suffix!r} files",
        hint=f"give one that ends in {', '.join(TABLES)}",
    )


def _csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file; spreadsheets of many countries separate its fields by
    semicolons, some programs by tabs.
    """
    text = read_text(path)
    counts = {mark: len(outside_quotes(text.partition("\n")[0], mark)) for mark in (",", ";", "\t")}
    separator = "," if counts[","] > 1 else max(counts, key=lambda mark: counts[mark])
    return list(csv_rows(path, io.StringIO(text, newline="\n"), separator))


def _read_jsonl(path: Path) -> pl.DataFrame:
    """Read the objects of a file, one a line; polars names no line, so a file that it cannot read
    is read again line by line.
    """
    lines = [(number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()]
    for number, line in lines:
        if _ODD_ESCAPE.search(line) or not line.lstrip().startswith("{"):
            json_object(path, number, line)
    try:
        frame = pl.read_ndjson(
            "\n".join(line for _, line in lines).encode(), infer_schema_length=None
        )
    except pl.exceptions.PolarsError:
        for number, line in lines:
            json_object(path, number, line)
        raise
    return frame.with_columns(pl.Series(PLACE, [number for number, _ in lines], dtype=pl.UInt32))


def _table(
    path: Path, rows: Sequence[tuple[int, list[str]]], needed: Sequence[str]
) -> pl.DataFrame:
    """Return the ROWS below a header as text, each with its line; missing fields at the end of a
    row are blank.
    """
    while len(rows) > 1 and not any(rows[-1][1]):
        rows = rows[:-1]
    header = [name.strip() for name in rows[0][1]]
    if len(header) == 1 and (
        other := next((mark for mark in ("\t", ";", ",") if mark in header[0]), None)
    ):
        raise bad_line(
            path,
            rows[0][0],
            f"its columns are separated by {other!r}, those of a {path.suffix} file by "
            f"{_MARKS[path.suffix.lower()]!r}",
        )
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise bad_line(path, rows[0][0], f"column {twice!r} occurs twice")
    fewest = max((header.index(name) + 1 for name in needed if name in header), default=0)
    for line, row in rows[1:]:
        if len(row) > len(header) or (any(row) and len(row) < fewest):
            raise bad_line(
                path, line, f"{len(row)} field{'s' * (len(row) != 1)}: the header has {len(header)}"
            )
    padded = [row + [""] * (len(header) - len(row)) for _, row in rows[1:]]
    columns = {
        name: pl.Series([row[at] for row in padded], dtype=pl.String).replace("", None)
        for at, name in enumerate(header)
    }
    return pl.DataFrame(
        {**columns, PLACE: pl.Series([line for line, _ in rows[1:]], dtype=pl.UInt32)}
    )


def number_of(column: str) -> pl.Expr:
    """Return a column of texts or numbers as numbers, null for anything else.

    "0,75" is 0.75, as many countries write it; "1,234", which may also be a thousand, is not a
    number.
    """
    text = pl.col(column).cast(pl.String).str.strip_chars()
    has_comma = text.str.contains(r"^[+-]?\d+,\d+$") & ~text.str.contains(
        r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+$"
    )
    return (
        pl.when(has_comma)
        .then(text.str.replace(",", ".", literal=True))
        .otherwise(text)
        .cast(pl.Float64, strict=False)
    )


def class_texts(values: pl.Series) -> pl.Series:
    """Return labels as texts; a number such as 1.0 is the label 1, as programs write whole numbers
    with blanks among them.
    """
    if values.dtype.is_float() and (values.drop_nulls() == values.drop_nulls().round()).all():
        values = values.cast(pl.Int64)
    return values.cast(pl.String).str.strip_chars()


def refuse_rows(
    title: Path | str,
    rows: pl.DataFrame,
    is_wrong: pl.Expr,
    fault: str,
    column: str,
    *,
    hint: str | Hint = "",
) -> None:
    """Raise for the first of ROWS that IS_WRONG, with its place in the file or dataset TITLE, the
    FAULT and what the COLUMN holds there.
    """
    wrong = rows.filter(is_wrong)
    if not wrong.is_empty():
        unit = "line" if isinstance(title, Path) and title.suffix.lower() != ".parquet" else "row"
        shown = "" if wrong[column][0] is None else f": {wrong[column][0]!r}"
        raise MissingError(
            f"{title}, {unit} {wrong[PLACE][0]}: {fault}{shown}", hint=hint or f"correct the {unit}"
        )


def refuse_nested(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for one of COLUMNS that holds neither texts nor numbers."""
    for name in columns:
        if name in rows.columns and (
            rows.schema[name].is_nested()
            or rows.schema[name].base_type() in {pl.Binary, pl.Object, pl.Duration}
        ):
            raise _other_values(title, rows, name)


def as_texts(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return ROWS with COLUMNS as text; one that holds what no text can be is refused."""
    for name in columns:
        try:
            rows = rows.with_columns(pl.col(name).cast(pl.String))
        except pl.exceptions.PolarsError as error:
            raise _other_values(title, rows, name) from error
    return rows


def _other_values(title: Path | str, rows: pl.DataFrame, name: str) -> MissingError:
    kind = rows.schema[name]
    what = (
        "lists, tables or bytes"
        if kind.is_nested() or kind in {pl.Binary, pl.Object}
        else f"values of the type {kind}"
    )
    return MissingError(
        f"{title}: {name} holds {what}, not texts or numbers", hint="give one text or number a row"
    )


def refuse_json_numbers(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for the first row of JSON lines in which one of COLUMNS holds anything but text."""
    if isinstance(title, Path) and title.suffix.lower() == ".jsonl":
        refuse_json_values(title, rows, columns)


def refuse_bad_texts(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for the first row in which one of COLUMNS is blank or holds a NUL character."""
    refuse_json_numbers(title, rows, columns)
    refuse_nested(title, rows, columns)
    for name in columns:
        text = pl.col(name).cast(pl.String).fill_null("")
        refuse_rows(title, rows, text.str.strip_chars() == "", f"{name} is empty", name)
        refuse_rows(
            title,
            rows,
            text.str.contains("\0", literal=True),
            f"{name} holds a NUL character",
            name,
        )
