"""Short tables of scores from stored answers and similarities, without the models: a row a model, a
column a slice of a file.

    python research/programs/stored_scores.py show --column TITLE=FILE:SLICE… --row
        TITLE=MODEL… [--data DIR]
    python research/programs/stored_scores.py refresh research/PAGE.md… [--data DIR]

SLICE is a row of what stored_answers.py or stored_tables.py shows of FILE, such as "glue-mrpc
accuracy" or "average of seven", and may be followed by :unseen, and by :mean or :wmean for how the
sources of a dataset are put together. The slice "mean cosine" is that of some sentences of a run's
rows after its contrastive stages, "mean cosine before" that before them, neither times 100. A row
has one MODEL, or one for each column, with | between; "-" leaves a cell empty, and + between models
takes them as seeds of one. "largest class" is a model of files of answers. A score of several seeds
has their standard deviation. `--items` adds a row with how many items each column has, and
`--difference TITLE` a column with the last minus the first. `refresh` writes each table of a page
again that is between these lines:

    <!-- scores --column TITLE=FILE:SLICE… --row TITLE=MODEL… -->
    <!-- end of scores -->
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import polars as pl
import stored_answers
import stored_claims
import stored_tables
import table_pages

from embedlab.analysis.evidence import Evidence
from embedlab.choices import Aggregate
from embedlab.core.settings import Settings, load_settings
from embedlab.reports.tables import ABSENT

COSINES = {"mean cosine before": 0, "mean cosine": 1}
AGGREGATES: Mapping[str, Aggregate] = {"mean": "mean", "wmean": "wmean"}


@dataclass(frozen=True, kw_only=True)
class ScoreColumn:
    """One column of a table."""

    title: str
    file: Path
    slice: str
    aggregate: Aggregate = "all"
    unseen: bool = False


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of the models of a column."""

    items: int | None  # None: it is not about items
    values: Mapping[str, Sequence[float]]  # of the seeds of each model, as they are printed


def column_of(text: str, folder: Path) -> ScoreColumn:
    """Return the column that TEXT describes, its file relative to FOLDER."""
    title, _, place = text.partition("=")
    file, called, *words = place.split(":")
    aggregate = next((AGGREGATES[word] for word in words if word in AGGREGATES), "all")
    if unknown := set(words) - {*AGGREGATES, "unseen"}:
        raise SystemExit(f"{text!r}: {min(unknown)!r} is none of unseen, {', '.join(AGGREGATES)}")
    return ScoreColumn(
        title=title, file=folder / file, slice=called, aggregate=aggregate, unseen="unseen" in words
    )


def models_of(row: str, columns: int) -> tuple[str, list[list[str]]]:
    """Return the title of a ROW, and its models in each of the COLUMNS."""
    title, _, text = row.partition("=")
    cells = text.split("|")
    if len(cells) not in {1, columns}:
        raise SystemExit(f"row {title!r} has {len(cells)} models for {columns} columns")
    return title, [
        [] if cell.strip() == "-" else cell.strip().split("+")
        for cell in (cells * columns if len(cells) == 1 else cells)
    ]


def scores_of(column: ScoreColumn, models: Sequence[str], settings: Settings) -> Scores:
    """Return what the file of COLUMN says of MODELS."""
    if column.slice in COSINES:
        return Scores(items=None, values={model: cosines_of(column, model) for model in models})
    slices = stored_claims.StoredSlices(
        file=str(column.file),
        models=tuple(models),
        aggregate=column.aggregate,
        unseen=column.unseen,
    )
    known, evidence = stored_claims.evidence_of_file(column.file, models, slices, settings)
    found: Evidence = evidence[stored_claims.slice_called(column.slice, evidence, str(column.file))]
    points = iter(found.points.tolist())
    by_model = {
        model.name: [stored_claims.SCALE * next(points) for _ in model.members] for model in known
    }
    return Scores(items=found.items, values=by_model)


def cosines_of(column: ScoreColumn, model: str) -> list[float]:
    """Return the mean cosine that the runs of MODEL in the file of COLUMN had."""
    if stored_tables.FACTS in pl.read_parquet_metadata(column.file):
        raise SystemExit(f"{column.file} has similarities: mean cosines are stored with answers")
    stored = stored_answers.stored_comparison(column.file)
    trainings = {
        name: member.training for own in stored.members.values() for name, member in own.items()
    }
    members = next((one.members for one in stored.models if one.name == model), ())
    pairs = [trainings[member].cosines for member in members]
    found = [
        value
        for pair in pairs
        if pair is not None and (value := pair[COSINES[column.slice]]) is not None
    ]
    if not found:
        raise SystemExit(f"{column.file}: no mean cosine of {model!r} is stored")
    return found


def scores_table(
    columns: Sequence[ScoreColumn],
    rows: Sequence[str],
    settings: Settings,
    *,
    items: bool,
    difference: str = "",
) -> str:
    """Return the table of ROWS and COLUMNS in Markdown; DIFFERENCE is the title of a column with
    the last minus the first.
    """
    placed = [models_of(row, len(columns)) for row in rows]
    wanted = [
        list(dict.fromkeys(model for _, cells in placed for model in cells[index]))
        for index in range(len(columns))
    ]
    known = [
        scores_of(column, models, settings) for column, models in zip(columns, wanted, strict=True)
    ]
    titles = [*(column.title for column in columns), *([difference] if difference else [])]
    lines = [f"| | {' | '.join(titles)} |", f"| --- |{' ---: |' * len(titles)}"]
    if items:
        counts = [f"{scores.items:,}" if scores.items is not None else ABSENT for scores in known]
        lines.append(f"| items | {' | '.join([*counts, *([ABSENT] if difference else [])])} |")
    for title, cells in placed:
        values = [
            [value for model in cell for value in scores.values[model]]
            for cell, scores in zip(cells, known, strict=True)
        ]
        texts = [cell_text(own, scores) for own, scores in zip(values, known, strict=True)]
        if difference:
            texts.append(
                f"{fmean(values[-1]) - fmean(values[0]):+.2f}"
                if values[0] and values[-1]
                else ABSENT
            )
        lines.append(f"| {title} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def cell_text(values: Sequence[float], scores: Scores) -> str:
    """Return the mean of VALUES with their standard deviation where they are several."""
    if not values:
        return ABSENT
    digits = 2 if scores.items is not None else 3
    return f"{fmean(values):.{digits}f}" + (
        f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    )


def shown(arguments: argparse.Namespace, folder: Path, settings: Settings) -> str:
    """Return the table that ARGUMENTS describe, whose files are relative to FOLDER."""
    columns = [column_of(text, folder) for text in arguments.column]
    return scores_table(
        columns, arguments.row, settings, items=arguments.items, difference=arguments.difference
    )


def refreshed(page: str, folder: Path, settings: Settings) -> str:
    """Return a PAGE whose files are relative to FOLDER with each of its short tables made again."""
    return table_pages.made_again(
        page, "scores", parser_of_tables(), lambda arguments: shown(arguments, folder, settings)
    )


def parser_of_tables() -> argparse.ArgumentParser:
    """Return the parser of what describes one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--column", action="append", required=True, metavar="TITLE=FILE:SLICE")
    parser.add_argument("--row", action="append", required=True, metavar="TITLE=MODEL")
    parser.add_argument("--items", action="store_true", help="a row with the number of items")
    parser.add_argument(
        "--difference", default="", metavar="TITLE", help="a column with the last minus the first"
    )
    return parser


def main() -> None:
    """Show or refresh."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path, help="the corpora, which tables of similarities need")
    commands.add_parser("show", parents=[shared, parser_of_tables()])
    refreshing = commands.add_parser("refresh", parents=[shared])
    refreshing.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    settings = load_settings({"data": arguments.data, "allow_partial": True, "threads": 1})[0]
    if arguments.command == "show":
        print(shown(arguments, Path(), settings), end="")
        return
    for page in arguments.pages:
        page.write_text(refreshed(page.read_text("utf-8"), page.parent, settings), "utf-8")


if __name__ == "__main__":
    main()
