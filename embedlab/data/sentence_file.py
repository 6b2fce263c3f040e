"""Read sentences as a stream from a user's file: plain text, or one column of a TSV, CSV or JSONL
file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from embedlab.core.errors import MissingError, UsageError


def sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the sentences of a file in order: each line, or COLUMN ("sentence" by default) of a
    .tsv, .csv or .jsonl file.

    Unreadable lines are errors with their number; blank lines at the end of a table are ignored.
    """
    kind = path.suffix.lower()
    try:
        # As in the corpora's files a byte order mark is not part of the text, and only "\n" ends a
        # line; CSV has its own rules.
        with path.open(encoding="utf-8-sig", newline="" if kind == ".csv" else "\n") as file:
            match kind:
                case ".csv":
                    from embedlab.data.text_file import csv_rows

                    yield from _table(path, csv_rows(path, file), column)
                case ".tsv":  # quotes are literal, as in the corpora
                    yield from _table(
                        path,
                        (
                            (number, _bare(line).split("\t"))
                            for number, line in enumerate(file, start=1)
                        ),
                        column,
                    )
                case ".jsonl":
                    yield from _json_lines(path, file, column or "sentence")
                case ".parquet" | ".npy":
                    raise MissingError(
                        f"{path}: sentences cannot be read from {path.suffix!r} files",
                        hint="give text with one sentence a line, or a .tsv, .csv or .jsonl file",
                    )
                case _ if column is not None:
                    raise UsageError(
                        f"{path}: --column is for .tsv, .csv and .jsonl files",
                        hint="a text file has one sentence a line",
                    )
                case _:
                    yield from (
                        _sound(path, number, _bare(line))
                        for number, line in enumerate(file, start=1)
                    )
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


def _sound(path: Path, line: int, text: str) -> str:
    """Return TEXT; a NUL character is an error: the file is damaged, or is UTF-16."""
    if "\0" in text:
        raise MissingError(
            f"{path}, line {line}: a NUL character",
            hint="correct the line, or convert the file to UTF-8",
        )
    return text


def _bare(line: str) -> str:
    """Return a line without its line break."""
    return line.removesuffix("\n").removesuffix("\r")


def _table(path: Path, rows: Iterator[tuple[int, list[str]]], column: str | None) -> Iterator[str]:
    _, header = next(rows, (0, None))
    if header is None:
        raise MissingError(f"{path} is empty", hint="its first line names the columns")
    index, short = _place(path, header, column or "sentence"), None
    for line, row in rows:
        if short is None and len(row) <= index:
            short = line, len(row)
        if short is not None and any(row):
            raise MissingError(
                f"{path}, line {short[0]}: only {short[1]} columns", hint="correct the line"
            )
        if short is None:
            yield _sound(path, line, row[index])


def _json_lines(path: Path, file: TextIO, column: str) -> Iterator[str]:
    from embedlab.data.json_objects import json_object

    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        row = json_object(path, number, _bare(line))
        if not isinstance(row.get(column), str):
            _place(path, list(row), column)
            raise MissingError(
                f"{path}, line {number}: {column!r} is {row[column]!r}, not a text",
                hint="correct the line",
            )
        yield row[column]


def _place(path: Path, header: list[str], column: str) -> int:
    if column not in header:
        raise UsageError(
            f"{path} has no column {column!r}",
            hint=f"name one of its columns: --column {' | '.join(header)}",
        )
    return header.index(column)


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
