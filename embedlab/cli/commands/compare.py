"""`embedlab compare`: models side by side, and whether they differ."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.choices import Aggregate, By, SettingName, Test
from embedlab.cli import completion
from embedlab.cli.commands.evaluate import TaskNames
from embedlab.cli.models import ModelNames
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.page_facts import HtmlFile, check_page
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from embedlab.analysis.comparison import Comparison
    from embedlab.analysis.evidence import PairTest
    from embedlab.evaluation.scored_pairs import ScoredPairs
    from embedlab.evaluation.selection import SelectedTask
    from embedlab.papers.printed import PublishedRow


EXAMPLES = examples(
    "embedlab compare dice snli-ce snli-supcl --data DIR",
    "embedlab compare sbert defsent average:sbert,defsent --by source --format markdown",
    "embedlab compare sbert defsent --suite sts --suite transfer",
    "embedlab compare sbert defsent --html sbert-defsent.html",
)


@common("data", "runs", "machine", "output")
def compare(
    models: ModelNames,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite",
            metavar="TASK",
            help="What to compare on: a task, or all; again for more. [sts]",
            autocompletion=completion.tasks,
        ),
    ] = None,
    task: TaskNames = None,
    by: Annotated[By, typer.Option("--by", help="What a row stands for.")] = "dataset",
    aggregate: Annotated[Aggregate, typer.Option("--aggregate", help="How a dataset's sources become one number.")] = "all",
    test: Annotated[
        Test,
        typer.Option("--test", help="Where p comes from; the others than dyadic are corrected by the design effect."),
    ] = "dyadic",
    equivalent: Annotated[
        float | None,
        typer.Option("--equivalent", metavar="MARGIN", help="Also test whether models are equal within MARGIN points; = marks those."),
    ] = None,
    setting: Annotated[SettingName, typer.Option("--setting", help="How transfer and probing train their classifiers.")] = "literature",
    published: Annotated[bool, typer.Option("--published", help="Also show what papers print for models of these names.")] = False,
    html: HtmlFile = None,
    signature: Signed = False,
    *,
    terminal: Terminal,
) -> None:
    """Compare MODELs with the first of them, with 95% intervals over the pairs or items and over the seeds.

    Pairs that share a sentence count as dependent, and so do items. Two models share a letter in a row exactly if they cannot be
    told apart, * marks a difference from the first model: both from one p for each two models, corrected by Holm over the table.
    With --equivalent, = marks a difference that two one-sided tests find smaller than the margin. † marks a score on pairs, ‡ on
    sentences, that were in the model's training data. What is not scored yet is scored first.

    Tests: dyadic-robust variance with Student's t; McNemar, exact below 25 discordant items and mid-p from there (Fagerland 2013); for
    two correlations with one gold score Williams' t and Steiger's Z (Steiger 1980), which hold for ranks only approximately. Models of
    several seeds are always tested by the first.
    """
    from embedlab.evaluation.selection import select_tasks
    from embedlab.workflows.scoring import chosen_datasets, score

    _check_models(models, terminal)
    margin = _margin(equivalent, models)
    selected = list(dict.fromkeys(one for name in suite or (None,) for one in select_tasks(name, task or (), terminal.settings.data)))
    if not (len(selected) == 1 and selected[0].scores_pairs):
        _refuse_for_pairs(by=by != "dataset", aggregate=aggregate != "all", published=published, html=html is not None)

        return _compare_tasks(models, selected, test, margin, setting, terminal, is_signed=signature)
    if test == "mcnemar":
        raise UsageError("--test mcnemar is for classified items, not for pairs", hint="use dyadic, williams or steiger")
    from embedlab.reports.comparison_table import comparison_table

    check_page(html)
    scored, is_whole = score(models, terminal, datasets=chosen_datasets(list(selected[0].names), by), fifths=by == "dice")
    comparison = _compared(scored, by, aggregate, test, margin, terminal)
    printed = _published_rows(comparison.models) if published else []
    terminal.show(replace(comparison_table(comparison, scored, printed), is_signed=signature))
    if html is not None:
        from embedlab.cli.compare_page import View, write_comparison

        write_comparison(html, View(comparison=comparison, scored=scored), printed, task, terminal)
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)
    return None


def _compare_tasks(
    models: Sequence[str],
    selected: "Sequence[SelectedTask]",
    test: Test,
    margin: float | None,
    setting: SettingName,
    terminal: Terminal,
    *,
    is_signed: bool,
) -> None:
    """Show the models on all that was selected, in one table."""
    from embedlab.reports.task_comparison import task_comparison_table
    from embedlab.workflows.compare import compare_tasks

    found = compare_tasks(models, selected, terminal, test=test, margin=margin, setting=setting)
    if found.slices:
        terminal.show(replace(task_comparison_table(found), is_signed=is_signed))
    if not found.is_whole or not found.slices:
        raise typer.Exit(ExitCode.MISSING)


def _compared(
    scored: "ScoredPairs", by: By, aggregate: Aggregate, test: "PairTest", margin: float | None, terminal: Terminal
) -> "Comparison":
    from embedlab.analysis.comparison import compare_models

    with terminal.progress("comparing") as tick:
        return compare_models(scored.table, scored.models, by=by, aggregate=aggregate, test=test, margin=margin, progress=tick)


def _margin(points: float | None, models: Sequence[str]) -> float | None:
    """The margin of equivalence in units of the scores."""
    if points is None:
        return None
    if not 0 < points < 100:
        raise UsageError(
            f"--equivalent is {points:g}: not a margin", hint="give points above 0 and below 100, for example --equivalent 0.5"
        )
    if len(models) == 1:
        raise UsageError("--equivalent needs two models", hint="name another model")
    return points / 100


def _published_rows(models: Sequence[str]) -> "list[PublishedRow]":
    """What papers print for models of these names."""
    from embedlab.papers.printed import published_row

    return [row for name in models if (row := published_row(name)) is not None]


def _refuse_for_pairs(**typed: bool) -> None:
    """Refuse what only pairs have, where other tasks are compared."""
    if wrong := next((name for name, is_typed in typed.items() if is_typed), None):
        raise UsageError(f"--{wrong} is for the task sts alone", hint="leave it out, or take --suite sts")


def _check_models(models: list[str], terminal: Terminal) -> None:
    """Refuse a model that is named twice; say what one alone is good for."""
    if twice := next((name for name in models if models.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")
    if len(models) == 1:
        terminal.note(f"one model: nothing to compare it with; `embedlab evaluate {models[0]}` shows all its numbers")
