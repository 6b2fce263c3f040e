"""Models compared on tasks of any kind, by a property of their items, in one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from embedlab.core.errors import UsageError
from embedlab.experiments.published_rows import PublishedRow, published_row
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import refuse_unknown_property
from embedlab.reports.frames import COMPARED
from embedlab.reports.scores import StatedModel, comparison_table, with_model_rows
from embedlab.reports.tables import Table
from embedlab.scoring.selection import SelectedTask, select_from
from embedlab.scoring.task_comparison import Gathered, Slicing, TaskComparison
from embedlab.workflows.closed_choices import refuse_unknown_choices
from embedlab.workflows.compare_tasks import compared, gather, refuse_without_items
from embedlab.workflows.models import refuse_twice
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.own_files import hints_at_own_columns, note_files
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session
from embedlab.workflows.stated import without_stated

if TYPE_CHECKING:
    from embedlab.reports.cost_table import Costs


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ComparisonReport(Report):
    """The report of a comparison, what else a page is made of, and what compares the same models by
    another property.
    """

    command: ClassVar[str] = "compare"
    compared: TaskComparison
    gathered: Gathered
    printed: tuple[PublishedRow, ...] = ()
    costs: "Costs | None" = None

    @property
    def notebook_tables(self) -> Sequence[Table]:
        """The tables with a row a model, whose cells say their intervals."""
        return [*map(with_model_rows, self.tables[:1]), *self.tables[1:]]

    def drawn(self) -> Mapping[str, Any]:
        """The comparison, and the pairs behind it."""
        return {"compared": self.compared, "pairs": self.gathered.scored, "costs": self.costs}


@hints_at_own_columns
def comparison_report(options: CompareOptions, session: Session) -> ComparisonReport:
    """Compare the models with the first of them; options that contradict each other are refused
    before any work.
    """
    refuse_unknown_choices(options)
    refuse_twice(options.models)
    options = replace(options, where=options.expression, selection="", unseen=False)
    _check_margin(options)
    _check_slices(options)
    _check_cost(options)
    note_files(options.tasks, session)
    selected = select_from(options.suites, options.tasks, session.settings.data)
    _refuse_options(options, selected)
    names, stated = _apart(options.models, selected, session)
    slicing = _slicing(options)
    gathered = gather(names, selected, session, slicing=slicing, setting=options.setting)
    comparison = compared(gathered, slicing, session)
    printed = tuple(_published(names, session)) if options.published else ()
    table = comparison_table(comparison, printed, stated, rows=options.rows)
    tables, costs = [table], None
    if options.cost:
        from embedlab.reports.cost_table import cost_table
        from embedlab.workflows.costs import costs_of

        costs = costs_of(names, options, selected, slicing, gathered, session)
        tables.append(cost_table(costs))
    frame = Report.of(tables, COMPARED, is_whole=comparison.is_whole)
    return ComparisonReport(
        **vars(frame), compared=comparison, gathered=gathered, printed=printed, costs=costs
    )


def _published(models: Sequence[str], session: Session) -> Iterator[PublishedRow]:
    """Yield the printed row of each of MODELS that has one; the others are reported."""
    rows = {model: published_row(model) for model in models}
    if absent := [model for model, row in rows.items() if row is None]:
        session.note(f"no published numbers for {', '.join(absent)}")
    yield from (row for row in rows.values() if row is not None)


def _slicing(options: CompareOptions) -> Slicing:
    """What is compared of the items, and how."""
    margin = None if options.equivalent is None else options.equivalent / 100
    has_rest = bool(options.where) and options.by == DATASET
    return Slicing(
        by=options.by,
        where=options.where,
        has_rest=has_rest,
        aggregate=options.aggregate,
        common=options.common,
        margin=margin,
        has_letters=options.letters,
        has_another=options.another_dataset,
    )


def _apart(
    models: Sequence[str], selected: Sequence[SelectedTask], session: Session
) -> tuple[list[str], list[StatedModel]]:
    """Return the names of MODELS that score items, and those of which only figures of pairs are
    known; none is an error.
    """
    if not any(each.definition.aggregates for each in selected):
        return [*models], []
    names, stated = without_stated(models, session)
    if not names:
        raise UsageError(
            "only figures of whole datasets are known of these models",
            hint="name one that scores pairs; `embedlab evaluate` shows them",
        )
    return names, stated


def _check_margin(options: CompareOptions) -> None:
    if options.equivalent is None:
        return
    if not 0 < options.equivalent < 100:
        hint = "give points above 0 and below 100, for example 0.5"
        raise UsageError(f"the margin of equivalence is {options.equivalent:g} points", hint=hint)
    if len(options.models) == 1:
        raise UsageError("a margin of equivalence needs two models", hint="name another model")


def _check_cost(options: CompareOptions) -> None:
    """Refuse costs beside parts of datasets: a choice is made for all items."""
    if options.cost and (options.by != DATASET or options.where or options.common):
        raise UsageError(
            "option cost is for whole datasets", hint="remove --by, --where and --common, or --cost"
        )


def _check_slices(options: CompareOptions) -> None:
    """Refuse a property that nothing has, and an aggregation of parts of datasets."""
    if options.by != DATASET:
        refuse_unknown_property(options.by)
        if options.aggregate != "all":
            message = (
                f"option aggregate {options.aggregate!r} is for whole datasets: a "
                f"{options.by} is scored at once"
            )
            raise UsageError(message, hint="remove it, or group by dataset")


def _refuse_options(options: CompareOptions, selected: Sequence[SelectedTask]) -> None:
    """Refuse what no selected task has, and what is known of pairs alone."""
    refuse_without_items(selected, options.by, options.where)
    if any(each.definition.aggregates for each in selected):
        return
    chosen = {
        f"aggregate {options.aggregate!r}": options.aggregate != "all",
        "published": options.published,
    }
    if wrong := next((name for name, is_chosen in chosen.items() if is_chosen), None):
        raise UsageError(
            f"option {wrong} is for the task sts alone", hint="remove it, or select the task sts"
        )
