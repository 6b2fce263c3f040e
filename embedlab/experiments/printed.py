"""The papers' printed numbers: a folder a paper, which holds its file and a CSV file for each
printed table.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.frame_files import read_csv
from embedlab.core.names import recipe_names
from embedlab.core.nearest import unknown
from embedlab.core.paths import recipes_folder

PAPER_FILE = "paper.toml"


def paper_names() -> list[str]:
    """Return the shipped papers, in alphabetical order."""
    return sorted(
        path.parent.name for path in (recipes_folder() / "papers").glob(f"*/{PAPER_FILE}")
    )


def paper_folder(paper: str) -> Path:
    """Return the folder of a paper by its name, or by the path of the user's own folder or of the
    file in it.
    """
    if is_own(paper):
        path = Path(paper).parent if Path(paper).name == PAPER_FILE else Path(paper)
        if not (path / PAPER_FILE).is_file():
            raise UsageError(
                f"no {PAPER_FILE} in {str(path)!r}",
                hint="name a folder that has one, or a paper of `embedlab reproduce`",
            )
        return path
    if paper in paper_names():
        return recipes_folder() / "papers" / paper
    listing = "`embedlab reproduce` lists all; ./FOLDER is one of your own"
    if paper in recipe_names():
        folder = recipes_folder() / "papers"
        users = (
            name
            for name in paper_names()
            if f'"{paper}"' in (folder / name / PAPER_FILE).read_text("utf-8")
        )
        shown = "".join(f", tables with it: `embedlab reproduce {name}`" for name in users)
        listing = f"{paper} is a recipe: `embedlab train {paper}`{shown}"
    raise unknown("paper", paper, paper_names(), listing=listing)


def is_own(paper: str) -> bool:
    """Return whether PAPER is a path of the user's own, and not a name."""
    return "/" in paper or os.sep in paper or paper in {PAPER_FILE, ".", ".."}


def published_table(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table exactly as in the paper; the columns are the paper's own."""
    return read_csv(_table_file(paper, table))


def published_texts(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table as the text of its cells; "5e-05" remains so, and null is an empty
    cell.
    """
    return read_csv(_table_file(paper, table), infer_schema=False)


def published_scores(
    paper: str, table: str, key: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return a printed table of scores by row and column, None where the paper prints none.

    A row's name is the printed text of its KEY columns, joined by blanks: "BERT-base SBERT",
    "1e-5".
    """
    frame = published_texts(paper, table)
    for column in key:
        if column not in frame.columns:
            raise unknown(f"column of {paper} {table}", column, frame.columns)
    try:
        return {
            " ".join(row[column] for column in key): {
                column: float(text) if text is not None else None
                for column, text in row.items()
                if column not in key
            }
            for row in frame.iter_rows(named=True)
        }
    except ValueError as error:  # raised by float: a column of words that the key does not name
        raise UsageError(
            f"{paper} {table}: {error}",
            hint=f"its 'key' must name each column of words among {', '.join(frame.columns)}",
        ) from error


def published_pairs(
    paper: str, table: str, sentences: tuple[str, str]
) -> tuple[tuple[tuple[str, str], ...], dict[str, dict[str, float | None]]]:
    """Return the sentence pairs of a printed table, and its scores by model and "pair 1", "pair 2"
    …; SENTENCES are their columns.
    """
    frame = published_texts(paper, table)
    for column in sentences:
        if column not in frame.columns:
            raise unknown(f"column of {paper} {table}", column, frame.columns)
    models = [column for column in frame.columns if column not in sentences]
    scores = {
        model: {
            f"pair {number}": float(text) if text is not None else None
            for number, text in enumerate(frame[model], start=1)
        }
        for model in models
    }
    return tuple(frame.select(sentences).rows()), scores


def published_tables(paper: str) -> list[str]:
    """Return the names of the printed tables of a paper, in the order of their numbers."""
    return sorted((path.stem for path in paper_folder(paper).glob("*.csv")), key=by_number)


def by_number(table: str) -> list[tuple[str, int]]:
    """Return a sort key of table names that puts table2 before table10."""
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D+)(\d*)", table)]


def _table_file(paper: str, table: str) -> Path:
    known = published_tables(paper)
    if table not in known:
        raise unknown("table", table, known)
    return paper_folder(paper) / f"{table}.csv"
