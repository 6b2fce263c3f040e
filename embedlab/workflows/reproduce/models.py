"""The models behind a reproduced table, scored and evaluated; one that is absent costs its own rows
alone, and its reason is one note.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from embedlab.analysis.slices import joined_splits
from embedlab.choices import By
from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.pair_parts import FIFTHS_OF, open_parts
from embedlab.data.source import Source
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.experiments.claim_evidence import ClaimedItems
from embedlab.experiments.matching_runs import CellKey, Member
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.row_items import AnswersByCell
from embedlab.experiments.row_order import ScoredItems
from embedlab.models.catalog import Model, ModelSpec, resolve
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.store import RunFolder
from embedlab.scoring.member import evaluate_task as evaluate_on
from embedlab.scoring.scored_pairs import ScoredPairs, evaluate_pairs, score_models
from embedlab.tasks.task import is_scored_together
from embedlab.tasks.task import task as find_task
from embedlab.workflows.models import check_device, resolve_model
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.reproduce.plan import named_rows
from embedlab.workflows.scoring import keep
from embedlab.workflows.session import Session

Members = Mapping[CellKey, Sequence[Member]]

_NO_PAIRS = "--unseen selects pairs, and its numbers are not of sets of pairs"


@dataclass(frozen=True, kw_only=True)
class EvaluatedRows:
    """What is known of the models of a table."""

    evaluations: Mapping[tuple[str, str], Evaluation]  # by member and task
    answers: AnswersByCell
    scored: ScoredPairs | None  # pair by pair, where the table is about STS and its pairs are there
    missing: tuple[str, ...]
    absent: Mapping[str, str] = field(default_factory=dict)  # member → why it could not be scored

    @property
    def items(self) -> ScoredItems:
        """What the scores vary over."""
        pairs = self.scored.table if self.scored is not None else None
        return ScoredItems(pairs=pairs, answers=self.answers, published=self.published)

    @property
    def claimed_items(self) -> ClaimedItems:
        """What claims are measured on."""
        pairs = self.scored.outcomes if self.scored is not None else None
        return ClaimedItems(pairs=pairs, answers=self.answers, published=self.published)

    @property
    def published(self) -> frozenset[str]:
        """The members that are checkpoints others can name."""
        models = self.scored.models if self.scored is not None else ()
        return frozenset(
            member for model in models if model.is_published for member in model.members
        )

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
            specs = resolve_model(name, session).members
            named[row] = tuple(
                Member(name=spec.name, seed=spec.seed, runs=frozenset({spec.name}))
                for spec in specs
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
        return EvaluatedRows(evaluations={}, answers={}, scored=None, missing=())
    if table.by is not None:
        names = {member.name for row in table.sources for member in members[row, ""]}
        scored, absent = _score(sorted(names), table.by, session, table.datasets)
        return EvaluatedRows(evaluations={}, answers={}, scored=scored, missing=(), absent=absent)
    wanted = {
        (member.name, point.measure.task)
        for point in table.points
        for member in members[point.row, point.column]
    }
    alone = {task for _, task in wanted if not is_scored_together(task)}
    scored, absent = _score(
        sorted(name for name, task in wanted if task not in alone), "dataset", session
    )
    evaluations: dict[tuple[str, str], Evaluation] = {}
    answers: dict[tuple[str, str], list[StoredOutcomes]] = {}
    missing, reported = [], set[str]()
    for name, task in sorted(wanted):
        if name in absent:
            continue
        try:
            path = _evaluation_file(
                name, task, session, reported if options.trains and task in alone else None
            )
        except Interrupted:
            raise
        except EmbedlabError as error:
            absent[name] = _reason(error)
            continue
        if path.is_file():
            evaluations[name, task] = Evaluation.load(path)
            answers[name, task] = list(stored_outcomes(path.parent, task, unusable=session.report))
        elif (
            task in alone or scored is not None
        ):  # where the pairs are missing, that has been said once for all
            missing.append(
                f"{name} is not evaluated: embedlab evaluate '{name}' --suite "
                f"{task}{again(session.settings)}"
            )
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
        return EvaluatedRows(
            evaluations={}, answers={}, scored=None, missing=(f"{table.name}: {_NO_PAIRS}",)
        )
    if by is None:
        raise UsageError(
            f"{table.name!r}: {_NO_PAIRS}",
            hint="`embedlab compare MODEL… --task TASK --unseen` takes items of any task",
        )
    names = sorted({member.name for found in members.values() for member in found})
    whole, absent = _score(names, by, session, table.datasets)
    if whole is None:
        return EvaluatedRows(evaluations={}, answers={}, scored=None, missing=(), absent=absent)
    scored = whole.unseen_pairs
    note = (
        f"{len(scored.table)} of {len(whole.table)} pairs: no model of the table is known to "
        f"have read a sentence of theirs in training"
    )
    evaluations = (
        {}
        if table.by is not None
        else {(name, DEFAULT_TASK): one for name, one in evaluate_pairs(scored).items()}
    )
    return EvaluatedRows(
        evaluations=evaluations, answers={}, scored=scored, missing=(note,), absent=absent
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


def again(settings: Settings, options: ReproductionOptions | None = None) -> str:
    """Return what a suggested command repeats of this one; a reproduction repeats the OPTIONS that
    decide what is trained.
    """
    words: list[str] = []
    if options is not None:
        words += ["--encoder", options.encoder] if options.encoder is not None else []
        words += ["--profile", options.profile] if options.profile is not None else []
        words += [word for override in options.overrides for word in ("--set", override)]
        words += ["--seeds", str(options.seeds)] if options.seeds is not None else []
        words += ["--unseen"] if options.unseen else []
        words += ["--allow-partial"] if settings.allow_partial else []
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
        elif source.given is not None:
            yield f"{row}: a file of yours, --row '{row}={source.given}'"
        elif source.best_of:  # made of the numbers of other rows
            continue
        elif causes:
            reasons.setdefault(causes[0], []).append(
                f"{row} ({', '.join(lost)})" if is_there and lost else row
            )
        elif not is_there:
            untrained.append(row)
    for reason, rows in reasons.items():
        yield f"absent: {', '.join(rows)}: {reason}"
    if untrained and says_untrained:
        command = f"embedlab reproduce {table.typed}{again(settings, options)}"
        hint = "" if options.trains else f"; `{command}` trains what is missing"
        yield f"there is no finished run of {', '.join(untrained)}{hint}"


def training_data_of(
    table: PaperTable, members: Members, session: Session
) -> dict[str, list[Mapping[str, Any]]]:
    """The states of the data that the runs behind each row were trained on."""
    runs = session.settings.runs
    states: dict[str, list[Mapping[str, Any]]] = {}
    for row in table.sources:
        names = sorted(
            {
                member.name
                for (other, _), models in members.items()
                if other == row
                for member in models
            }
        )
        folders = (
            folder for name in names for folder in _run_folders(resolve(name, runs).members, runs)
        )
        states[row] = [state for folder in folders for state in folder.environment().data]
    return states


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
    if reported is not None and not path.is_file():
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
) -> tuple[ScoredPairs | None, dict[str, str]]:
    """The STS pairs scored by those of the models called NAMES that are there, and why the others
    are absent.

    The fifths of a figure are those of all pairs of STS-B, as in tsukagoshi: train, dev and test.
    DATASETS are those of a figure; without any, all. Evaluations of the whole suite are stored.
    None where there are no pairs or no models.
    """
    if not names:
        return None, {}
    check_device(session.settings)
    try:
        parts, missing = open_parts(
            Source.from_settings(session.settings),
            [FIFTHS_OF] if by == "dice" else datasets or find_task(DEFAULT_TASK).datasets,
            all_splits=by != "source",
        )
    except MissingError as error:
        session.report(error)
        return None, {}
    for lacking in missing:
        session.report(lacking)
    scored, absent = _score_present(names, parts, session)
    if scored is not None and by == "dice":
        scored = replace(scored, table=joined_splits(scored.table))
    if scored is not None and by == "dataset":
        scored = scored.test_pairs
        unevaluated = [
            name for name, place in scored.places.items() if not _is_of_these_pairs(place, scored)
        ]
        keep(scored, evaluate_pairs(scored, unevaluated), session)
    return scored, absent


def _is_of_these_pairs(place: ScorePlace, scored: ScoredPairs) -> bool:
    """Return whether the stored evaluation of a model is of the pairs that are SCORED: one of
    the generated corpora is not of real pairs.
    """
    path = place.evaluations / f"{scored.task}.json"
    if not path.is_file():
        return False
    read = {
        (state["name"], state["split"], state["rows"], state.get("origin") == "tiny")
        for state in Evaluation.load(path).data
    }
    return {
        (state.name, state.split, state.rows, state.origin == "tiny") for state in scored.states
    } <= read


def _score_present(
    names: Sequence[str], parts: Sequence[Part], session: Session
) -> tuple[ScoredPairs | None, dict[str, str]]:
    models: dict[str, Model] = {}
    absent: dict[str, str] = {}
    for name in names:
        try:
            models[name] = resolve_model(name, session)
        except EmbedlabError as error:
            absent[name] = _reason(error)

    def score(chosen: Sequence[Model]) -> ScoredPairs | None:
        if not chosen:
            return None
        with session.progresses() as progress:
            return score_models(
                chosen,
                parts,
                session.settings,
                progress=lambda member: progress(f"scoring {member}"),
                note=session.note,
            )

    try:
        return score(list(models.values())), absent
    except Interrupted:
        raise
    except EmbedlabError:  # which of them it was shows one by one; what has been scored is stored
        for name, model in list(models.items()):
            try:
                score([model])
            except Interrupted:
                raise
            except EmbedlabError as error:
                absent[name] = _reason(error)
                del models[name]
    return score(list(models.values())), absent


def _reason(error: EmbedlabError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
