"""A table of a user's own, a TSV, CSV, JSONL or parquet file: its rows with the place of each for
errors, or the sentences of one column as a stream.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import other_content, refuse_foreign
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.core.hints import Hint, NamedOption
from embedlab.core.name_options import outside_quotes
from embedlab.data.text_file import (
    bad_line,
    csv_rows,
    is_seen,
    json_object,
    read_lines,
    read_text,
    refuse_json_values,
    without_unseen_ends,
)

TABLES = (".tsv", ".csv", ".jsonl", ".parquet")
PLACE = "line of the file"  # a column that we add to the user's
_ODD_ESCAPE = re.compile(
    r"\\u(?:[dD][89a-fA-F]|0000)"
)  # polars reads half of a surrogate pair as a NUL character
SEPARATORS = (",", ";", "\t", "|")  # of a CSV file
_STATED_SEPARATOR = re.compile(r'"?sep=(.)"?')  # a first line that Excel writes
_NO_SEPARATORS = frozenset("_-. '\"()/?!")  # signs that names of columns have
_GAP = re.compile(r"\S {2,}\S")
_LOOKED_AT = 1000  # rows
_HEAD = 65536  # bytes
_SHOWN_PLACES = 3
NOTHING = ("nan", "none", "null", "na", "n/a", "–", "—", "-")  # how programs write no number
_WHOLE = 2.0**53  # from here on a float is no whole number that can be told from the next
_DESCRIPTORS = Path("/dev/fd")  # what a shell names <(command): its writer is there
_PAIR = ("sentence1", "sentence2")


def read_rows(path: Path, needed: Sequence[str] = _PAIR) -> pl.DataFrame:
    """Return all columns of a TSV, CSV, JSONL or parquet file, of text files as text, with the
    number of each row in PLACE.

    A row of a text file that ends before a NEEDED column is refused; missing fields after those are
    blank. Bytes that are UTF-8 are text.
    """
    if path.is_dir():
        raise MissingError(
            f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it"
        )
    refuse_foreign(path)
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}",
            hint="a dataset is a name from `embedlab data ls` or the path of a file",
        )
    try:
        match path.suffix.lower():
            case ".parquet":
                return _read_parquet(path)
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


def _read_parquet(path: Path) -> pl.DataFrame:
    with path.open("rb") as file:
        other = other_content(file.read(64))
    if other is not None and not other.what.endswith("parquet file"):
        raise MissingError(f"{path} is {other.what}", hint=other.hint)
    rows = read_foreign_parquet(path)
    for name, dtype in rows.schema.items():
        if dtype == pl.Binary:  # as Spark and Impala wrote text
            try:
                rows = rows.with_columns(pl.col(name).cast(pl.String))
            except pl.exceptions.PolarsError:
                continue  # whoever reads the column refuses it
    return rows.with_row_index(PLACE, offset=1)


def _csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file, separated as its first line states, or as most of its rows
    agree.
    """
    text = read_text(path)
    first, end, rest = text.partition("\n")
    if stated := _STATED_SEPARATOR.fullmatch(first.rstrip("\r")):
        lines = io.StringIO(rest, newline="\n")
        return [(line + 1, row) for line, row in csv_rows(path, lines, stated[1])]
    splits = [mark for mark in SEPARATORS if len(outside_quotes(first, mark)) > 1]
    if len(splits) > 1:
        splits.sort(key=lambda mark: not _is_consistent(text, mark))
    separator = splits[0] if splits else ","
    return list(csv_rows(path, io.StringIO(first + end + rest, newline="\n"), separator))


def _is_consistent(text: str, separator: str) -> bool:
    """Return whether the first rows of a CSV file have as many fields as its header."""
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator)
    try:
        header = next(reader)
        return all(
            len(row) == len(header)
            for row, _ in zip(reader, range(_LOOKED_AT), strict=False)
            if row
        )
    except csv.Error:
        return False


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
        objects = [json_object(path, number, line, reads_nan=True) for number, line in lines]
        again = "\n".join(json.dumps(row) for row in objects)
        frame = pl.read_ndjson(again.encode(), infer_schema_length=None)
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
    if len(header) < 2 + ("" in header) and (
        other := _other_separator([",".join(row) for _, row in rows if row])
    ):
        marks = " ".join(map(repr, SEPARATORS)) if path.suffix.lower() == ".csv" else repr("\t")
        raise bad_line(
            path,
            rows[0][0],
            f"its columns are separated by {other!r}, those of a {path.suffix} file by {marks}",
        )
    if len({*header}) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise bad_line(path, rows[0][0], f"column {twice!r} occurs twice")
    fewest = max((header.index(name) + 1 for name in needed if name in header), default=0)
    for line, row in rows[1:]:
        if len(row) > len(header) or (any(row) and len(row) < fewest):
            raise bad_line(
                path, line, f"{len(row)} field{'s' * (len(row) != 1)}: the header has {len(header)}"
            )
    padded = [row + [""] * (len(header) - len(row)) for _, row in rows[1:]]
    columns = {
        name: pl.Series([row[at] or None for row in padded], dtype=pl.String)
        for at, name in enumerate(header)
    }
    return pl.DataFrame(
        {**columns, PLACE: pl.Series([line for line, _ in rows[1:]], dtype=pl.UInt32)}
    )


def _other_separator(lines: Sequence[str]) -> str | None:
    """Return a sign between the names of columns in the first of LINES that all others have too."""
    header, *others = lines[:_LOOKED_AT]
    if all(_GAP.search(line) for line in (header, *others) if line):
        return "  "
    if header.count(" ") and all(line.count(" ") == header.count(" ") for line in others if line):
        return " "  # sentences have no equal number of words
    signs = dict.fromkeys(
        sign for sign in header.strip() if not sign.isalnum() and sign not in _NO_SEPARATORS
    )
    return next(
        (
            sign
            for sign in signs
            if all(line.count(sign) >= header.count(sign) for line in others if line)
        ),
        None,
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
    with blanks among them, and NaN is none.
    """
    if values.dtype.is_float():
        values = values.fill_nan(None)
        known = values.drop_nulls()
        if (known == known.round()).all() and (known.abs() < _WHOLE).all():
            values = values.cast(pl.Int64)
    return without_unseen_ends(values.cast(pl.String))


def places(title: Path | str, rows: pl.DataFrame) -> str:
    """Return where the first of ROWS are in a file or dataset, such as "pairs.csv:3, 7, 9…"."""
    shown = ", ".join(map(str, rows[PLACE].head(_SHOWN_PLACES)))
    name = f"{title.name}:" if isinstance(title, Path) else "row "
    return f"{name}{shown}{'…' * (rows.height > _SHOWN_PLACES)}"


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
            raise other_values(title, rows, name)


def as_texts(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return ROWS with COLUMNS as text; one that holds what no text can be is refused."""
    for name in columns:
        try:
            rows = rows.with_columns(pl.col(name).cast(pl.String))
        except pl.exceptions.PolarsError as error:
            raise other_values(title, rows, name) from error
    return rows


def other_values(title: Path | str, rows: pl.DataFrame, name: str) -> MissingError:
    """Return the error for a column whose values are of a type that no text or number has."""
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
        refuse_json_values(title, rows, columns, rows[PLACE])


def holds_text_lists(rows: pl.DataFrame, name: str) -> bool:
    """Return whether a column of ROWS holds lists of texts."""
    dtype = rows[name].dtype  # a frame makes its whole schema at each question
    return isinstance(dtype, pl.List | pl.Array) and dtype.inner == pl.String


def full_rows(
    title: Path | str, rows: pl.DataFrame, columns: Sequence[str], *, lists: Sequence[str] = ()
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the ROWS whose COLUMNS all hold a text, and how many others there are, by what is
    empty and where; a NUL character is refused.

    Each text of the lists in the columns LISTS has a row: of two lists, each of one with each of
    the other.
    """
    lists = [name for name in lists if holds_text_lists(rows, name)]
    refuse_json_numbers(title, rows, [name for name in columns if name not in lists])
    skipped: dict[str, int] = {}
    for name in lists:
        count = pl.col(name).cast(pl.List(pl.String)).list.len().fill_null(0)
        if (empty := rows.filter(count == 0)).height:
            if empty.height == rows.height:
                raise _all_empty(title, name)
            skipped[f"empty {name} at {places(title, empty)}"] = empty.height
        rows = rows.filter(count > 0).explode(name)
    refuse_nested(title, rows, columns)
    for name in columns:
        has_nul = pl.col(name).cast(pl.String).str.contains("\0", literal=True)
        refuse_rows(title, rows, has_nul, f"{name} holds a NUL character", name)
        is_text = is_seen(rows[name].cast(pl.String))
        if not is_text.any() and rows.height:
            raise _all_empty(title, name)
        if not is_text.all():
            blank = rows.filter(~is_text)
            reason = f"empty {name} at {places(title, blank)}"
            skipped[reason] = skipped.get(reason, 0) + blank.height
            rows = rows.filter(is_text)
    return rows, skipped


def _all_empty(title: Path | str, column: str) -> MissingError:
    return MissingError(f"{title}: {column} is empty in every row", hint=f"fill in {column}")


def rows_with(
    title: Path | str, rows: pl.DataFrame, column: str, *, without: Sequence[str] = ()
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the ROWS with a label or score in a COLUMN, and how many others there are and where;
    blank and WITHOUT, in small letters, are none.
    """
    texts = class_texts(rows[column]).fill_null("").str.to_lowercase()
    is_blank = texts.is_in(["", *without])
    if is_blank.all():
        raise _all_empty(title, column)
    blank = rows.filter(is_blank)
    skipped = {f"blank {column} at {places(title, blank)}": blank.height} if blank.height else {}
    return rows.filter(~is_blank), skipped


def sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the sentences of a file in order: each line of a text file, which may be a pipe, or
    COLUMN ("sentence" by default) of a table.

    Unreadable lines are errors with their number; blank lines at the end of a table are ignored.
    """
    if path.suffix.lower() in TABLES:
        yield from _column(path, column or "sentence")
        return
    if path.suffix.lower() == ".npy" or column is not None:
        raise UsageError(
            f"{path}: sentences have columns in {', '.join(TABLES)} files alone",
            hint="give one of them, or text with one sentence a line",
        )
    try:
        if path.parent != _DESCRIPTORS:
            refuse_foreign(path)
        # as in the corpora's files a byte order mark is not part of the text
        with path.open(encoding="utf-8-sig", newline=_line_end(path)) as file:
            for number, line in enumerate(file, start=1):
                if "\0" in line:
                    raise MissingError(
                        f"{path}, line {number}: a NUL character",
                        hint="correct the line, or convert the file to UTF-8",
                    )
                yield line.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise MissingError(
            f"{path}, {_first_odd_byte(path)} is not UTF-8",
            hint="convert it, for example with iconv",
        ) from error
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}",
            hint="give a file with one sentence a line",
        ) from error


def _column(path: Path, name: str) -> list[str]:
    rows = read_rows(path, needed=[name])
    if name not in rows.columns:
        names = " | ".join(rows.drop(PLACE).columns)
        raise UsageError(
            f"{path} has no column {name!r}",
            hint=Hint("name one of its columns: ", NamedOption("--column", names)),
        )
    refuse_json_numbers(path, rows, [name])
    refuse_nested(path, rows, [name])
    if path.suffix.lower() == ".jsonl":
        refuse_rows(path, rows, pl.col(name).is_null(), f"{name!r} is None, not a text", name)
    return rows[name].cast(pl.String).fill_null("").to_list()


def _line_end(path: Path) -> str:
    """Return what ends the lines of a file, a carriage return as on old Macs; one that is not text
    is refused.
    """
    if not path.is_file():  # a pipe gives its text once
        return "\n"
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if (other := other_content(head)) is not None:
        raise MissingError(f"{path} is {other.what}", hint=other.hint)
    return "\r" if b"\r" in head and b"\n" not in head else "\n"


def _first_odd_byte(path: Path) -> str:
    """Return the first byte that is not UTF-8, and its line: the stream that failed had read
    ahead.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {number}: byte 0x{line[error.start]:02x}"
    return "some byte"  # the file has changed since
