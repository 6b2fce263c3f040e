"""The models behind a reproduced table, scored and evaluated; one that is absent costs its own rows
alone, and its reason is one note.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from embedlab.choices import By
from embedlab.commands.options import typed_words
from embedlab.commands.reproduce_plan import ReproductionOptions, named_rows
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.paths import data_name
from embedlab.core.printable import OVERLAP, first_few
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.data.source import FIFTHS_OF, OTHER_SPLITS, Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.evaluation import gather, only_member, resolve_model
from embedlab.experiments.item_ties import AnswersByCell, ScoredItems
from embedlab.experiments.matching_runs import Member, RowMembers
from embedlab.experiments.paper_table import PaperTable
from embedlab.models.catalog import resolve
from embedlab.outcomes.frame import choose_items, join_splits
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.store import select_runs
from embedlab.scoring.results import evaluate_task as evaluate_on
from embedlab.scoring.results import stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import ComparisonInput, model_columns
from embedlab.tasks._similarities import pair_scores
from embedlab.tasks.task import Selection
from embedlab.tasks.task import task as find_task

Members = Mapping[str, RowMembers]  # by row

_NO_PAIRS = "--unseen selects pairs, and its numbers are not of sets of pairs"


@dataclass(frozen=True, kw_only=True)
class EvaluatedRows:
    """What is known of the models of a table."""

    # by member and task
    evaluations: Mapping[tuple[str, str], Evaluation] = field(default_factory=dict)
    answers: AnswersByCell = field(default_factory=dict)  # of pairs that are gathered none
    # pair by pair, where the table is about STS and its pairs are there
    gathered: ComparisonInput | None = None
    missing_notes: tuple[str, ...] = ()
    absence_reasons: Mapping[str, str] = field(
        default_factory=dict
    )  # member → why it could not be scored

    @cached_property
    def items(self) -> ScoredItems:
        """What the scores vary over, and what claims are measured on."""
        stored = ScoredItems.of(self.answers)
        if self.gathered is None:
            return stored
        tasks = {**stored.tasks, DEFAULT_TASK: self.gathered.outcomes[0]}
        published = [model.members for model in self.gathered.models if model.is_published]
        return ScoredItems(tasks=tasks, published=frozenset(chain(*published)))


def with_named_rows(
    members: Members, options: ReproductionOptions, session: Session
) -> dict[str, RowMembers]:
    """Return MEMBERS with the models that a user names for rows in their place; of scores alone no
    other row has one.
    """
    named_members = {row: members[row] if options.uses_runs else RowMembers() for row in members}
    for row, name in named_rows(options).items():
        if row in members:
            model = resolve_model(name, session)
            runs_of_members = model_columns(model).runs  # of a file, a rule or a checkpoint none
            typed_members = tuple(
                Member(name=spec.name, seed=spec.seed, runs=runs)
                for spec, runs in zip(model.members, runs_of_members, strict=True)
            )
            named_members[row] = RowMembers(own=typed_members)
    return named_members


def evaluate_models(
    table: PaperTable, members: Members, options: ReproductionOptions, session: Session
) -> EvaluatedRows:
    """The evaluations of every model on the tasks of its columns; what no cell of a grid has
    evaluated is evaluated now.

    Without training, only pairs are scored: the fits of transfer and probing take as long as a
    training.
    """
    property_name = pairs_by(table)
    if options.unseen and property_name is None:
        if options.claims:  # other tables of the paper have pairs
            return EvaluatedRows(missing_notes=(f"{table.name}: {_NO_PAIRS}",))
        raise UsageError(
            f"{table.name!r}: {_NO_PAIRS}",
            hint="`embedlab compare MODEL… --task TASK --unseen` takes items of any task",
        )
    if table.by == "epoch" or table.by == "minutes":  # of the runs' events
        return EvaluatedRows()
    if property_name is not None:
        every_name = chain(*(models.names for models in members.values()))
        evaluations_needed = {(name, DEFAULT_TASK) for name in every_name}
    else:
        evaluations_needed = {
            (member.name, point.measure.task)
            for point in table.points
            for member in members[point.row].at(point.column)
        }
    gathered, absence_reasons = _score(
        sorted(name for name, task in evaluations_needed if task == DEFAULT_TASK),
        property_name or "dataset",
        session,
        table.datasets,
    )
    missing_notes: list[str] = []
    if options.unseen and gathered is not None:
        gathered, missing_notes = _unseen_pairs(gathered)
    if table.by is not None or (
        options.unseen and gathered is None
    ):  # of pairs, not of evaluations
        evaluations_needed.clear()
    evaluations: dict[tuple[str, str], Evaluation] = {}
    answers: dict[tuple[str, str], list[StoredOutcomes]] = {}
    reported = set[str]()
    for name, task in sorted(evaluations_needed):
        if name in absence_reasons:
            continue
        is_gathered = task == DEFAULT_TASK and gathered is not None
        try:
            is_due = is_gathered or (task != DEFAULT_TASK and options.trains)
            path = _evaluation_file(name, task, session, reported if is_due else None)
        except Interrupted:
            raise
        except EmbedlabError as error:
            absence_reasons[name] = _reason(error)
            continue
        if path.is_file():
            evaluation = Evaluation.load(path)
            if options.unseen and gathered is not None:
                evaluation = replace(
                    evaluation,
                    scores=pair_scores(gathered.outcomes[0], name),
                    overlaps={},
                    marks=tuple(mark for mark in evaluation.marks if mark != OVERLAP),
                )
            evaluations[name, task] = evaluation
            if not is_gathered:
                stored = stored_outcomes(path.parent, task, unusable=session.report)
                answers[name, task] = list(stored)
        elif is_gathered or task != DEFAULT_TASK:  # missing pairs were said once for all
            missing_notes.append(
                f"{name} is not evaluated: embedlab evaluate '{name}' --suite {task}"
            )
    return EvaluatedRows(
        evaluations=evaluations,
        answers=answers,
        gathered=gathered,
        missing_notes=tuple(missing_notes),
        absence_reasons=absence_reasons,
    )


def _unseen_pairs(gathered: ComparisonInput) -> tuple[ComparisonInput, list[str]]:
    """Return the pairs of whose sentences no gathered model has read any in training, and notes on
    them.
    """
    items = gathered.outcomes[0]
    unseen_items = choose_items(items, items.trained_models.is_null())
    note = (
        f"{unseen_items.rows.height} of {items.rows.height} pairs: no model of the table is known "
        "to have read a sentence of theirs in training"
    )
    # what they had read has been left out
    models = {
        name: replace(model, overlaps={}, marks=model.marks - {OVERLAP})
        for name, model in gathered.models_by_name.items()
    }
    chosen = replace(gathered, outcomes=[unseen_items], models_by_name=models)
    return chosen, [note, *gathered.unread_notes]


def pairs_by(table: PaperTable) -> By | None:
    """Return how a table cuts the pairs that its numbers are of; None where they are not of
    pairs.
    """
    if (
        table.pairs
        or table.by == "epoch"
        or table.by == "minutes"
        or any(point.measure.task != DEFAULT_TASK for point in table.points)
    ):
        return None
    return "dataset" if table.by is None else table.by


def _repeated_options(options: ReproductionOptions, settings: Settings) -> str:
    """Return the options that a suggested command repeats, because they decide what is trained."""
    arguments = typed_words(options, "encoder profile overrides max_steps seeds unseen")
    arguments += [] if settings.data is None else ["--data", data_name(settings.data)]
    arguments += ["--allow-partial"] * settings.allow_partial
    return "".join(f" {shlex.quote(argument)}" for argument in arguments)


def absent_rows(
    table: PaperTable,
    members: Members,
    evaluated: EvaluatedRows,
    failures: Mapping[str, str],
    options: ReproductionOptions,
    settings: Settings,
) -> Iterator[str]:
    """Return the notes on rows that have no model here, one for each reason.

    MEMBERS are all that could be behind them; FAILURES the reasons of trainings that failed, by
    row.
    """
    untrained = []
    reasons: dict[str, list[str]] = {}
    for row, source in table.sources.items():
        names = members[row].names if row in members else []
        absent = [name for name in names if name in evaluated.absence_reasons]
        has_member = len(absent) < len(names)
        all_reasons = [
            *(evaluated.absence_reasons[name] for name in absent),
            *(failures[name] for name in (row, *source.of) if name in failures),
        ]
        if (source.lacks or source.given or source.best_of) and has_member:
            continue
        if source.lacks is not None:
            yield f"{row}: {source.lacks}"
        elif all_reasons:
            reasons.setdefault(all_reasons[0], []).append(
                f"{row} ({', '.join(absent)})" if has_member and absent else row
            )
        elif source.given is not None:
            yield f"{row}: needs a file of yours, --row '{row}={source.given}'"
        elif source.best_of:  # made of the numbers of other rows
            continue
        elif not has_member:
            untrained.append(row)
    for reason, rows in reasons.items():
        yield f"absent: {', '.join(rows)}: {reason}"
    if untrained and not options.claims:
        command = f"embedlab reproduce {table.typed}{_repeated_options(options, settings)}"
        hint = "" if options.trains else f"; `{command}` trains what is missing"
        yield f"there is no finished run of {first_few(untrained, 3)}{hint}"


def training_data_of(members: Members, session: Session) -> dict[str, list[Mapping[str, Any]]]:
    """The states of the data that the runs behind each row were trained on."""
    return {
        row: [
            state
            for name in sorted(models.runs)
            for run in select_runs(session.settings.runs, name)
            for state in run.environment().data
        ]
        for row, models in members.items()
    }


def _evaluation_file(name: str, task: str, session: Session, reported: set[str] | None) -> Path:
    """Where the evaluation of a model on a task is, or would be where it could not be made.

    REPORTED are errors that were shown before; None where nothing is evaluated here.
    """
    spec = only_member(resolve(name, session.settings.runs))
    score_place = ScorePlace.of(spec, session.settings)
    path = score_place.evaluations / f"{task}.json"
    if reported is None:
        return path
    is_stored = path.is_file()
    if is_stored and task == DEFAULT_TASK:
        texts = find_task(task).texts(Source.from_settings(session.settings), Selection())
        is_stored = stored_evaluation(score_place, task, texts, session.settings) is not None
    if not is_stored:
        with session.progresses() as progress:
            result = evaluate_on(
                task, spec, session.settings, lambda step: progress(f"{name}: {step}")
            )
        for error in result.missing:
            if error.message not in reported:
                session.report(error)
            reported.add(error.message)
        result.save(score_place.evaluations)
    return path


def _score(
    names: Sequence[str], property_name: By, session: Session, datasets: Sequence[str] = ()
) -> tuple[ComparisonInput | None, dict[str, str]]:
    """The STS pairs scored by those of the models called NAMES that are there, and why the others
    are absent.

    The fifths of a figure are those of all pairs of STS-B, as in tsukagoshi: train, dev and test.
    DATASETS are those of a figure; without any, all. None where there are no pairs or no models.
    """
    if not names:
        return None, {}
    if property_name == "dice":
        datasets = [*(f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS), FIFTHS_OF]
    selected_task = SelectedTask(task=DEFAULT_TASK, names=tuple(datasets))
    source = Source.from_settings(session.settings)
    try:
        find_task(DEFAULT_TASK).texts(source, Selection(names=selected_task.names))
    except MissingError as error:
        session.report(error)
        return None, {}
    gathered, absence_reasons = _score_present(names, selected_task, session)
    if gathered is not None and property_name == "dice":
        gathered = replace(gathered, outcomes=[join_splits(gathered.outcomes[0])])
    return gathered, absence_reasons


def _score_present(
    names: Sequence[str], selected_task: SelectedTask, session: Session
) -> tuple[ComparisonInput | None, dict[str, str]]:
    absence_reasons: dict[str, str] = {}

    def score(chosen_names: Sequence[str]) -> ComparisonInput | None:
        if not chosen_names:
            return None
        slicing = Slicing()
        return gather(chosen_names, [selected_task], session, slicing=slicing, setting="literature")

    try:
        return score(names), absence_reasons
    except Interrupted:
        raise
    except EmbedlabError:  # which of them it was shows one by one; what has been scored is stored
        for name in names:
            try:
                score([name])
            except Interrupted:
                raise
            except EmbedlabError as error:
                absence_reasons[name] = _reason(error)
    return score([name for name in names if name not in absence_reasons]), absence_reasons


def _reason(error: EmbedlabError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
