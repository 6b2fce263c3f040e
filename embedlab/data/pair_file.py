"""A user's own pairs in a TSV, CSV, JSONL or parquet file, usable instead of a dataset name.

Columns: sentence1, sentence2, score and optionally source, or others that are detected. The score
may have any scale; a pair without one is skipped and counted. Of labelled pairs the gold score
follows from the label: 1 for entailment, 0.5 neutral, 0 contradiction.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.first_few import first_few
from embedlab.core.name_options import outside_quotes
from embedlab.data.dataset import COLUMNS, ParsedRows, Part
from embedlab.data.file_name import HUB, parse_file_name
from embedlab.data.own_data import own_data
from embedlab.data.row_file import (
    PLACE,
    TABLES,
    class_texts,
    number_of,
    read_rows,
    refuse_bad_texts,
    refuse_nested,
    refuse_rows,
)
from embedlab.data.row_kind import LABELLED, SCORED, SENTENCES
from embedlab.data.topics import is_held_out

GOLD_OF_LABEL = {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0}
_REQUIRED = ("sentence1", "sentence2", "score")


def is_pair_file(name: str) -> bool:
    """Return whether a dataset's NAME is a path, or one of the hub's own names: it contains a slash
    or has a suffix of pair files.
    """
    return (
        "/" in name or name.startswith(HUB) or outside_quotes(name, "?")[0].lower().endswith(TABLES)
    )


def open_pair_file(path: Path | str) -> Part:
    """Return the pairs of a user's own file; errors name the line of the file, or the row of a
    parquet file, counted from 1.
    """
    name = str(path)
    file = parse_file_name(name)
    rows = read_rows(file.path)
    if not file.is_plain or file.held_out or not {*_REQUIRED} <= {*rows.columns}:
        rows = _detected_rows(name, rows)
    return Part.of_file(file.path, scored_pairs(file.path, rows), name=file.dataset)


def _detected_rows(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return ROWS of a file, those that are held out where its name says so, under the names of
    pairs.
    """
    data = own_data(name)
    if data.kind not in {SCORED, LABELLED}:
        hint = (
            "`embedlab evaluate MODEL FILE` finds the task of a file"
            if data.kind != SENTENCES
            else "give pairs, with scores or without; sentences are only trained on"
        )
        raise MissingError(f"{name} holds {data.kind.title}, not scored pairs", hint=hint)
    if data.file.held_out:
        rows = rows.filter(is_held_out(rows, data.texts, data.file.held_out))
    score = data.columns["score" if data.kind == SCORED else "label"]
    source = data.file.source or "source"
    return pl.DataFrame(
        [
            rows[PLACE],
            *(
                rows[data.columns[role]].alias(ours)
                for role, ours in zip(data.kind.texts, _REQUIRED, strict=False)
            ),
            _gold_of_labels(data.file.path, rows, score, data.labels)
            if data.kind == LABELLED
            else rows[score].alias("score"),
            *([rows[source].alias("source")] if source in rows.columns else []),
        ]
    )


def _gold_of_labels(
    path: Path, rows: pl.DataFrame, column: str, meaning: Mapping[str, str]
) -> pl.Series:
    """Return the gold score of each label, null where annotators did not agree on any."""
    label = class_texts(rows[column]).replace(dict(meaning)).replace(["-", ""], None)
    is_unknown = pl.col(column).is_not_null() & ~pl.col(column).is_in([*GOLD_OF_LABEL])
    refuse_rows(
        path,
        rows.with_columns(label.alias(column)),
        is_unknown,
        f"{column} is none of {', '.join(GOLD_OF_LABEL)}",
        column,
    )
    return label.replace_strict(GOLD_OF_LABEL, default=None, return_dtype=pl.Float64).alias("score")


def scored_pairs(
    title: Path | str,
    frame: pl.DataFrame,
    *,
    scale: tuple[float, float] | None = None,
) -> ParsedRows:
    """Return the pairs of FRAME, with the places of its rows, from the file or dataset TITLE.

    A score outside SCALE, an empty sentence or another fault is an error with its place; a pair
    without a score is skipped and counted.
    """
    columns = [name for name in frame.columns if name != PLACE]
    absent = [name for name in _REQUIRED if name not in frame.columns]
    if absent:
        raise MissingError(
            f"{title} has no column {absent[0]!r}: found {first_few(columns)}",
            hint=f"name its columns {', '.join(_REQUIRED)}",
        )
    if frame.is_empty():
        raise MissingError(f"{title} holds no pairs", hint="give one pair a row")
    refuse_bad_texts(title, frame, _REQUIRED[:2])
    refuse_nested(title, frame, [*_REQUIRED[2:], "source"])
    score = pl.col("score").cast(pl.String).str.strip_chars().replace("", None)
    gold = number_of("score")
    refuse_rows(
        title,
        frame,
        score.is_not_null() & ~gold.is_finite().fill_null(False),
        "score is not a number",
        "score",
    )
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
    pairs = frame.select("sentence1", "sentence2", gold.alias("gold"), source.alias("source")).cast(
        dict(COLUMNS["sts"])  # type: ignore[arg-type]
    )
    scored = pairs.drop_nulls("gold")
    if scored.is_empty():
        raise MissingError(
            f"{title} holds no pair with a score", hint="give each pair a score, on any scale"
        )
    skipped = len(pairs) - len(scored)
    return ParsedRows(frame=scored, skipped={"blank score": skipped} if skipped else {})
