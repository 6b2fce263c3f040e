"""Sentences out of a user's file: plain text, or one column of a TSV, CSV or JSONL file; read as a stream."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from embedlab.errors import MissingError, UsageError


def sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """The sentences of a file in order: each line, or COLUMN ("sentence" where absent) of a .tsv, .csv or .jsonl file.

    What cannot be read is refused with its line.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            match path.suffix.lower():
                case ".csv":
                    yield from _table(path, csv.reader(file), column)
                case ".tsv":  # quotes are text here, as in the corpora
                    yield from _table(path, csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), column)
                case ".jsonl":
                    yield from _json_lines(path, file, column or "sentence")
                case ".parquet" | ".npy":
                    raise MissingError(
                        f"{path}: sentences cannot be read from {path.suffix!r} files",
                        hint="give text with one sentence a line, or a .tsv, .csv or .jsonl file",
                    )
                case _ if column is not None:
                    raise UsageError(f"{path}: --column is for .tsv, .csv and .jsonl files", hint="a text file has one sentence a line")
                case _:
                    yield from (line.rstrip("\r\n") for line in file)
    except UnicodeDecodeError as error:
        raise MissingError(f"{path}, {_first_odd_byte(path)} is not UTF-8", hint="convert it, for example with iconv") from error
    except OSError as error:
        raise MissingError(f"cannot read {str(path)!r}: {error.strerror}", hint="give a file with one sentence a line") from error


def _table(path: Path, rows: Any, column: str | None) -> Iterator[str]:
    header = next(rows, None)
    if header is None:
        raise MissingError(f"{path} is empty", hint="its first line names the columns")
    place = _place(path, header, column or "sentence")
    for row in rows:
        if len(row) <= place:
            raise MissingError(f"{path}, line {rows.line_num}: only {len(row)} columns", hint="correct the line")
        yield row[place]


def _json_lines(path: Path, file: TextIO, column: str) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise MissingError(f"{path}, line {number}: not valid JSON: {error}", hint="correct the line") from error
        if not isinstance(row, dict):
            raise MissingError(f"{path}, line {number}: not a JSON object", hint='each line is like {"sentence": "…"}')
        if not isinstance(row.get(column), str):
            _place(path, list(row), column)
            raise MissingError(f"{path}, line {number}: {column!r} is {row[column]!r}, not a text", hint="correct the line")
        yield row[column]


def _place(path: Path, header: list[str], column: str) -> int:
    if column not in header:
        raise UsageError(f"{path} has no column {column!r}", hint=f"name one of its columns: --column {' | '.join(header)}")
    return header.index(column)


def _first_odd_byte(path: Path) -> str:
    """The first byte that is not UTF-8, and its line: the stream that met it had read ahead."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {number}: byte 0x{line[error.start]:02x}"
    return "some byte"  # the file has changed since
