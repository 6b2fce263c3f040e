"""Models evaluated: on pairs, a table by any kind of slice; on several tasks, a table each."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from embedlab.choices import Aggregate, By
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.dataset import Part
from embedlab.models.aliases import declared
from embedlab.models.catalog import Model, ModelSpec, resolve
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import refuse_unknown_property
from embedlab.reports.figures import EvaluatedModels
from embedlab.reports.frames import EVALUATED
from embedlab.reports.mteb import write_mteb
from embedlab.reports.pair_tables import dataset_table, slice_table
from embedlab.reports.score_table import score_table
from embedlab.reports.stated_figures import stated_table
from embedlab.reports.suite_table import SuiteEvaluations, joined_evaluations, suite_table
from embedlab.reports.table_forms import with_model_rows
from embedlab.reports.tables import Table
from embedlab.runs.scoring import being_scored
from embedlab.runs.store import RunFolder
from embedlab.scoring.scored_pairs import evaluate_pairs
from embedlab.scoring.selection import SelectedTask, select_from
from embedlab.scoring.task_comparison import Slicing
from embedlab.tasks.task import all_tasks
from embedlab.tasks.task import task as find_task
from embedlab.workflows.closed_choices import refuse_unknown_choices
from embedlab.workflows.compare_tasks import compared, gather, refuse_without_items
from embedlab.workflows.models import one_member, resolve_models
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.own_files import hints_at_own_columns, note_files
from embedlab.workflows.report import Report
from embedlab.workflows.scoring import Evaluations, keep, score_selected
from embedlab.workflows.session import Session
from embedlab.workflows.stated import without_stated
from embedlab.workflows.suites import Work, encode_for_all, evaluate_on_task

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluationReport(Report):
    """The scores of models, each on its own."""

    @property
    def notebook_tables(self) -> Sequence[Table]:
        """The tables with a row a model, whose cells say their intervals."""
        return [*map(with_model_rows, self.tables)]

    def figure_subject(self) -> EvaluatedModels:
        """The scores."""
        return EvaluatedModels(frame=self.frame)


@hints_at_own_columns
def evaluation_report(options: EvaluateOptions, session: Session) -> EvaluationReport:
    """Evaluate the models and store what was measured; options that contradict each other are
    refused before any work.
    """
    refuse_unknown_choices(options)
    options = replace(options, where=options.expression, selection="", unseen=False)
    if options.aggregate is not None and options.by != "dataset":
        message = (
            f"option aggregate {options.aggregate!r} is for datasets: a {options.by} is "
            f"correlated at once"
        )
        raise UsageError(message, hint="remove it, or group by dataset")
    note_files(options.tasks, session)
    selected = select_from(options.suites, options.tasks, session.settings.data)
    with being_scored(_runs_of(options.models, session)):
        report = _evaluated(options, selected, session)
    return (
        report
        if options.rows == "slices"
        else replace(report, tables=tuple(map(with_model_rows, report.tables)))
    )


def _runs_of(models: Sequence[str | Model], session: Session) -> Iterator[RunFolder]:
    """Yield the runs among MODELS; what is wrong with a name is reported when it is evaluated."""
    for model in models:
        with suppress(EmbedlabError):
            resolved = (
                resolve(declared(model), session.settings.runs) if isinstance(model, str) else model
            )
            yield from (
                RunFolder(Path(member.location).parent)
                for member in resolved.members
                if member.is_run
            )


def _evaluated(
    options: EvaluateOptions, selected: Sequence[SelectedTask], session: Session
) -> EvaluationReport:
    if _is_of_items(options, selected):
        return _evaluate_items(options, selected, session)
    is_pairs_alone = len(selected) == 1 and bool(selected[0].definition.aggregates)
    _check(options, selected, is_pairs_alone=is_pairs_alone)
    if is_pairs_alone:
        return _evaluate_pairs_alone(options, selected[0], session)
    return _evaluate_tasks(options, selected, session)


def _is_of_items(options: EvaluateOptions, selected: Sequence[SelectedTask]) -> bool:
    """Whether what is shown is in no stored evaluation, so that single items are picked or
    grouped.
    """
    if options.where or options.by not in get_args(By):
        return True
    return options.by != DATASET and not all(each.definition.aggregates for each in selected)


def _evaluate_items(
    options: EvaluateOptions, selected: Sequence[SelectedTask], session: Session
) -> EvaluationReport:
    """One table of all tasks: the scores of the items that fit, by a property."""
    if options.by != DATASET:
        refuse_unknown_property(options.by)
    refuse_without_items(selected, options.by, options.where)
    others = {
        f"metric {options.metric!r}": options.metric != "spearman",
        "mteb": options.mteb is not None,
        "submission": options.submission is not None,
        "again": options.again,
    }
    if wrong := next((name for name, is_chosen in others.items() if is_chosen), None):
        raise UsageError(
            f"option {wrong} is for whole datasets, not for items that are picked",
            hint="remove one of the two options",
        )
    has_rest = bool(options.where) and options.by == DATASET
    aggregate: Aggregate = options.aggregate or "all"
    slicing = Slicing(
        by=options.by,
        where=options.where,
        has_rest=has_rest,
        aggregate=aggregate,
        common=options.common,
    )
    names = list(dict.fromkeys(options.models))
    comparison = compared(
        gather(names, selected, session, slicing=slicing, setting=options.setting), slicing, session
    )
    return EvaluationReport.of([score_table(comparison)], EVALUATED, is_whole=comparison.is_whole)


def _evaluate_pairs_alone(
    options: EvaluateOptions, selected: SelectedTask, session: Session
) -> EvaluationReport:
    """The table of the models that score pairs, then that of models of which only figures are
    known.
    """
    names, stated = without_stated(options.models, session)
    tables, is_whole = [], True
    if names:
        table, is_whole = evaluate_on_pairs(options, names, selected, session)
        tables.append(table)
    if stated:
        tables.append(
            stated_table(stated, _stated_datasets(selected), options.metric, selected.task)
        )
    return EvaluationReport.of(tables, EVALUATED, is_whole=is_whole)


def _stated_datasets(selected: SelectedTask) -> dict[str, Sequence[str]]:
    """The datasets of a selection, and of a whole task its averages with the datasets that they are
    over.
    """
    datasets = selected.names or selected.definition.datasets
    return {
        **dict.fromkeys(datasets, ()),
        **({} if selected.names else selected.definition.averages(datasets, selected.task)),
    }


def evaluate_on_pairs(
    options: EvaluateOptions,
    models: Sequence[str | Model],
    selected: SelectedTask,
    session: Session,
    opened: Sequence[Part] = (),
) -> tuple[Table, bool]:
    """The table of MODELS on the pairs of a task, of which some may be OPENED already, and whether
    none is missing; their evaluations are stored.
    """
    is_suite = (
        not selected.names
    )  # then also STS-B's other pairs are scored, for the dashboard and the published figure
    pairs, is_whole = score_selected(
        models,
        session,
        task=selected.task,
        datasets=selected.names,
        all_splits=is_suite,
        common=options.common,
        opened=opened,
    )
    scored = pairs.test_pairs
    evaluations = evaluate_pairs(scored)
    if not options.common:
        keep(scored, evaluations, session, selected.stored_name())
    if options.mteb is not None:
        _write_for_mteb(options.mteb, evaluations, session)
    if options.by != "dataset":
        return slice_table(scored, evaluations, cast("By", options.by), options.metric), is_whole
    named = (
        AGGREGATES if scored.table["source"].null_count() < scored.table.height else AGGREGATES[:1]
    )  # own pairs may name no source
    aggregates = (options.aggregate,) if options.aggregate else named
    return dataset_table(scored, evaluations, aggregates, options.metric), is_whole


def _evaluate_tasks(
    options: EvaluateOptions, selected: Sequence[SelectedTask], session: Session
) -> EvaluationReport:
    """One table a task; all their sentences are encoded before, each once."""
    models = resolve_models(dict.fromkeys(options.models), session)
    predicting: list[ModelSpec] = []
    submission = (
        find_task(selected[0].task).submission() if options.submission is not None else None
    )
    if submission is not None:
        predicting = [one_member(model) for model in models]
        submission.check(predicting, session.settings)
    work = Work(selected=selected, setting=options.setting, again=options.again)
    known = encode_for_all(models, work, session)
    tables: dict[str, Table] = {}
    joined: dict[str, SuiteEvaluations] = {}
    is_whole = known.is_whole
    for selected_task in (each for each in selected if each not in known.ready.missing):
        title = (
            selected_task.task if selected_task.is_each_alone else selected_task.stored_name()
        )  # datasets that are evaluated one by one share a table
        try:
            if selected_task in known.together:
                opened = known.texts[selected_task].parts
                tables[title] = evaluate_on_pairs(options, models, selected_task, session, opened)[
                    0
                ]
            elif evaluated := evaluate_on_task(models, selected_task, work, known, session):
                joined[title] = joined_evaluations(joined.get(title, {}), evaluated)
                tables[title] = suite_table(selected_task, joined[title])
        except MissingError as error:
            if work.is_one:
                raise
            session.report(error)
            is_whole = False
    if options.submission is not None and submission is not None:
        for path, author in submission.write(
            options.submission, predicting, session.settings
        ).items():
            session.note(f"{author}: predictions for {submission.server} in {path}")
    if not tables:
        raise _nothing_left(selected, is_whole=is_whole)
    return EvaluationReport.of(list(tables.values()), EVALUATED, is_whole=is_whole)


def _nothing_left(selected: Sequence[SelectedTask], *, is_whole: bool) -> UsageError | MissingError:
    """No table: each task is missing or does not apply, as was reported."""
    message, hint = (
        f"nothing to evaluate on {', '.join(each.task for each in selected)}",
        "the notes say why of each task",
    )
    return UsageError(message, hint=hint) if is_whole else MissingError(message, hint=hint)


def _check(
    options: EvaluateOptions, selected: Sequence[SelectedTask], *, is_pairs_alone: bool
) -> None:
    """Refuse options that do not apply to the tasks that are SELECTED, and folders that are
    files.
    """
    has_submission = len(selected) == 1 and find_task(selected[0].task).submission() is not None
    of_pairs = {
        f"by {options.by!r}": options.by != "dataset",
        f"aggregate {options.aggregate!r}": options.aggregate is not None,
        f"metric {options.metric!r}": options.metric != "spearman",
        "mteb": options.mteb is not None,
    }
    if options.common and not any(each.definition.aggregates for each in selected):
        raise UsageError(
            "option common is for tasks of pairs alone", hint="remove it, or select the task sts"
        )
    if options.common and options.mteb is not None:
        raise UsageError(
            "option mteb writes scores of whole datasets, not of common pairs",
            hint="remove one of the two options",
        )
    if not is_pairs_alone and (
        wrong := next((name for name, is_chosen in of_pairs.items() if is_chosen), None)
    ):
        raise UsageError(
            f"option {wrong} is for the task sts alone", hint="remove it, or select the task sts"
        )
    if options.submission is not None and not has_submission:
        names = ", ".join(task.name for task in all_tasks() if task.submission() is not None)
        raise UsageError(
            f"option submission writes predictions of the task {names} alone",
            hint=f"select the task {names}",
        )
    if is_pairs_alone and options.setting != "literature":
        message = f"option setting {options.setting!r} is for classifiers: sts has none"
        raise UsageError(message, hint="select the task transfer or probing")
    for option, folder in (("mteb", options.mteb), ("submission", options.submission)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise UsageError(
                f"option {option} is {str(folder)!r}, a file", hint="give the name of a folder"
            )


def _write_for_mteb(folder: Path, evaluations: Evaluations, session: Session) -> None:
    for evaluation in evaluations.values():
        written = write_mteb(folder, evaluation)
        session.note(
            f"{evaluation.model}: {len(written) - 1} results for mteb in {written[0].parent}"
        )
