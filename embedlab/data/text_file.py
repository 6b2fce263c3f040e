"""Text files read strictly: every fault is told with the file and the line."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from embedlab.errors import MissingError


def bad_line(path: Path, line: int, fault: str) -> MissingError:
    """The error for a fault in a line of a file, counted from 1."""
    return MissingError(f"{path}, line {line}: {fault}", hint="correct the line, or get the file again")


def empty_file(path: Path) -> MissingError:
    """The error for a file without any row."""
    return MissingError(f"{path} is empty", hint="get the file again")


def read_text(path: Path, *, fallback: str | None = None) -> str:
    """The UTF-8 text of a file, without a byte order mark; a file that is no UTF-8 is read as FALLBACK where that is given."""
    content = path.read_bytes()
    if not content.strip():
        raise empty_file(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback is not None:
            return content.decode(fallback)
        line = content.count(b"\n", 0, error.start) + 1
        raise bad_line(path, line, f"byte 0x{content[error.start]:02x} is not UTF-8") from error


def read_lines(path: Path, *, fallback: str | None = None) -> list[str]:
    r"""The lines of a file: parted by "\n" only, since corpora hold other characters that count as line ends elsewhere."""
    lines = read_text(path, fallback=fallback).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_fields(path: Path, columns: Sequence[str | int], *, line_shape: str, allow_more: bool = True) -> pl.DataFrame:
    """Tab-separated columns as text, quotes taken literally, and the number of each `line`.

    COLUMNS are positions, or names in a header line. LINE_SHAPE says in errors what a line should hold.
    Fields after the last of them are left out, or an error at their line where there may not be more.
    """
    lines = read_lines(path)
    header = [name.strip() for name in lines[0].split("\t")] if isinstance(columns[0], str) else []
    absent = [name for name in columns if isinstance(name, str) and name not in header]
    if absent:
        raise bad_line(path, 1, f"no column {absent[0]!r}: found {', '.join(header)}")
    positions = [header.index(name) if isinstance(name, str) else name for name in columns]
    first_line, last = (2 if header else 1), max(positions)
    rows = [line.split("\t") for line in lines[first_line - 1 :]]
    for number, row in enumerate(rows, first_line):
        if len(row) <= last or (len(row) > last + 1 and not allow_more):
            raise bad_line(path, number, f"{len(row)} tab-separated fields: expected {line_shape}")
    return pl.DataFrame(
        {
            "line": range(first_line, first_line + len(rows)),
            **{str(name): [row[at] for row in rows] for name, at in zip(columns, positions, strict=True)},
        },
        schema={"line": pl.UInt32, **{str(name): pl.String for name in columns}},
    )


def read_csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row and the line it begins at: a quoted field may span several."""
    return csv_rows(path, io.StringIO(read_text(path), newline="\n"))


def csv_rows(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The same of the LINES of a file that is read bit by bit; an unclosed quote, which would swallow what follows, is an error."""
    reader = csv.reader(lines, strict=True)
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise bad_line(path, line, f"not readable as CSV: {error}") from error


def numbers(path: Path, texts: pl.Series, lines: pl.Series, low: float, high: float, what: str) -> pl.Series:
    """TEXTS as numbers, null where blank; another text or a number outside LOW to HIGH is an error at its line."""
    stripped = texts.str.strip_chars()
    values = stripped.cast(pl.Float64, strict=False)
    wrong = (stripped != "") & ~(values.is_not_null() & values.is_between(low, high).fill_null(False))
    if (row := wrong.arg_max()) is not None and wrong[row]:
        raise bad_line(path, lines[row], f"{what} {texts[row]!r} is not a number from {low:g} to {high:g}")
    return values
