"""Reproduced tables of papers from stored similarities or answers, without the models.

    python research/programs/stored_reproductions.py show research/scores/NAME.parquet PAPER
        TABLE ROW=MODEL… --data DIR
    python research/programs/stored_reproductions.py refresh research/PAGE.md… --data DIR

`show` prints what `embedlab reproduce PAPER TABLE --from runs` prints of the rows whose models are
named; the file is one of stored_tables.py or of stored_answers.py. `refresh` writes each table of a
page again that is between these two lines:

    <!-- reproduction scores/NAME.parquet PAPER TABLE ROW=MODEL … -->
    <!-- end of reproduction -->
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import stored_answers
import stored_tables
import table_pages
from stored_runs import UNTRAINED, StoredTraining

from embedlab.analysis.evidence import ModelColumns
from embedlab.api import NotebookSession
from embedlab.commands.reproduce_models import EvaluatedRows
from embedlab.commands.reproduce_run import EvaluatedTable, compare_rows
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.printable import OVERLAP
from embedlab.core.settings import Settings, load_settings
from embedlab.data.marks import data_marks
from embedlab.experiments.deviations import RowRecipes
from embedlab.experiments.matching_runs import Member, RowMembers
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import limit_to_encoder, trainings
from embedlab.reports.papers import Reproduction
from embedlab.tasks._similarities import pair_scores


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredModels:
    """The models of a file: what is known of them, and how each member was trained."""

    columns: Mapping[str, ModelColumns]  # by the model's name
    known: EvaluatedRows
    training: Mapping[str, StoredTraining]  # by member


def models_of_pairs(
    path: Path, names: Sequence[str], table: PaperTable, settings: Settings
) -> StoredModels:
    """Return the models called NAMES with the pairs that TABLE is about."""
    by = table.by or "dataset"
    scored = stored_tables.stored_pairs(path, names, settings, by)
    evaluations = {}
    for member, stored in scored.stored.items() if table.by is None else ():
        shared = stored.shared(by)
        marks = {*data_marks(scored.states), *stored.marks, *((OVERLAP,) if shared else ())}
        evaluations[member, DEFAULT_TASK] = replace(
            stored.description,
            scores=pair_scores(scored.pairs, member),
            overlaps=shared,
            marks=tuple(sorted(marks)),
            notes=stored.notes,
        )
    members = [
        ModelColumns(name=member, members=(member,), runs=(runs,), is_published=model.is_published)
        for model in scored.models
        for member, runs in zip(model.members, model.runs_behind, strict=True)
    ]
    return StoredModels(
        columns={model.name: model for model in scored.models},
        known=EvaluatedRows(
            evaluations=evaluations,
            answers={},
            gathered=scored.with_rows(members),
            missing_notes=(),
        ),
        training={member: stored.training for member, stored in scored.stored.items()},
    )


def models_of_answers(path: Path, names: Sequence[str]) -> StoredModels:
    """Return the models called NAMES in a file of answers."""
    stored, items = stored_answers.stored_comparison(path), pl.read_parquet(path)
    columns = {model.name: model for model in stored.models if model.name in names}
    chosen = {member for model in columns.values() for member in model.members}
    members = [
        (task, name, own)
        for task, found in stored.members.items()
        for name, own in found.items()
        if name in chosen
    ]
    return StoredModels(
        columns=columns,
        known=EvaluatedRows(
            evaluations={
                (name, task): own.evaluation
                for task, name, own in members
                if own.evaluation is not None
            },
            answers={
                (name, task): list(stored_answers.answers_of(task, name, own, items).outcomes)
                for task, name, own in members
            },
            gathered=None,
            missing_notes=(),
        ),
        training={name: own.training for _, name, own in members},
    )


def reproduced(
    path: Path, paper: str, name: str, models_of: Mapping[str, str], settings: Settings
) -> Reproduction:
    """Return a table of a paper from the file at PATH; MODELS_OF names the model of each row, or
    "ROW COLUMN", that has one.
    """
    rows = stored_rows(path, paper, name, models_of, settings)
    wanted = {
        (own.name, point.measure.task)
        for point in rows.table.points
        for own in rows.members[point.row].at(point.column)
    }
    if lacking := sorted(wanted - rows.evaluations.keys()):
        raise SystemExit(
            f"{path}: the scores of {lacking[0][0]} are not stored: store its models again"
        )
    return compare_rows(rows, NotebookSession(settings=settings))


def stored_rows(
    path: Path, paper: str, name: str, models_of: Mapping[str, str], settings: Settings
) -> EvaluatedTable:
    """Return the rows of a table whose models are in the file at PATH, as `reproduced` takes them;
    of answers also without their scores.
    """
    (table,) = select_tables(paper, name)
    is_pairs = stored_tables.FACTS in pl.read_parquet_metadata(path)
    names = [*dict.fromkeys(models_of.values())]
    models = (
        models_of_pairs(path, names, table, settings)
        if is_pairs
        else models_of_answers(path, names)
    )
    labels = {cell: label_of(table, *cell) for cell in cells_of(table)}
    for label, model in models_of.items():
        if label not in labels.values() or model not in models.columns:
            raise SystemExit(
                f"{label}={model}: the rows are {', '.join(table.sources)}; the models "
                f"{', '.join(models.columns)}"
            )
    training = {label: training_of(models, model) for label, model in models_of.items()}
    table, left_out = limit_to_encoder(table, start_of(table, training))
    own = {label: members_of(models.columns[name]) for label, name in models_of.items()}
    members = {
        row: RowMembers(
            own=own.get(row, ()),
            by_column={
                column: own.get(label, ())
                for (cell_row, column), label in labels.items()
                if cell_row == row != label
            },
        )
        for row in table.sources
    }
    return EvaluatedTable(
        table=table,
        evaluations=models.known.evaluations,
        items=models.known.items,
        gathered=models.known.gathered,
        members=members,
        recipes=dict(recipes_of(table, training)),
        training={row: own.data for row, own in training.items() if row in table.sources},
        notes=tuple(absent_rows(table, models_of, left_out)),
    )


def start_of(table: PaperTable, training: Mapping[str, StoredTraining]) -> str | None:
    """Return the encoder that all rows start from; None where one is about an encoder of its
    own.
    """
    if any(table.sources[label].encoder for label in training if label in table.sources):
        return None
    return next(
        (own.recipe["encoder"]["model"] for own in training.values() if own.recipe is not None),
        None,
    )


def training_of(models: StoredModels, name: str) -> StoredTraining:
    """Return how a model was trained: as the last of its members that says so."""
    stated = [
        models.training[member]
        for member in models.columns[name].members
        if models.training[member].data
    ]
    return stated[-1] if stated else UNTRAINED


def label_of(table: PaperTable, row: str, column: str) -> str:
    """Return what is trained for a cell: its row, or a training of its own."""
    own = next(
        (point for point in table.points if (point.row, point.column) == (row, column)), None
    )
    is_of_row = table.source_of(row, own).set == table.sources[row].set
    return row if is_of_row else f"{row} {column}"


def cells_of(table: PaperTable) -> Iterator[tuple[str, str]]:
    """Yield each row with the column "", and with those that it has a number in."""
    yield from ((row, "") for row in table.sources)
    yield from ((point.row, point.column) for point in table.points)


def members_of(model: ModelColumns) -> tuple[Member, ...]:
    """Return the members of a model as those of a row."""
    seeds = model.seeds or (None,) * len(model.members)
    return tuple(
        Member(name=name, seed=seed, runs=runs)
        for name, seed, runs in zip(model.members, seeds, model.runs_behind, strict=True)
    )


def recipes_of(
    table: PaperTable, training: Mapping[str, StoredTraining]
) -> Iterator[tuple[str, RowRecipes]]:
    """Yield the paper's recipe and the run's of each trained row."""
    for label, source in trainings(table).values():
        ours = training[label].recipe if label in training else None
        if ours is not None:
            yield label, RowRecipes.of(source, ours)


def absent_rows(
    table: PaperTable, models_of: Mapping[str, str], left_out: Sequence[str]
) -> Iterator[str]:
    """Yield the reasons for which rows have no numbers here."""
    yield from (
        f"{row}: {source.lacks}"
        for row, source in table.sources.items()
        if source.lacks is not None
    )
    if lacking := [
        row
        for row, source in table.sources.items()
        if row not in models_of and source.lacks is None
    ]:
        yield f"not trained here: {', '.join(lacking)}"
    if left_out:
        yield f"left out with one encoder for every row: {', '.join(left_out)}"


def shown(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the tables that the ARGUMENTS of `show` describe, in Markdown."""
    rows = dict(text.split("=", 1) for text in arguments.rows)
    found = reproduced(arguments.file, arguments.paper, arguments.table, rows, settings)
    return "\n".join(table.to_markdown() for table in found.tables)


def refreshed(page: str, folder: Path, settings: Settings) -> str:
    """Return a PAGE whose files are relative to FOLDER with each of its tables made again."""
    return table_pages.refreshed(
        page,
        "reproduction",
        folder,
        parser_of_tables(),
        lambda arguments: shown(arguments, settings),
    )


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("paper")
    parser.add_argument("table")
    parser.add_argument("rows", nargs="+", metavar="ROW=MODEL")
    return parser


def main() -> None:
    """Show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path)
    commands.add_parser("show", parents=[shared, parser_of_tables()])
    refreshing = commands.add_parser("refresh", parents=[shared])
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1})[0]
    match arguments.command:
        case "show":
            print(shown(arguments, settings), end="")
        case "refresh":
            for page in arguments.pages:
                page.write_text(refreshed(page.read_text("utf-8"), page.parent, settings), "utf-8")


if __name__ == "__main__":
    main()
