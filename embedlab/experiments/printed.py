"""The papers' printed numbers: tables by paper and name, and printed rows by model name."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.frame_files import read_csv
from embedlab.core.nearest import unknown

REFERENCE_FOLDER = Path(__file__).with_name("reference")
PAPERS = {path.name.partition("_")[0]: path.name for path in sorted(REFERENCE_FOLDER.glob("[!_]*_*/"))}  # paper → the folder of its tables
# The papers' names of the STS datasets, and ours.
STS_COLUMNS = {
    "STS12": "sts12",
    "STS13": "sts13",
    "STS14": "sts14",
    "STS15": "sts15",
    "STS16": "sts16",
    "STS-B": "sts-benchmark",
    "SICK-R": "sick-r",
}


@dataclass(frozen=True, kw_only=True)
class PublishedRow:
    """One printed row of STS scores: Spearman x100, with its settings."""

    model: str  # the name that a user types
    paper: str
    table: str
    encoder: str
    aggregate: str
    scores: Mapping[str, float]  # dataset → printed score
    average: float  # as printed, over the datasets of the row


def published_table(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table exactly as in the paper; the columns are the paper's own."""
    return read_csv(_table_file(paper, table))


def published_texts(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table as the text of its cells; "5e-05" remains so, and null is an empty cell."""
    return read_csv(_table_file(paper, table), infer_schema=False)


def published_scores(paper: str, table: str, key: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Return a printed table of scores by row and column, None where the paper prints none.

    A row's name is the printed text of its KEY columns, joined by blanks: "BERT-base SBERT", "1e-5".
    """
    frame = published_texts(paper, table)
    for column in key:
        if column not in frame.columns:
            raise unknown(f"column of {paper} {table}", column, frame.columns)
    try:
        return _scores(frame, key)
    except ValueError as error:  # raised by float: a column of words that the key does not name
        raise UsageError(
            f"{paper} {table}: {error}", hint=f"its 'key' must name each column of words among {', '.join(frame.columns)}"
        ) from error


def published_pairs(
    paper: str, table: str, sentences: tuple[str, str]
) -> tuple[tuple[tuple[str, str], ...], dict[str, dict[str, float | None]]]:
    """Return the sentence pairs of a printed table, and its scores by model and "pair 1", "pair 2" …; SENTENCES are their columns."""
    frame = published_texts(paper, table)
    for column in sentences:
        if column not in frame.columns:
            raise unknown(f"column of {paper} {table}", column, frame.columns)
    models = [column for column in frame.columns if column not in sentences]
    scores = {
        model: {f"pair {number}": float(text) if text is not None else None for number, text in enumerate(frame[model], start=1)}
        for model in models
    }
    return tuple(frame.select(sentences).rows()), scores


def _scores(frame: pl.DataFrame, key: Sequence[str]) -> dict[str, dict[str, float | None]]:
    return {
        " ".join(row[column] for column in key): {
            column: float(text) if text is not None else None for column, text in row.items() if column not in key
        }
        for row in frame.iter_rows(named=True)
    }


def published_tables(paper: str) -> list[str]:
    """Return the names of the printed tables of a paper, in the order of their numbers."""
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    return sorted((path.stem for path in (REFERENCE_FOLDER / PAPERS[paper]).glob("*.csv")), key=by_number)


def by_number(table: str) -> list[tuple[str, int]]:
    """Return a sort key of table names that puts table2 before table10."""
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D+)(\d*)", table)]


def _table_file(paper: str, table: str) -> Path:
    known = published_tables(paper)
    if table not in known:
        raise unknown("table", table, known)
    return REFERENCE_FOLDER / PAPERS[paper] / f"{table}.csv"


def published_row(model: str) -> PublishedRow | None:
    """Return the printed STS row of a model name, or None where no paper prints one."""
    entry = _entries().get(model)
    if entry is None:
        return None
    frame = published_table(entry["paper"], entry["table"]).filter(**entry["row"])
    row = frame.row(0, named=True)
    return PublishedRow(
        model=model,
        paper=entry["paper"],
        table=entry["table"],
        encoder=entry["encoder"],
        aggregate=entry["aggregate"],
        scores={name: float(row[column]) for column, name in STS_COLUMNS.items() if column in row},
        average=float(row["Avg."]),
    )


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads((REFERENCE_FOLDER / "published.toml").read_text(encoding="utf-8"))
