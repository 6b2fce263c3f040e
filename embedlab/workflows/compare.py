"""Models compared: on pairs by any kind of slice, or on several tasks in one table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from embedlab.analysis.comparison import compare_models
from embedlab.choices import Aggregate, By, SettingName, Test
from embedlab.core.errors import UsageError
from embedlab.evaluation.scored_pairs import ScoredPairs
from embedlab.evaluation.selection import SelectedTask, select_tasks
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.property import property_named
from embedlab.papers.printed import PublishedRow, published_row
from embedlab.reports.comparison_page import ComparedPairs
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.frames import COMPARED
from embedlab.reports.task_comparison import task_comparison_table
from embedlab.tasks.task import task as find_task
from embedlab.workflows.closed_choices import refuse_unknown_choices
from embedlab.workflows.compare_tasks import Slicing, compare_tasks
from embedlab.workflows.models import refuse_twice
from embedlab.workflows.own_files import note_files
from embedlab.workflows.report import Report
from embedlab.workflows.scoring import score
from embedlab.workflows.session import Session
from embedlab.workflows.stated import without_stated


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What is compared, and how."""

    models: Sequence[str]
    suites: Sequence[str] = ()
    tasks: Sequence[str] = ()
    by: str = DATASET  # a property of items
    where: str = ""  # an expression over properties that picks the items; all without one
    aggregate: Aggregate = "all"
    test: Test = "dyadic"
    equivalent: float | None = None  # a margin in points
    setting: SettingName = "literature"
    common: bool = False  # on the pairs that all models score
    published: bool = False  # also what papers print for models of these names

    @property
    def margin(self) -> float | None:
        """The margin of equivalence in units of the scores."""
        return None if self.equivalent is None else self.equivalent / 100


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonReport(Report):
    """The report of a comparison, and what a page is made of: the compared pairs, or the rows of several tasks."""

    pairs: ComparedPairs | None = None
    tasks: TaskComparison | None = None
    printed: tuple[PublishedRow, ...] = ()


def comparison_report(options: CompareOptions, session: Session) -> ComparisonReport:
    """Compare the models with the first of them; options that contradict each other are refused before any work."""
    refuse_unknown_choices(options)
    refuse_twice(options.models)
    options = replace(options, where=options.where.strip())
    _check_margin(options)
    _check_slices(options)
    note_files(options.tasks, session)
    data = session.settings.data
    found = [one for suite in options.suites or (None,) for one in select_tasks(suite, options.tasks, data)]
    selected = list(dict.fromkeys(found))
    if len(selected) == 1 and selected[0].scores_pairs and options.by in get_args(By) and not options.where:
        return _compare_on_pairs(selected[0], options, session)
    _refuse_options_of_pairs(options, selected)
    slicing = Slicing(by=options.by, where=options.where, aggregate=options.aggregate, common=options.common)
    compared = compare_tasks(
        options.models, selected, session, slicing=slicing, test=options.test, margin=options.margin, setting=options.setting
    )
    report = ComparisonReport.of([task_comparison_table(compared)], COMPARED, is_whole=compared.is_whole)
    return replace(report, tasks=compared)


def compare_pairs(one: SelectedTask, options: CompareOptions, session: Session) -> tuple[ComparedPairs, bool]:
    """The models compared on the pairs of a task, or of some of its datasets, and whether no dataset was missing."""
    scored, is_whole = score(options.models, session, task=one.task, datasets=one.names, common=options.common)
    return compare_scored(scored, options, session), is_whole


def compare_scored(scored: ScoredPairs, options: CompareOptions, session: Session) -> ComparedPairs:
    """The models of SCORED pairs compared."""
    assert options.test != "mcnemar"
    with session.progress("comparing") as tick:
        comparison = compare_models(
            scored.table,
            scored.models,
            by=cast("By", options.by),
            aggregate=options.aggregate,
            test=options.test,
            margin=options.margin,
            task=scored.task,
            averages=scored.averages,
            common=scored.common,
            progress=tick,
        )
    return ComparedPairs(comparison=comparison, scored=scored)


def _compare_on_pairs(one: SelectedTask, options: CompareOptions, session: Session) -> ComparisonReport:
    if options.test == "mcnemar":
        raise UsageError("test 'mcnemar' is for classified items, not for pairs", hint="use dyadic, williams or steiger")
    names, stated = without_stated(options.models, session)
    if not names:
        raise UsageError(
            "only figures of whole datasets are known of these models", hint="name one that scores pairs; `embedlab evaluate` shows them"
        )
    options = replace(options, models=names)
    found, is_whole = compare_pairs(one, options, session)
    rows = (published_row(model) for model in found.comparison.models) if options.published else ()
    printed = [row for row in rows if row is not None]
    table = comparison_table(found.comparison, found.scored, printed, stated)
    report = ComparisonReport.of([table], COMPARED, is_whole=is_whole)
    return replace(report, pairs=found, printed=tuple(printed))


def _check_margin(options: CompareOptions) -> None:
    if options.equivalent is None:
        return
    if not 0 < options.equivalent < 100:
        hint = "give points above 0 and below 100, for example 0.5"
        raise UsageError(f"the margin of equivalence is {options.equivalent:g} points", hint=hint)
    if len(options.models) == 1:
        raise UsageError("a margin of equivalence needs two models", hint="name another model")


def _check_slices(options: CompareOptions) -> None:
    """Refuse a property that nothing has, and an aggregation of parts of datasets."""
    if options.by != DATASET:
        property_named(options.by)
        if options.aggregate != "all":
            message = f"option aggregate {options.aggregate!r} is for whole datasets: a {options.by} is scored at once"
            raise UsageError(message, hint="remove it, or group by dataset")


def _refuse_options_of_pairs(options: CompareOptions, selected: Sequence[SelectedTask]) -> None:
    """Refuse what no selected task has, and what is known of whole datasets of pairs alone."""
    if not any(find_task(one.task).outcomes != "none" for one in selected) and (options.by != DATASET or options.where):
        what = f"group by {options.by!r}" if options.by != DATASET else f"pick by {options.where!r}"
        names = ", ".join(dict.fromkeys(one.task for one in selected))
        raise UsageError(f"{names} has no items to {what}", hint="remove the option, or select a task with items")
    has_pairs = any(one.scores_pairs for one in selected)
    if options.common and not has_pairs:
        raise UsageError("option common is for tasks of pairs alone", hint="remove it, or select the task sts")
    chosen = {
        f"aggregate {options.aggregate!r}": options.aggregate != "all" and not has_pairs,
        "published": options.published,
        f"test {options.test!r}": options.test in {"williams", "steiger"} and not has_pairs,
    }
    if wrong := next((name for name, is_chosen in chosen.items() if is_chosen), None):
        raise UsageError(f"option {wrong} is for the task sts alone", hint="remove it, or select the task sts")
