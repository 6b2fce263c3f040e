"""A user's own pairs in a TSV, CSV, JSONL or parquet file, usable wherever a dataset name is.

Columns: sentence1, sentence2, score and, if wanted, source. The score may be on any scale; a pair without one is left out and counted.
"""

from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Part, State
from embedlab.data.manifest import sha256
from embedlab.data.text_file import read_text
from embedlab.errors import MissingError

_SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
_REQUIRED = ("sentence1", "sentence2", "score")


def is_pair_file(name: str) -> bool:
    """Whether a dataset's NAME is a path: it holds a slash or ends like a file of pairs."""
    return "/" in name or name.lower().endswith(_SUFFIXES)


def open_pair_file(path: Path) -> Part:
    """The pairs of the file at PATH; faults are told with the row, counted from 1 without the header."""
    frame = _read(path)
    absent = [name for name in _REQUIRED if name not in frame.columns]
    if absent:
        raise MissingError(
            f"{path} has no column {absent[0]!r}: found {', '.join(frame.columns)}", hint=f"name its columns {', '.join(_REQUIRED)}"
        )
    if frame.is_empty():
        raise MissingError(f"{path} holds no pairs", hint="give one pair a row")
    rows = frame.with_row_index("row", offset=1)
    for name in ("sentence1", "sentence2"):
        _refuse(path, rows, pl.col(name).cast(pl.String).fill_null("").str.strip_chars() == "", f"{name} is empty", name)
    score = pl.col("score").cast(pl.String).str.strip_chars().replace("", None)
    gold = score.cast(pl.Float64, strict=False)
    _refuse(path, rows, score.is_not_null() & ~gold.is_finite().fill_null(False), "score is not a number", "score")
    source = pl.col("source") if "source" in frame.columns else pl.lit(None)
    pairs = frame.select("sentence1", "sentence2", gold.alias("gold"), source.alias("source")).cast(dict(COLUMNS["sts"]))  # type: ignore[arg-type]
    scored = pairs.drop_nulls("gold")
    skipped = len(pairs) - len(scored)
    state = State(
        name=str(path),
        split="all",
        rows=len(scored),
        expected_rows=None,
        origin="file",
        sha256={str(path): sha256(path)},
        skipped={"blank score": skipped} if skipped else {},
    )
    return Part(frame=scored, state=state)


def _read(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingError(f"no file {str(path)!r}", hint="a dataset is a name from `embedlab data ls` or the path of a pair file")
    try:
        match path.suffix.lower():
            case ".parquet":
                return pl.read_parquet(path)
            case ".jsonl":
                return pl.read_ndjson(read_text(path).encode(), infer_schema_length=None)
            case ".csv":
                return pl.read_csv(read_text(path).encode(), infer_schema=False)
            case ".tsv":  # quotes are text here, as in the corpora
                return pl.read_csv(read_text(path).encode(), infer_schema=False, separator="\t", quote_char=None)
    except pl.exceptions.PolarsError as error:
        raise MissingError(
            f"{path} is not a readable {path.suffix[1:]} file: {str(error).splitlines()[0]}", hint="correct the file"
        ) from error
    raise MissingError(f"{path}: pairs cannot be read from {path.suffix!r} files", hint=f"give one that ends in {', '.join(_SUFFIXES)}")


def _refuse(path: Path, rows: pl.DataFrame, is_wrong: pl.Expr, fault: str, column: str) -> None:
    wrong = rows.filter(is_wrong)
    if not wrong.is_empty():
        raise MissingError(f"{path}, row {wrong['row'][0]}: {fault}: {wrong[column][0]!r}", hint="correct the row")
