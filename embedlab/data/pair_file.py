"""A user's own pairs in a TSV, CSV, JSONL or parquet file, usable instead of a dataset name.

Columns: sentence1, sentence2, score and optionally source. The score may have any scale; a pair without one is skipped and counted.
"""

from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.dataset import COLUMNS, ParsedRows, Part
from embedlab.data.row_file import PLACE, TABLES, read_rows, refuse_bad_texts, refuse_nested, refuse_rows

HUB = "hub:"  # before the name of any dataset of the hub
_REQUIRED = ("sentence1", "sentence2", "score")


def is_pair_file(name: str) -> bool:
    """Return whether a dataset's NAME is a path, or one of the hub's own names: it contains a slash or has a suffix of pair files."""
    return "/" in name or name.startswith(HUB) or name.lower().endswith(TABLES)


def open_pair_file(path: Path) -> Part:
    """Return the pairs of the file at PATH; errors name the line of the file, or the row of a parquet file, counted from 1."""
    return Part.of_file(path, scored_pairs(path, read_rows(path)), name=str(path))


def scored_pairs(
    title: Path | str,
    frame: pl.DataFrame,
    *,
    scale: tuple[float, float] | None = None,
) -> ParsedRows:
    """Return the pairs of FRAME, with the places of its rows, from the file or dataset TITLE.

    A score outside SCALE, an empty sentence or another fault is an error with its place; a pair without a score is skipped and counted.
    """
    found = [name for name in frame.columns if name != PLACE]
    absent = [name for name in _REQUIRED if name not in frame.columns]
    if absent:
        raise MissingError(
            f"{title} has no column {absent[0]!r}: found {', '.join(found)}", hint=f"name its columns {', '.join(_REQUIRED)}"
        )
    if frame.is_empty():
        raise MissingError(f"{title} holds no pairs", hint="give one pair a row")
    refuse_bad_texts(title, frame, _REQUIRED[:2])
    refuse_nested(title, frame, [*_REQUIRED[2:], "source"])
    score = pl.col("score").cast(pl.String).str.strip_chars().replace("", None)
    gold = score.cast(pl.Float64, strict=False)
    refuse_rows(title, frame, score.is_not_null() & ~gold.is_finite().fill_null(False), "score is not a number", "score")
    if scale is not None:
        low, high = scale
        refuse_rows(
            title,
            frame,
            ~gold.is_between(low, high),
            f"score is not from {low:g} to {high:g}",
            "score",
            hint="correct it, or state the scale: scale=LOW-HIGH",
        )
    source = pl.col("source") if "source" in frame.columns else pl.lit(None)
    pairs = frame.select("sentence1", "sentence2", gold.alias("gold"), source.alias("source")).cast(dict(COLUMNS["sts"]))  # type: ignore[arg-type]
    scored = pairs.drop_nulls("gold")
    if scored.is_empty():
        raise MissingError(f"{title} holds no pair with a score", hint="give each pair a score, on any scale")
    skipped = len(pairs) - len(scored)
    return ParsedRows(frame=scored, skipped={"blank score": skipped} if skipped else {})
