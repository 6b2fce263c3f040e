"""The folder of a paper, `recipes/papers/<paper>`: its file paper.toml, which is checked against
existing names, and beside it a CSV file for each printed table.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import polars as pl

from embedlab.analysis.claims import Claim, check_claim
from embedlab.core.errors import UsageError
from embedlab.core.frame_files import read_csv
from embedlab.core.names import DEFAULT_TASK, pooling_names, recipe_names, task_names
from embedlab.core.nearest import nearest_hint, unknown_name_error
from embedlab.core.paths import recipes_folder
from embedlab.core.recipe import Count, Positive, Seeds
from embedlab.core.schema import build, read_toml, table
from embedlab.data.published import STS_AVERAGES
from embedlab.experiments.paper_table import (
    ENCODER,
    Deviation,
    PaperMeasure,
    PaperTable,
    Point,
    RowModel,
    RowSource,
)

# what a table of the file says in the words of `PaperTable`
_AS_STATED = (
    *("summary", "shown_by", "key", "scale", "averaged", "seeds", "by", "datasets", "average"),
    *("deviations", "notes"),
)
_DUPLICATED = re.compile(r"_duplicated_\d+$")  # what polars adds to a name that is there
ALL_TABLES = "all"  # what selects every table of a paper


@table
class _Column:
    """Which of our numbers corresponds to a column; absent keys are the table's."""

    slice: str | None = None
    task: str | None = None
    metric: str | None = None
    setting: str | None = None
    split: str | None = None
    unprinted: bool = False  # ours alone
    set: dict[str, Any] = field(
        default_factory=dict
    )  # where each column is a training of its own, as in GLUE


@table
class _Row(RowModel):
    # where this row differs from the table's columns
    columns: dict[str, _Column] = field(default_factory=dict)


@table
class _Table:
    """The table of a file that describes a table of a paper."""

    summary: str
    # for a table without scores: the command that shows the same thing here
    shown_by: str | None = None
    key: tuple[str, ...] = ("model",)  # the printed columns that name a row
    task: str = DEFAULT_TASK
    metric: str = "spearman"
    setting: str = "all"
    scale: Positive = 100.0  # printed number divided by ours
    averaged: Count = 1  # seeds per printed number
    seeds: Seeds = 3  # seeds per number of ours
    # for a figure: its columns are the slices, or the epochs of a training; or a training's minutes
    by: Literal["source", "dice", "epoch", "minutes"] | None = None
    datasets: tuple[str, ...] = ()  # of a figure by source; none: all of STS
    # for a table of sentence pairs: the printed columns that hold their two sentences
    pairs: tuple[str, str] | None = None
    columns: dict[str, str | _Column] = field(
        default_factory=dict
    )  # printed column → slice, or more
    judge: tuple[str, ...] = ()  # the columns whose mean orders the rows
    average: str | None = None  # the printed column that is the mean of all others
    each: bool = False  # order the rows by each of these columns separately instead
    set: dict[str, Any] = field(default_factory=dict)  # recipe keys for every row
    rows: dict[str, _Row] | str = field(
        default_factory=dict
    )  # or the name of the table with the same rows
    deviations: tuple[Deviation, ...] = ()  # known in advance
    notes: tuple[str, ...] = ()  # misprints and the like


@table
class PublishedModel:
    """The printed row of STS scores of a model name: a recipe's or the catalog's."""

    table: str
    row: str
    encoder: str  # as the paper calls it


@table
class PaperFile:
    """The file of a paper."""

    summary: str
    full_size: str = ""  # the card and the time that its trainings take at the paper's size
    tables: dict[str, dict[str, Any]]
    claims: dict[str, Claim] = field(default_factory=dict)  # by name
    published: dict[str, PublishedModel] = field(
        default_factory=dict
    )  # by model name, for `compare --published`
    # grid → recipe → the stage whose learning rate that grid chooses
    rates: dict[str, dict[str, int]] = field(default_factory=dict)


def load_paper(paper: str) -> dict[str, PaperTable]:
    """Load every table and figure of a paper by name, in the order of their numbers; errors name
    the file's key.
    """
    path = paper_folder(paper) / PAPER_FILE
    values = read_paper(paper)
    for name in values.tables:
        if Path(name).name != name:  # its trainings are stored under it, and its CSV file
            raise UsageError(
                f"{path}: {name!r} cannot name a table", hint="for example [tables.table1]"
            )
    tables = {
        name: build(_Table, table, where=str(path), prefix=f"tables.{name}")
        for name, table in values.tables.items()
    }
    paper_tables = {
        name: replace(_read_table(paper, name, tables, path), rates=values.rates)
        for name in sorted(tables, key=table_number_key)
    }
    for model, row in values.published.items():
        location = f"{path}: published.{model}"
        _refuse_unknown("table", [row.table], paper_tables, location)
        _refuse_unknown("row", [row.row], paper_tables[row.table].printed, location)
    return _with_claims(paper_tables, values.claims, str(path))


def read_paper(paper: str) -> PaperFile:
    """Read the file of a paper; its tables are not checked."""
    path = paper_folder(paper) / PAPER_FILE
    return build(PaperFile, read_toml(path), where=str(path))


def select_tables(paper: str, name: str | None) -> list[PaperTable]:
    """Return the tables that NAME selects: "table7" or the whole name; "all" or None selects all.
    A wrong name suggests the nearest.
    """
    tables = load_paper(paper)
    short_names = {full_name: full_name.split("_")[0] for full_name in tables}
    selected = [
        paper_table
        for full_name, paper_table in tables.items()
        if name in {None, ALL_TABLES, full_name, short_names[full_name]}
    ]
    if not selected and name is not None:
        raise unknown_name_error(
            f"table of {paper!r}",
            name,
            [*tables, *short_names.values()],
            listing=f"`embedlab reproduce {paper}` lists all",
        )
    return selected


def _read_table(paper: str, name: str, tables: Mapping[str, _Table], path: Path) -> PaperTable:
    location = f"{path}: table {name!r}"
    values = tables[name]
    rows, table_set = _rows(values, tables, location)
    pairs: tuple[tuple[str, str], ...] = ()
    printed: Mapping[str, Mapping[str, float | None]] = {}
    if values.pairs is not None:
        pairs, printed = published_pairs(paper, name, values.pairs)
    elif rows and name in published_tables(paper):
        printed = published_scores(paper, name, values.key)
        no_source = _Row(lacks=f"{PAPER_FILE} does not say what gives it")
        rows = {**rows, **{label: no_source for label in printed if label not in rows}}
    ranked_by = [(column,) for column in values.judge] if values.each else [values.judge]
    columns = values.columns or [f"pair {number}" for number, _ in enumerate(pairs, start=1)]
    paper_table = PaperTable(
        # the names of its runs begin with it
        paper=re.sub(r"[^A-Za-z0-9._+-]+", "-", path.absolute().parent.name),
        folder=paper if is_own(paper) else "",
        name=name,
        columns=("minutes",) if values.by == "minutes" else tuple(columns),
        pairs=pairs,
        ranked_by=tuple(filter(None, ranked_by)),
        sources={
            label: _source(row, table_set, f"{location}, row {label!r}")
            for label, row in rows.items()
        },
        points=tuple(
            _point(label, row, column, values, location)
            for label, row in rows.items()
            for column in values.columns
            if label not in printed or _is_printed(column, values.columns, printed[label])
        ),
        claims={},
        printed=printed,
        **{name: getattr(values, name) for name in _AS_STATED},
    )
    sources = paper_table.sources.values()
    named_rows = [row for source in sources for row in (*source.of, *source.best_of)]
    named_rows += [row for deviation in values.deviations for row in deviation.rows]
    judging_columns = [*chain(*ranked_by), *filter(None, [values.average])]
    poolings = [source.pooling for source in sources if source.pooling]
    _refuse_unknown("row", named_rows, paper_table.sources, location)
    _refuse_circle(paper_table.sources, location)
    for row in rows.values():
        _refuse_unknown("column", row.columns, values.columns, location)
    _refuse_unknown("column", judging_columns, paper_table.columns, location)
    _refuse_unknown("task", paper_table.tasks, task_names(), location)
    _refuse_unknown("pooling", poolings, pooling_names(), location)
    if printed:
        trained_rows = [row for row, source in paper_table.sources.items() if not source.is_control]
        printed_columns = [
            name for name, column in values.columns.items() if not _unprinted(column)
        ]
        printed_columns += ["minutes"] * (values.by == "minutes")
        _refuse_unknown("printed row", trained_rows, printed, location)
        _refuse_unknown("printed column", printed_columns, next(iter(printed.values())), location)
    if not rows and values.shown_by is None:
        raise UsageError(
            f"{location} has neither rows nor shown_by", hint="give the command that shows it here"
        )
    if rows and values.by is None and not paper_table.columns:
        raise UsageError(
            f"{location} has rows and no columns",
            hint='for example columns = { STS12 = "sts12" }',
        )
    return paper_table


def _with_claims(
    tables: Mapping[str, PaperTable], claims: Mapping[str, Claim], file_name: str
) -> dict[str, PaperTable]:
    """Return TABLES, each with the CLAIMS about it; one about a table, row or column that does not
    exist is refused.
    """
    for name, claim in claims.items():
        location = f"{file_name}: claims.{name}"
        check_claim(claim, location)
        if not claim.source:
            raise UsageError(
                f"{location}: no source",
                hint='name what states it, for example source = "section 3.2"',
            )
        _refuse_unknown("table", [claim.table], tables, location)
        table = tables[claim.table]
        _refuse_unknown("row", [claim.first, claim.second], table.sources, location)
        if table.by is None:
            _refuse_unknown("column", claim.columns, table.columns, location)
        if not claim.columns and (table.by is not None or not table.ranked_by):
            raise UsageError(
                f"{location}: {claim.table!r} has no order of its own",
                hint='name columns or slices, for example columns = ["STS12"]',
            )
    return {
        name: replace(
            table, claims={key: claim for key, claim in claims.items() if claim.table == name}
        )
        for name, table in tables.items()
    }


def _rows(
    values: _Table, tables: Mapping[str, _Table], location: str
) -> tuple[Mapping[str, _Row], Mapping[str, Any]]:
    """Return the rows of a table and the keys set for all of them: its own, or those of the table
    that it names.
    """
    if not isinstance(values.rows, str):
        return values.rows, values.set
    _refuse_unknown("table", [values.rows], tables, location)
    source_table = tables[values.rows]
    if isinstance(source_table.rows, str):
        raise UsageError(
            f"{location} takes the rows of {values.rows!r}, which has none",
            hint=f"name the table that {values.rows!r} names",
        )
    return source_table.rows, {**source_table.set, **values.set}


def _source(row: _Row, table_set: Mapping[str, Any], title: str) -> RowSource:
    values = {field.name: getattr(row, field.name) for field in fields(RowModel)}
    if sum(bool(value) for name, value in values.items() if name not in {"of", "set"}) != 1:
        message = (
            f"{title}: not exactly one of recipe, pooling, combine, model, given, best_of and lacks"
        )
        raise UsageError(message, hint='for example recipe = "snli-ce"')
    if (row.combine is not None) != (len(row.of) > 1):
        raise UsageError(
            f"{title}: 'combine' and 'of' go together",
            hint='for example combine = "average", of = ["SBERT", "DefSent"]',
        )
    encoder = row.set.get(ENCODER)
    values["set"] = {**table_set, **row.set}
    return RowSource(**values, encoder=str(encoder) if encoder is not None else None)


def _point(label: str, row: _Row, column: str, values: _Table, location: str) -> Point:
    table_column = values.columns[column]
    default = _Column(slice=table_column) if isinstance(table_column, str) else table_column
    specific = row.columns.get(column, _Column())
    # by the row's column, else the table's, else for the whole table
    measure_values: dict[str, Any] = {}
    for level in (values, default, specific):
        names = [field.name for field in fields(PaperMeasure) if hasattr(level, field.name)]
        measure_values |= {
            name: field_value for name in names if (field_value := getattr(level, name)) is not None
        }
    if not measure_values.get("slice"):
        raise UsageError(
            f"{location}: column {column!r} names no slice of row {label!r}",
            hint='for example slice = "sts12"',
        )
    return Point(
        row=label,
        column=column,
        measure=PaperMeasure(**measure_values),
        set={**default.set, **specific.set},
    )


def _unprinted(column: str | _Column) -> bool:
    return isinstance(column, _Column) and column.unprinted


def _is_printed(
    column: str, columns: Mapping[str, str | _Column], cells: Mapping[str, float | None]
) -> bool:
    """Return whether a row prints COLUMN, or, if the paper has no such column, any column of the
    same training.
    """
    if not _unprinted(columns[column]):
        return cells.get(column, 0.0) is not None
    sets = {name: getattr(other_name, "set", {}) for name, other_name in columns.items()}
    return any(
        cells.get(other_name) is not None for other_name in sets if sets[other_name] == sets[column]
    )


def _refuse_unknown(
    kind: str, names: Iterable[str], known_names: Collection[str], location: str
) -> None:
    for name in names:
        if name not in known_names:
            hint = nearest_hint(name, known_names, f"known: {', '.join(known_names)}")
            raise UsageError(f"{location}: no {kind} {name!r}", hint=hint)


def _refuse_circle(sources: Mapping[str, RowSource], location: str) -> None:
    """Refuse rows that are combined of themselves."""
    made: set[str] = set()  # rows without parts, and then those of rows that are made
    while more := {row for row in sources.keys() - made if made.issuperset(sources[row].of)}:
        made |= more
    for row in sources:
        if row not in made:
            raise UsageError(
                f"{location}: row {row!r} is combined of itself", hint="name other rows in 'of'"
            )


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


def published_row(model: str) -> PublishedRow | None:
    """Return the printed STS row of a model name, or None where no paper prints one."""
    for paper in paper_names():
        if (entry := read_paper(paper).published.get(model)) is not None:
            table = load_paper(paper)[entry.table]
            points = [point for point in table.points if point.row == entry.row]
            values = {
                point.measure.slice: table.printed[entry.row][point.column] for point in points
            }
            scores = {name: value for name, value in values.items() if value is not None}
            average = next(name for name in scores if name in STS_AVERAGES)
            return PublishedRow(
                model=model,
                paper=paper,
                table=entry.table,
                encoder=entry.encoder,
                aggregate=points[0].measure.setting,
                scores={name: value for name, value in scores.items() if name != average},
                average=scores[average],
            )
    return None


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
        listing = (
            f"{paper} is a recipe: `embedlab train {paper}`; `embedlab reproduce` lists papers"
        )
    raise unknown_name_error("paper", paper, paper_names(), listing=listing)


def is_own(paper: str) -> bool:
    """Return whether PAPER is a path of the user's own, and not a name."""
    return "/" in paper or os.sep in paper or paper in {PAPER_FILE, ".", ".."}


def published_table(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table exactly as in the paper; the columns are the paper's own."""
    return _read_printed(paper, table)


def published_texts(paper: str, table: str) -> pl.DataFrame:
    """Return a printed table as the text of its cells; "5e-05" remains so, and null is an empty
    cell.
    """
    return _read_printed(paper, table, infer_schema=False)


def _read_printed(paper: str, table: str, **options: Any) -> pl.DataFrame:
    """Read a printed table by OPTIONS of polars, without blank lines; a file that is no table is
    refused.
    """
    path = _table_file(paper, table)
    hint = "a CSV file has the names of its columns in the first line, and as many cells in each"
    try:
        frame = read_csv(path, **options)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{path} is not a readable csv file: {reason}", hint=hint) from error
    if (twice := next(filter(_DUPLICATED.search, frame.columns), None)) is not None:
        raise UsageError(f"{path}: two columns are {_DUPLICATED.sub('', twice)!r}", hint=hint)
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def published_scores(
    paper: str, table: str, key: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return a printed table of scores by row and column, None where the paper prints none.

    A row's name is the printed text of its KEY columns, joined by blanks: "BERT-base SBERT",
    "1e-5".
    """
    frame = _texts_with(paper, table, key)
    columns = ", ".join(frame.columns)
    scores: dict[str, dict[str, float | None]] = {}
    for row in frame.iter_rows(named=True):
        name = " ".join(row.pop(column) for column in key)
        if name in scores:
            raise UsageError(
                f"{paper} {table}: two rows are {name!r}",
                hint=f"its 'key' must name columns that tell its rows apart, among {columns}",
            )
        hint = f"write it with a point; 'key' must name each column of words among {columns}"
        scores[name] = {
            column: _number(text, f"{paper} {table}, {column!r} of {name!r}", hint)
            for column, text in row.items()
        }
    return scores


def published_pairs(
    paper: str, table: str, sentences: tuple[str, str]
) -> tuple[tuple[tuple[str, str], ...], dict[str, dict[str, float | None]]]:
    """Return the sentence pairs of a printed table, and its scores by model and "pair 1", "pair 2"
    …; SENTENCES are their columns.
    """
    frame = _texts_with(paper, table, sentences)
    if frame.is_empty():
        raise UsageError(f"{paper} {table}: no pair", hint="write one in each line")
    hint = f"its columns beside {' and '.join(sentences)} hold the scores of one model each"
    scores = {
        model.name: {
            f"pair {number}": _number(text, f"{paper} {table}, {model.name!r}", hint)
            for number, text in enumerate(model, start=1)
        }
        for model in frame.drop(sentences)
    }
    return tuple(frame.select(sentences).rows()), scores


def _texts_with(paper: str, table: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the texts of a printed table, each row of which must have these COLUMNS."""
    frame = published_texts(paper, table)
    for column in columns:
        if column not in frame.columns:
            raise unknown_name_error(f"column of {paper} {table}", column, frame.columns)
        is_blank = frame[column].is_null()
        if is_blank.any():
            raise UsageError(
                f"{paper} {table}: row {is_blank.to_list().index(True) + 1} has no {column!r}",
                hint="write it in each row",
            )
    return frame


def _number(text: str | None, location: str, hint: str) -> float | None:
    """Return the number that a cell prints, None of an empty one; anything else is refused."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError as error:
        raise UsageError(f"{location}: {text!r} is not a number", hint=hint) from error
    if not isfinite(number):
        raise UsageError(
            f"{location}: {text!r} is no number", hint="leave a cell empty where none is printed"
        )
    return number


def published_tables(paper: str) -> list[str]:
    """Return the names of the printed tables of a paper, in the order of their numbers."""
    return sorted((path.stem for path in paper_folder(paper).glob("*.csv")), key=table_number_key)


def table_number_key(table: str) -> list[tuple[str, int]]:
    """Return a sort key of table names that puts table2 before table10."""
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D+)(\d*)", table)]


def _table_file(paper: str, table: str) -> Path:
    names = published_tables(paper)
    if table not in names:
        raise unknown_name_error("table", table, names)
    return paper_folder(paper) / f"{table}.csv"
