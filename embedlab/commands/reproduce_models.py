"""The models behind a reproduced table, scored and evaluated; one that is absent costs its own rows
alone, and its reason is one note.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from embedlab.choices import By
from embedlab.commands.options import typed_words
from embedlab.commands.reproduce_plan import ReproductionOptions, named_rows
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.paths import data_name
from embedlab.core.printable import OVERLAP
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.data.source import FIFTHS_OF, OTHER_SPLITS, Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.evaluation import gather, resolve_model
from embedlab.experiments.item_ties import AnswersByCell, ScoredItems
from embedlab.experiments.matching_runs import CellKey, Member
from embedlab.experiments.paper_table import PaperTable
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.outcomes.frame import chosen_items, joined_splits
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.store import RunFolder
from embedlab.scoring.results import evaluate_task as evaluate_on
from embedlab.scoring.results import stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import Gathered, model_columns
from embedlab.tasks.task import Selection, pair_scores
from embedlab.tasks.task import task as find_task

Members = Mapping[CellKey, Sequence[Member]]

_NO_PAIRS = "--unseen selects pairs, and its numbers are not of sets of pairs"


@dataclass(frozen=True, kw_only=True)
class EvaluatedRows:
    """What is known of the models of a table."""

    # by member and task
    evaluations: Mapping[tuple[str, str], Evaluation] = field(default_factory=dict)
    answers: AnswersByCell = field(default_factory=dict)
    # pair by pair, where the table is about STS and its pairs are there
    scored: Gathered | None = None
    missing: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)  # member → why it could not be scored

    @cached_property
    def items(self) -> ScoredItems:
        """What the scores vary over, and what claims are measured on."""
        pairs = {DEFAULT_TASK: self.scored.outcomes[0]} if self.scored is not None else {}
        others = {key: each for key, each in self.answers.items() if key[1] not in pairs}
        stored = ScoredItems.of(others)
        models = self.scored.models if self.scored is not None else ()
        published = (member for model in models if model.is_published for member in model.members)
        return ScoredItems(tasks={**stored.tasks, **pairs}, published=frozenset(published))

    def present(self, members: Members) -> Members:
        """MEMBERS without those that are absent."""
        return {
            cell: tuple(member for member in cell_members if member.name not in self.absent)
            for cell, cell_members in members.items()
        }


def with_named_rows(
    members: Members, options: ReproductionOptions, session: Session
) -> dict[CellKey, Sequence[Member]]:
    """Return MEMBERS with the models that a user names for rows in their place; of scores alone no
    other row has one.
    """
    named: dict[str, tuple[Member, ...]] = {}
    for row, name in named_rows(options).items():
        if any(other == row for other, _ in members):
            model = resolve_model(name, session)
            behind = model_columns(model).runs  # of a file, a rule or a checkpoint none
            named[row] = tuple(
                Member(name=spec.name, seed=spec.seed, runs=runs)
                for spec, runs in zip(model.members, behind, strict=True)
            )
    return {
        cell: named.get(cell[0], member if options.uses_runs else ())
        for cell, member in members.items()
    }


def evaluate_models(
    table: PaperTable, members: Members, options: ReproductionOptions, session: Session
) -> EvaluatedRows:
    """The evaluations of every model on the tasks of its columns; what no cell of a grid has
    evaluated is evaluated now.

    Without training, only pairs are scored: the fits of transfer and probing take as long as a
    training.
    """
    if options.unseen:
        return evaluate_on_unseen_pairs(table, members, options, session)
    if table.by == "epoch" or table.by == "minutes":  # of the runs' events
        return EvaluatedRows()
    if table.by is not None:
        names = {member.name for row in table.sources for member in members[row, ""]}
        scored, absent = _score(sorted(names), table.by, session, table.datasets)
        return EvaluatedRows(scored=scored, absent=absent)
    wanted = {
        (member.name, point.measure.task)
        for point in table.points
        for member in members[point.row, point.column]
    }
    scored, absent = _score(
        sorted(name for name, task in wanted if task == DEFAULT_TASK), "dataset", session
    )
    evaluations: dict[tuple[str, str], Evaluation] = {}
    answers: dict[tuple[str, str], list[StoredOutcomes]] = {}
    missing, reported = [], set[str]()
    for name, task in sorted(wanted):
        if name in absent:
            continue
        try:
            is_due = scored is not None if task == DEFAULT_TASK else options.trains
            path = _evaluation_file(name, task, session, reported if is_due else None)
        except Interrupted:
            raise
        except EmbedlabError as error:
            absent[name] = _reason(error)
            continue
        if path.is_file():
            evaluations[name, task] = Evaluation.load(path)
            answers[name, task] = list(stored_outcomes(path.parent, task, unusable=session.report))
        elif task != DEFAULT_TASK or scored is not None:  # missing pairs were said once for all
            missing.append(f"{name} is not evaluated: embedlab evaluate '{name}' --suite {task}")
    return EvaluatedRows(
        evaluations=evaluations,
        answers=answers,
        scored=scored,
        missing=tuple(missing),
        absent=absent,
    )


def evaluate_on_unseen_pairs(
    table: PaperTable, members: Members, options: ReproductionOptions, session: Session
) -> EvaluatedRows:
    """The evaluations of every model on the pairs of whose sentences no model of TABLE has read any
    in training; none is stored.
    """
    by = pairs_by(table)
    if by is None and options.claims:  # other tables of the paper have pairs
        return EvaluatedRows(missing=(f"{table.name}: {_NO_PAIRS}",))
    if by is None:
        raise UsageError(
            f"{table.name!r}: {_NO_PAIRS}",
            hint="`embedlab compare MODEL… --task TASK --unseen` takes items of any task",
        )
    names = sorted({member.name for found in members.values() for member in found})
    whole, absent = _score(names, by, session, table.datasets)
    if whole is None:
        return EvaluatedRows(absent=absent)
    items = whole.outcomes[0]
    unseen = chosen_items(items, items.trained_models.is_null())
    note = (
        f"{unseen.rows.height} of {items.rows.height} pairs: no model of the table is known to "
        f"have read a sentence of theirs in training"
    )
    evaluations = {}
    if table.by is None:
        for name in (model.name for model in whole.models):
            known = Evaluation.load(_evaluation_file(name, DEFAULT_TASK, session, set()))
            marks = tuple(mark for mark in known.marks if mark != OVERLAP)
            scores = pair_scores(unseen, name)
            evaluations[name, DEFAULT_TASK] = replace(
                known, scores=scores, overlaps={}, marks=marks
            )
    return EvaluatedRows(
        evaluations=evaluations,
        scored=replace(whole, outcomes=[unseen]),
        missing=(note,),
        absent=absent,
    )


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


def _again(options: ReproductionOptions, settings: Settings) -> str:
    """Return what a suggested command repeats of this one: what decides what is trained."""
    words = typed_words(options, "encoder profile overrides max_steps seeds unseen")
    words += [] if settings.data is None else ["--data", data_name(settings.data)]
    words += ["--allow-partial"] * settings.allow_partial
    return "".join(f" {shlex.quote(word)}" for word in words)


def absent_rows(
    table: PaperTable,
    members: Members,
    known: EvaluatedRows,
    failures: Mapping[str, str],
    options: ReproductionOptions,
    settings: Settings,
    *,
    says_untrained: bool = True,
) -> Iterator[str]:
    """What is said of the rows that have no model here, one note for each reason.

    MEMBERS are all that could be behind them; FAILURES the reasons of trainings that failed, by
    row.
    """
    present = known.present(members)
    untrained = []
    reasons: dict[str, list[str]] = {}
    for row, source in table.sources.items():
        cells = [(row, column) for column in ("", *table.columns)]
        lost = {
            member.name: known.absent[member.name]
            for cell in cells
            for member in members.get(cell, ())
            if member.name in known.absent
        }
        is_there = any(present.get(cell) for cell in cells)
        causes = [
            *lost.values(),
            *(failures[name] for name in (row, *source.of) if name in failures),
        ]
        if (source.lacks or source.given or source.best_of) and is_there:
            continue
        if source.lacks is not None:
            yield f"{row}: {source.lacks}"
        elif causes:
            reasons.setdefault(causes[0], []).append(
                f"{row} ({', '.join(lost)})" if is_there and lost else row
            )
        elif source.given is not None:
            yield f"{row}: needs a file of yours, --row '{row}={source.given}'"
        elif source.best_of:  # made of the numbers of other rows
            continue
        elif not is_there:
            untrained.append(row)
    for reason, rows in reasons.items():
        yield f"absent: {', '.join(rows)}: {reason}"
    if untrained and says_untrained:
        command = f"embedlab reproduce {table.typed}{_again(options, settings)}"
        hint = "" if options.trains else f"; `{command}` trains what is missing"
        yield f"there is no finished run of {', '.join(untrained)}{hint}"


def training_data_of(
    table: PaperTable, members: Members, session: Session
) -> dict[str, list[Mapping[str, Any]]]:
    """The states of the data that the runs behind each row were trained on."""
    runs = session.settings.runs
    names: dict[str, set[str]] = {row: set() for row in table.sources}
    for (row, _), models in members.items():
        names[row] |= {member.name for member in models}
    return {
        row: [
            state
            for name in sorted(of_row)
            for folder in _run_folders(resolve(name, runs).members, runs)
            for state in folder.environment().data
        ]
        for row, of_row in names.items()
    }


def _run_folders(specs: Sequence[ModelSpec], runs: Path) -> Iterator[RunFolder]:
    """The runs among models and the parts of combined ones."""
    for spec in specs:
        if spec.is_run and spec.seed is not None:
            yield RunFolder.of(runs, spec.name.partition("@")[0], spec.seed)
        yield from _run_folders(spec.parts, runs)


def _evaluation_file(name: str, task: str, session: Session, reported: set[str] | None) -> Path:
    """Where the evaluation of a model on a task is, or would be where it could not be made.

    REPORTED are errors that were shown before; None where nothing is evaluated here.
    """
    (spec,) = resolve(name, session.settings.runs).members
    folder = ScorePlace.of(spec, session.settings).evaluations
    path = folder / f"{task}.json"
    source = Source.from_settings(session.settings)
    place = ScorePlace.of(spec, session.settings)
    is_stale = task == DEFAULT_TASK and (
        stored_evaluation(place, task, find_task(task).texts(source, Selection()), session.settings)
        is None
    )
    if reported is not None and (is_stale or not path.is_file()):
        with session.progresses() as progress:
            result = evaluate_on(
                task, spec, session.settings, lambda work: progress(f"{name}: {work}")
            )
        for error in result.missing:
            if error.message not in reported:
                session.report(error)
            reported.add(error.message)
        result.save(folder)
    return path


def _score(
    names: Sequence[str], by: By, session: Session, datasets: Sequence[str] = ()
) -> tuple[Gathered | None, dict[str, str]]:
    """The STS pairs scored by those of the models called NAMES that are there, and why the others
    are absent.

    The fifths of a figure are those of all pairs of STS-B, as in tsukagoshi: train, dev and test.
    DATASETS are those of a figure; without any, all. None where there are no pairs or no models.
    """
    if not names:
        return None, {}
    if by == "dice":
        datasets = [*(f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS), FIFTHS_OF]
    selected = SelectedTask(task=DEFAULT_TASK, names=tuple(datasets))
    source = Source.from_settings(session.settings)
    try:
        find_task(DEFAULT_TASK).texts(source, Selection(names=selected.names))
    except MissingError as error:
        session.report(error)
        return None, {}
    scored, absent = _score_present(names, selected, session)
    if scored is not None and by == "dice":
        scored = replace(scored, outcomes=[joined_splits(scored.outcomes[0])])
    return scored, absent


def _score_present(
    names: Sequence[str], selected: SelectedTask, session: Session
) -> tuple[Gathered | None, dict[str, str]]:
    absent: dict[str, str] = {}

    def score(chosen: Sequence[str]) -> Gathered | None:
        if not chosen:
            return None
        slicing = Slicing()
        return gather(chosen, [selected], session, slicing=slicing, setting="literature")

    try:
        return score(names), absent
    except Interrupted:
        raise
    except EmbedlabError:  # which of them it was shows one by one; what has been scored is stored
        for name in names:
            try:
                score([name])
            except Interrupted:
                raise
            except EmbedlabError as error:
                absent[name] = _reason(error)
    return score([name for name in names if name not in absent]), absent


def _reason(error: EmbedlabError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
