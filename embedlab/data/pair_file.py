"""A user's own pairs in a TSV, CSV, JSONL or parquet file, usable instead of a dataset name.

Columns: sentence1, sentence2, score and optionally source. The score may have any scale; a pair without one is skipped and counted.
"""

from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash
from embedlab.data.dataset import COLUMNS, DatasetState, Part
from embedlab.data.row_file import PLACE, TABLES, read_rows, refuse_bad_texts, refuse_nested, refuse_rows

_REQUIRED = ("sentence1", "sentence2", "score")


def is_pair_file(name: str) -> bool:
    """Return whether a dataset's NAME is a path: it contains a slash or has a suffix of pair files."""
    return "/" in name or name.lower().endswith(TABLES)


def open_pair_file(path: Path) -> Part:
    """Return the pairs of the file at PATH; errors name the line of the file, or the row of a parquet file, counted from 1."""
    frame = read_rows(path)
    found = [name for name in frame.columns if name != PLACE]
    absent = [name for name in _REQUIRED if name not in frame.columns]
    if absent:
        raise MissingError(f"{path} has no column {absent[0]!r}: found {', '.join(found)}", hint=f"name its columns {', '.join(_REQUIRED)}")
    if frame.is_empty():
        raise MissingError(f"{path} holds no pairs", hint="give one pair a row")
    refuse_nested(path, frame, [*_REQUIRED, "source"])
    refuse_bad_texts(path, frame, _REQUIRED[:2])
    score = pl.col("score").cast(pl.String).str.strip_chars().replace("", None)
    gold = score.cast(pl.Float64, strict=False)
    refuse_rows(path, frame, score.is_not_null() & ~gold.is_finite().fill_null(False), "score is not a number", "score")
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
