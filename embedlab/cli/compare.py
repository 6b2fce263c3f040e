"""`embedlab compare`: models side by side, and whether they differ."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.evaluate import Aggregate, By, TaskNames, chosen_datasets, data_notes, score
from embedlab.cli.models import ModelNames, title_of
from embedlab.cli.options import common, examples
from embedlab.cli.output import Terminal
from embedlab.cli.page_facts import HtmlFile
from embedlab.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice, Comparison, Difference, Score
    from embedlab.reference.published import PublishedRow
    from embedlab.reports.tables import Cell, Column, Table, Value
    from embedlab.tasks.sts import ScoredPairs

EXAMPLES = examples(
    "embedlab compare dice snli-ce snli-supcl --data DIR",
    "embedlab compare sbert defsent average:sbert,defsent --by source --format markdown",
    "embedlab compare sbert defsent --html sbert-defsent.html",
)


@common("data", "runs", "machine", "output")
def compare(
    models: ModelNames,
    task: TaskNames = None,
    by: Annotated[By, typer.Option("--by", help="What a row stands for.")] = "dataset",
    aggregate: Annotated[Aggregate, typer.Option("--aggregate", help="How a dataset's sources become one number.")] = "all",
    published: Annotated[bool, typer.Option("--published", help="Also show what papers print for models of these names.")] = False,
    html: HtmlFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Compare MODELs with the first of them, with 95% intervals from 10,000 paired resamples of the pairs and of the seeds.

    Models that share a letter in a row cannot be told apart. * marks a difference that stands after Holm's correction over the
    table. What is not scored yet is scored first.
    """
    _check_models(models, terminal)
    if html is not None:
        from embedlab.reports.html import check_page_path

        check_page_path(html)
    scored, is_whole = score(models, terminal, datasets=chosen_datasets(task, by), fifths=by == "dice")

    from embedlab.analysis.comparison import compare as compare_models
    from embedlab.reference.published import published_row

    with terminal.progress("resampling") as tick:
        comparison = compare_models(scored.table, scored.models, by=by, aggregate=aggregate, watch=tick)
    printed = [row for name in comparison.models if published and (row := published_row(name)) is not None]
    terminal.show(comparison_table(comparison, scored, printed))
    if html is not None:
        from embedlab.cli.compare_page import View, write_comparison

        write_comparison(html, View(comparison=comparison, scored=scored), printed, task, terminal)
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)


def _check_models(models: list[str], terminal: Terminal) -> None:
    """Refuse a model that is named twice; say what one alone is good for."""
    if twice := next((name for name in models if models.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")
    if len(models) == 1:
        terminal.note(f"one model: nothing to compare it with; `embedlab evaluate {models[0]}` shows all its numbers")


def comparison_table(comparison: "Comparison", scored: "ScoredPairs", printed: "list[PublishedRow]") -> "Table":
    """One row a slice; a column a model, then one a difference, then one a published row."""
    from embedlab.reports.tables import Table

    rows = [_row(one, printed) for one in comparison.slices]
    title = " ".join([f"Spearman x 100, {comparison.aggregate}", *(f"[{mark}]" for mark in scored.marks)])
    notes = [*data_notes(scored), *_slice_notes(comparison), *(_printed_note(row, comparison.aggregate) for row in printed)]
    return Table(title=title, columns=_columns(comparison, printed), rows=rows, notes=notes)


def _columns(comparison: "Comparison", printed: "list[PublishedRow]") -> "list[Column]":
    from embedlab.reports.tables import Column

    others = [name for name in comparison.models if name != comparison.reference]
    columns = [Column(key="slice", title=comparison.by), Column(key="pairs", title="pairs")]
    columns += [Column(key=name, title=title_of(name), align="left") for name in comparison.models]
    columns += [Column(key=f"{name}.delta", title=f"{title_of(name)} − {title_of(comparison.reference)}", align="left") for name in others]
    return columns + [Column(key=f"{row.model}.published", title=f"{row.model}, {row.paper}", digits=2) for row in printed]


def _row(one: "ComparedSlice", printed: "list[PublishedRow]") -> "dict[str, Value | Cell]":
    row: dict[str, Value | Cell] = {"slice": one.key, "pairs": one.pairs}
    for name, score_ in one.scores.items():
        row |= _score_cells(name, score_)
    for name, difference in one.differences.items():
        row |= _difference_cells(name, difference)
    return row | {f"{line.model}.published": _printed(line, one) for line in printed}


def _score_cells(name: str, score: "Score") -> "dict[str, Value | Cell]":
    from embedlab.reports.tables import ABSENT, Cell

    spread = f" ± {100 * score.sd:.2f}" if len(score.members) > 1 else ""
    text = f"{100 * score.value:.2f}{spread} {score.letters}" if score.value == score.value else ABSENT
    return {
        name: Cell(value=100 * score.value, text=text.rstrip()),
        f"{name}.sd": 100 * score.sd,
        f"{name}.low": 100 * score.low,
        f"{name}.high": 100 * score.high,
        f"{name}.letters": score.letters,
    }


def _difference_cells(name: str, difference: "Difference") -> "dict[str, Value | Cell]":
    from embedlab.reports.tables import ABSENT, Cell

    delta, low, high = (100 * value for value in (difference.delta, difference.low, difference.high))
    text = f"{delta:+.2f} [{low:+.2f}, {high:+.2f}]{'*' if difference.significant else ''}" if delta == delta else ABSENT
    return {
        f"{name}.delta": Cell(value=delta, text=text),
        f"{name}.delta_low": low,
        f"{name}.delta_high": high,
        f"{name}.p": difference.p,
        f"{name}.p_holm": difference.p_holm,
    }


def _printed(row: "PublishedRow", one: "ComparedSlice") -> float | None:
    """What a paper prints for a dataset, or for the average over all the datasets that it prints."""
    return row.average if one.average_of and set(one.average_of) == set(row.scores) else row.scores.get(one.key)


def _printed_note(row: "PublishedRow", aggregate: Aggregate) -> str:
    other = "" if row.aggregate == aggregate else f"; not comparable with {aggregate!r} here"
    return f"{row.model}, {row.paper}: {row.table}, {row.encoder}, aggregated by {row.aggregate!r}{other}"


def _slice_notes(comparison: "Comparison") -> Iterator[str]:
    yield from comparison.notes
    for one in comparison.slices:
        yield from (f"{one.key}: {note}" for note in one.notes)
