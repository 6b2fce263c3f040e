"""`embedlab evaluate`: a model's numbers on the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from embedlab.choices import Aggregate, Correlation
from embedlab.commands.command import command, refuse
from embedlab.commands.compare import SELECT_STS
from embedlab.commands.options import Flag, ModelsOnItems, SignatureOptions
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table

if TYPE_CHECKING:
    from embedlab.evaluation import Results
    from embedlab.models.catalog import Model, ModelSpec
    from embedlab.runs.store import RunFolder
    from embedlab.scoring.readiness import Readiness
    from embedlab.scoring.selection import SelectedTask


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(SignatureOptions, ModelsOnItems):
    """What is evaluated, and which of its numbers are shown."""

    aggregate: Annotated[
        Aggregate | None,
        Flag(
            is_expert=True,
            help="Only this aggregation of a dataset's sources.",
        ),
    ] = None
    metric: Annotated[Correlation, Flag(help="The correlation to show.")] = "spearman"
    again: Annotated[
        bool,
        Flag(help="Evaluate again what is stored for the same data."),
    ] = False
    mteb: Annotated[
        Path | None,
        Flag(
            is_expert=True,
            metavar="DIR",
            help="Also write the STS results into DIR/MODEL as files that mteb reads.",
        ),
    ] = None
    submission: Annotated[
        Path | None,
        Flag(
            is_expert=True,
            metavar="DIR",
            help="Also write predictions of GLUE's test splits into DIR, for its server.",
        ),
    ] = None


@command("data runs machine output latex", draws="evaluate")
def evaluate(options: EvaluateOptions, session: Session) -> Report:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear
    classifiers (transfer, probing) …, x 100. Results are stored.

    A FILE among them holds your own rows. Scored or labelled pairs give the correlation, pairs with
    two labels average precision, ROC AUC, F1 and accuracy, anchors and positives nDCG, MRR, MAP and
    recall.

    How to read it: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean`
    weights them by pairs. Dice fifths are cut within each dataset. A run with several seeds shows
    mean ± standard deviation.

    Examples:
        $ embedlab evaluate snli-supcl dice --suite sts --data DIR
        $ embedlab evaluate sbert --task sts12 --task my-pairs.tsv --by source --metric pearson
          --json
        $ embedlab evaluate sbert --task mrpc --task trec --task gum-probing --setting prototyping
        $ embedlab evaluate mine faq.csv
        $ embedlab evaluate sbert --suite all
        $ embedlab evaluate glue-finetune@1 --suite glue --submission predictions

    """
    from embedlab.commands.own_rows import take_choice
    from embedlab.outcomes.frame import DATASET
    from embedlab.runs.status import mark_being_scored

    refuse(
        (
            options.aggregate is not None and options.by != DATASET,
            f"option aggregate {options.aggregate!r} is for datasets: a {options.by} is correlated at "
            "once",
            "remove it, or group by dataset",
        )
    )
    options, selected_tasks = take_choice(options, session)
    with mark_being_scored(_runs_of(options.models, session)):
        return _evaluate_selected(options, selected_tasks, session)


def _runs_of(models: Sequence[str], session: Session) -> Iterator[RunFolder]:
    """Yield the runs among MODELS; what is wrong with a name is reported when it is evaluated."""
    from embedlab.models.aliases import take_alias
    from embedlab.models.catalog import resolve
    from embedlab.runs.store import RunFolder

    for model in models:
        with suppress(EmbedlabError):
            for member in resolve(take_alias(model), session.settings.runs).members:
                if member.is_run:
                    yield RunFolder(Path(member.location).parent)


def _evaluate_selected(
    options: EvaluateOptions, selected_tasks: Sequence[SelectedTask], session: Session
) -> Report:
    from embedlab.data.file_name import is_pair_file
    from embedlab.data.source import Source
    from embedlab.evaluation import split_off_figures
    from embedlab.outcomes.frame import DATASET
    from embedlab.reports.scores import StatedModel, stated_table
    from embedlab.tasks.task import is_binary

    # What is shown is in no stored evaluation where single items are picked or grouped.
    needs_items = options.where or options.common or options.by != DATASET
    # Pairs of the user's own with two gold values are not correlated.
    source = Source.from_settings(session.settings)
    pair_tasks = [
        name for task in selected_tasks if task.definition.aggregates for name in task.names
    ]
    if needs_items or any(is_pair_file(name) and is_binary(source, name) for name in pair_tasks):
        return _evaluate_items(options, selected_tasks, session)
    names, stated_models = [*dict.fromkeys(options.models)], list[StatedModel]()
    if len(selected_tasks) == 1 and selected_tasks[0].definition.aggregates:
        names, stated_models = split_off_figures(names, session)
    _check(options, selected_tasks)
    tables, is_whole = (
        _evaluate_tasks(options, names, selected_tasks, session) if names else ([], True)
    )
    if stated_models:
        datasets = _stated_datasets(selected_tasks[0])
        tables.append(stated_table(stated_models, datasets, options.metric, selected_tasks[0].task))
    return _report(tables, options, is_whole=is_whole)


def _report(tables: Sequence[Table], options: EvaluateOptions, *, is_whole: bool) -> Report:
    from embedlab.reports.frames import EVALUATED
    from embedlab.reports.scores import with_model_rows

    report = Report.of(*tables, schema=EVALUATED, is_whole=is_whole, by_model=len(tables))
    if options.rows == "models":
        tables = [*map(with_model_rows, tables)]
    subject = {"frame": report.frame}
    return replace(report, tables=tuple(tables), command="evaluate", figure_subject=subject)


def _evaluate_items(
    options: EvaluateOptions, selected_tasks: Sequence[SelectedTask], session: Session
) -> Report:
    """One table of all tasks: the scores of the items that fit, by a property."""
    from embedlab.commands.own_rows import refuse_grouping
    from embedlab.comparison.comparison import Slicing
    from embedlab.evaluation import compare_gathered, gather
    from embedlab.outcomes.frame import DATASET, with_correlation
    from embedlab.reports.scores import score_table

    refuse_grouping(options, selected_tasks)
    refuse(
        *(
            (
                folder is not None,
                f"option {name} is for whole datasets, not for items that are picked or grouped",
                "remove one of the two options",
            )
            for name, folder in {"mteb": options.mteb, "submission": options.submission}.items()
        )
    )
    slicing = Slicing(
        by=options.by,
        where=options.where,
        has_rest=bool(options.where) and options.by == DATASET,
        aggregate=options.aggregate or "all",
        common=options.common,
    )
    gathered = gather(
        list(dict.fromkeys(options.models)),
        selected_tasks,
        session,
        slicing=slicing,
        setting=options.setting,
        again=options.again,
    )
    gathered.outcomes = [with_correlation(items, options.metric) for items in gathered.outcomes]
    comparison = compare_gathered(gathered, slicing, session)
    return _report([score_table(comparison)], options, is_whole=comparison.is_whole)


def _stated_datasets(selected_task: SelectedTask) -> dict[str, Sequence[str]]:
    """Return the datasets of a selection, and the averages of a whole task with the datasets that
    each is over.
    """
    definition = selected_task.definition
    datasets = selected_task.names or definition.datasets
    stated: dict[str, Sequence[str]] = dict.fromkeys(datasets, ())
    if not selected_task.names:
        stated |= definition.averages(datasets, selected_task.task)
    return stated


def _evaluate_tasks(
    options: EvaluateOptions,
    names: Sequence[str | Model],
    selected_tasks: Sequence[SelectedTask],
    session: Session,
) -> tuple[list[Table], bool]:
    """Return a table for each task, and whether nothing is missing; each sentence is encoded once,
    before the first task.
    """
    from embedlab.evaluation import (
        encode_for_all,
        nothing_evaluated,
        only_member,
        resolve_models,
        results_on_task,
    )
    from embedlab.reports.mteb import write_mteb
    from embedlab.scoring.readiness import Work
    from embedlab.tasks.task import task as find_task

    models = resolve_models(names, session, has_tasks=True)
    predicting: list[ModelSpec] = []
    submission = (
        find_task(selected_tasks[0].task).submission() if options.submission is not None else None
    )
    if submission is not None:
        predicting = [only_member(model) for model in models]
        submission.check(predicting, session.settings)
    work = Work(selected=selected_tasks, setting=options.setting, again=options.again)
    ready = encode_for_all(models, work, session)
    evaluated: dict[str, list[tuple[SelectedTask, Results]]] = {}
    is_whole = ready.is_whole
    for selected_task in selected_tasks:
        if selected_task in ready.missing:
            continue
        title = selected_task.stored_name()
        if selected_task.definition.is_each_alone:
            title = selected_task.task  # datasets that are evaluated one by one share a table
        try:
            results, _ = results_on_task(models, selected_task, work, ready, session)
            if any(results.values()):
                evaluated.setdefault(title, []).append((selected_task, results))
        except MissingError as error:
            if work.is_one:
                raise
            session.report(error)
            is_whole = False
    if options.submission is not None and submission is not None:
        for note in submission.write(options.submission, predicting, session.settings):
            session.note(note)
    if not evaluated:
        raise nothing_evaluated(selected_tasks, is_whole=is_whole)
    if options.mteb is not None:
        for result in chain(*next(iter(evaluated.values()))[0][1].values()):
            written = write_mteb(options.mteb, result.evaluation)
            session.note(
                f"{result.evaluation.model}: {len(written) - 1} results for mteb in {written[0].parent}"
            )
    return [
        _table(options, task_results, models, ready, session) for task_results in evaluated.values()
    ], is_whole


def _table(
    options: EvaluateOptions,
    task_results: Sequence[tuple[SelectedTask, Results]],
    models: Sequence[Model],
    ready: Readiness,
    session: Session,
) -> Table:
    """Return the table of the results of a task, with intervals for those that have items."""
    from embedlab.comparison.comparison import Slicing, compare_outcomes
    from embedlab.outcomes.frame import with_correlation
    from embedlab.reports.notes import slice_notes
    from embedlab.reports.scores import evaluation_table
    from embedlab.scoring.task_comparison import item_outcomes, model_columns

    evaluations = {
        model.name: [row.evaluation for _, results in task_results for row in results[model.name]]
        for model in models
    }
    first_task = task_results[0][0]
    aggregates: Sequence[Aggregate] = ()
    if first_task.definition.aggregates:
        aggregates = [options.aggregate] if options.aggregate else get_args(Aggregate)
    intervals: dict[tuple[str, ...], tuple[float, float]] = {}
    notes: list[str] = []
    for selected_task, results in task_results:
        texts = ready.texts.get(selected_task)
        notes += texts.notes if texts is not None else ()
        for model in models:
            columns = model_columns(model)
            members = dict(zip(columns.members, results[model.name], strict=False))
            outcomes = item_outcomes(selected_task, members, [*members], session.settings.cache)
            if outcomes is None:
                continue
            has_sources = outcomes.rows["source"].null_count() < outcomes.rows.height
            if aggregates and options.aggregate is None and not has_sources:
                aggregates = ["all"]  # own pairs may name no source
            outcomes = with_correlation(outcomes, options.metric)
            for aggregate in aggregates or ["all"]:
                slices = compare_outcomes(outcomes, [columns], Slicing(aggregate=aggregate)).slices
                notes += slice_notes(slices)
                for row in slices:
                    key = (model.name, row.slice_key, row.metric, row.setting or "")
                    for score in row.scores.values():
                        if not isnan(score.low):
                            intervals[key] = (score.low, score.high)
    return evaluation_table(
        first_task,
        evaluations,
        metric=options.metric,
        aggregates=aggregates,
        intervals=intervals,
        notes=notes,
    )


def _check(options: EvaluateOptions, selected_tasks: Sequence[SelectedTask]) -> None:
    """Refuse options that do not apply to the tasks that are SELECTED, and folders that are
    files.
    """
    from embedlab.tasks.task import all_tasks
    from embedlab.tasks.task import task as find_task

    first_task, is_single = selected_tasks[0], len(selected_tasks) == 1
    is_pairs = is_single and bool(first_task.definition.aggregates)
    has_submission = is_single and find_task(first_task.task).submission() is not None
    pair_options = {
        f"aggregate {options.aggregate!r}": options.aggregate is not None,
        f"metric {options.metric!r}": options.metric != "spearman",
        "mteb": options.mteb is not None,
    }
    names = ", ".join(task.name for task in all_tasks() if task.submission() is not None)
    folders = {"mteb": options.mteb, "submission": options.submission}
    refuse(
        *(
            (is_chosen and not is_pairs, f"option {name} is for the task sts alone", SELECT_STS)
            for name, is_chosen in pair_options.items()
        ),
        (
            options.submission is not None and not has_submission,
            f"option submission writes predictions of the task {names} alone",
            f"select the task {names}",
        ),
        (
            is_pairs and options.setting != "literature",
            f"option setting {options.setting!r} is for classifiers: sts has none",
            "select the task transfer or probing",
        ),
        *(
            (
                folder is not None and folder.exists() and not folder.is_dir(),
                f"option {option} is {str(folder)!r}, a file",
                "give the name of a folder",
            )
            for option, folder in folders.items()
        ),
    )
