"""A user's own pairs in a TSV, CSV, JSONL or parquet file, usable instead of a dataset name.

Columns: sentence1, sentence2, score and optionally source. The score may have any scale; a pair without one is skipped and counted.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.frame_files import read_parquet
from embedlab.core.paths import file_hash
from embedlab.data.dataset import COLUMNS, DatasetState, Part
from embedlab.data.nli import json_object
from embedlab.data.text_file import bad_line, read_csv_rows, read_lines

_SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
PLACE = "line of the file"  # a column that we add to the user's
_ODD_ESCAPE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")  # polars reads half of a surrogate pair as a NUL character
_REQUIRED = ("sentence1", "sentence2", "score")


def is_pair_file(name: str) -> bool:
    """Return whether a dataset's NAME is a path: it contains a slash or has a suffix of pair files."""
    return "/" in name or name.lower().endswith(_SUFFIXES)


def open_pair_file(path: Path) -> Part:
    """Return the pairs of the file at PATH; errors name the line of the file, or the row of a parquet file, counted from 1."""
    frame = read_pair_rows(path)
    found = [name for name in frame.columns if name != PLACE]
    absent = [name for name in _REQUIRED if name not in frame.columns]
    if absent:
        raise MissingError(f"{path} has no column {absent[0]!r}: found {', '.join(found)}", hint=f"name its columns {', '.join(_REQUIRED)}")
    if frame.is_empty():
        raise MissingError(f"{path} holds no pairs", hint="give one pair a row")
    for name in ("sentence1", "sentence2", "score", "source"):
        if name in frame.columns and (frame.schema[name].is_nested() or frame.schema[name] in {pl.Binary, pl.Object}):
            raise MissingError(f"{path}: {name} holds lists, tables or bytes, not texts or numbers", hint="give one text or number a pair")
    for name in ("sentence1", "sentence2"):
        text = pl.col(name).cast(pl.String).fill_null("")
        _refuse(path, frame, text.str.strip_chars() == "", f"{name} is empty", name)
        _refuse(path, frame, text.str.contains("\0", literal=True), f"{name} holds a NUL character", name)
    score = pl.col("score").cast(pl.String).str.strip_chars().replace("", None)
    gold = score.cast(pl.Float64, strict=False)
    _refuse(path, frame, score.is_not_null() & ~gold.is_finite().fill_null(False), "score is not a number", "score")
    source = pl.col("source") if "source" in frame.columns else pl.lit(None)
    pairs = frame.select("sentence1", "sentence2", gold.alias("gold"), source.alias("source")).cast(dict(COLUMNS["sts"]))  # type: ignore[arg-type]
    scored = pairs.drop_nulls("gold")
    if scored.is_empty():
        raise MissingError(f"{path} holds no pair with a score", hint="give each pair a score, on any scale")
    skipped = len(pairs) - len(scored)
    state = DatasetState(
        name=str(path),
        split="all",
        rows=len(scored),
        expected_rows=None,
        origin="file",
        sha256={str(path): file_hash(path)},
        skipped={"blank score": skipped} if skipped else {},
    )
    return Part(frame=scored, state=state)


def read_pair_rows(path: Path) -> pl.DataFrame:
    """Return all columns of a TSV, CSV, JSONL or parquet file, of text files as text, with the number of each row in PLACE."""
    if path.is_dir():
        raise MissingError(f"{str(path)!r} is a folder, not a file of pairs", hint="give the path of a file in it")
    if not path.is_file():
        raise MissingError(f"no file {str(path)!r}", hint="a dataset is a name from `embedlab data ls` or the path of a pair file")
    try:
        match path.suffix.lower():
            case ".parquet":
                return read_parquet(path).with_row_index(PLACE, offset=1)
            case ".jsonl":
                return _read_jsonl(path)
            case ".csv":
                return _table(path, list(read_csv_rows(path)))
            case ".tsv":  # quotes are literal, as in the corpora
                return _table(path, [(number, line.split("\t")) for number, line in enumerate(read_lines(path), 1)])
    except pl.exceptions.PolarsError as error:
        raise MissingError(
            f"{path} is not a readable {path.suffix[1:]} file: {str(error).splitlines()[0]}", hint="correct the file"
        ) from error
    raise MissingError(f"{path}: pairs cannot be read from {path.suffix!r} files", hint=f"give one that ends in {', '.join(_SUFFIXES)}")


def _read_jsonl(path: Path) -> pl.DataFrame:
    """Read the objects of a file, one a line; polars names no line, so a file that it cannot read is read again line by line."""
    lines = [(number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()]
    for number, line in lines:
        if _ODD_ESCAPE.search(line) or not line.lstrip().startswith("{"):
            json_object(path, number, line)
    try:
        frame = pl.read_ndjson("\n".join(line for _, line in lines).encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        for number, line in lines:
            json_object(path, number, line)
        raise
    return frame.with_columns(pl.Series(PLACE, [number for number, _ in lines], dtype=pl.UInt32))


def _table(path: Path, rows: Sequence[tuple[int, list[str]]]) -> pl.DataFrame:
    """Return the ROWS below a header as text, each with its line; missing fields at the end of a row are blank."""
    while len(rows) > 1 and not any(rows[-1][1]):
        rows = rows[:-1]
    header = [name.strip() for name in rows[0][1]]
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise bad_line(path, rows[0][0], f"column {twice!r} occurs twice")
    needed = max((header.index(name) + 1 for name in ("sentence1", "sentence2") if name in header), default=0)
    for line, row in rows[1:]:
        if len(row) > len(header) or (any(row) and len(row) < needed):
            raise bad_line(path, line, f"{len(row)} field{'s' * (len(row) != 1)}: the header has {len(header)}")
    padded = [row + [""] * (len(header) - len(row)) for _, row in rows[1:]]
    columns = {name: pl.Series([row[at] for row in padded], dtype=pl.String).replace("", None) for at, name in enumerate(header)}
    return pl.DataFrame({**columns, PLACE: pl.Series([line for line, _ in rows[1:]], dtype=pl.UInt32)})


def _refuse(path: Path, rows: pl.DataFrame, is_wrong: pl.Expr, fault: str, column: str) -> None:
    wrong = rows.filter(is_wrong)
    if not wrong.is_empty():
        place = "row" if path.suffix.lower() == ".parquet" else "line"
        found = "" if wrong[column][0] is None else f": {wrong[column][0]!r}"
        raise MissingError(f"{path}, {place} {wrong[PLACE][0]}: {fault}{found}", hint=f"correct the {place}")
