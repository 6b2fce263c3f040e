"""What a member model got on a task: stored results where they still hold, new evaluations
otherwise, with what is known of its training data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from embedlab.comparison.evidence import slices_of
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.names import code_version
from embedlab.core.note import kind_of
from embedlab.core.printable import OVERLAP
from embedlab.data.marks import Overlap, total_overlap
from embedlab.data.source import Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.location import backends, vector_length
from embedlab.outcomes.stored import joined_members
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.scoring.provenance import (
    overlap_notes,
    training_marks,
    training_notes,
    training_precision,
)
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.training_text import (
    TrainingText,
    keyed_items,
    stated_corpora,
    training_text,
)
from embedlab.tasks.task import Selection, TaskResult
from embedlab.tasks.task import task as find_task

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.session import Session, StartProgress
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import DatasetState, Part
    from embedlab.data.overlaps import KnownText
    from embedlab.models.catalog import ModelSpec
    from embedlab.scoring.readiness import Work
    from embedlab.tasks.task import Texts


def member_result(
    spec: ModelSpec,
    selected: SelectedTask,
    work: Work,
    texts: Texts | None,
    stored: Evaluation | None,
    session: Session,
    start_progress: StartProgress,
) -> TaskResult:
    """Return what a member got on a task: what is stored of the same vectors and data, the rest
    evaluated and stored.

    TEXTS is what the task reads, None where that depends on the model; STORED is the evaluation
    that still holds. Where WORK wants items, those suffice, and only what lacks them is evaluated.
    """
    place = ScorePlace.of(spec, session.settings)
    setting = selected.definition.setting(work.setting)
    if not (work.again or spec.without):
        known = _usable(place, selected, texts, setting, session.settings)
        found = {each.dataset for each in known.values()}
        if stored is not None and _itemised(selected.task, stored) <= found:
            if not work.wants_items:
                session.note(
                    f"{spec.name}: {stored.task} was evaluated before on the same data "
                    "(--again of `embedlab evaluate` repeats it)"
                )
                stored = with_training(stored, spec)
            return TaskResult(evaluation=stored, outcomes=_in_order(known, texts))
        wanted = dict.fromkeys(texts.names if work.wants_items and texts is not None else ())
        lacking = tuple(name for name in wanted if name not in known)
        used = _evaluation_of_vectors(place) if len(lacking) < len(wanted) else None
        if used is not None:
            can_part = (
                selected.definition.datasets
                and spec.shipped.items is None
                and (not selected.names or {*lacking} <= {*selected.names})
            )
            if not lacking:
                name = selected.evaluation_name(setting)
                nothing = replace(used, task=name, model=spec.name, data=(), marks=(), scores=())
                nothing = replace(nothing, refused=())
                return TaskResult(evaluation=nothing, outcomes=_in_order(known, texts))
            if texts is not None and can_part:
                part, rest = SelectedTask(task=selected.task, names=lacking), texts.of(lacking)
                name = part.stored_name(setting)
                of_rest = stored_evaluation(place, name, rest, session.settings)
                more = member_result(spec, part, work, rest, of_rest, session, start_progress)
                both = known | {each.name: each for each in more.outcomes}
                return replace(more, outcomes=_in_order(both, texts))
    result = evaluate_task(
        selected.task,
        spec,
        session.settings,
        start_progress,
        selected.names,
        setting,
        texts.parts if texts is not None else (),
    )
    if not spec.without:
        try:
            result.save(place.evaluations, selected.stored_name(setting))
        except MissingError as full:  # a disk that takes nothing costs time, not the answer
            session.warn(f"{full.message}: the evaluation is shown, not stored")
    made = {each.name: each for each in result.outcomes}
    return replace(result, tested=(), outcomes=_in_order(made, texts))


def _in_order(
    found: Mapping[str, StoredOutcomes], texts: Texts | None
) -> tuple[StoredOutcomes, ...]:
    """Return what was FOUND of datasets, in the order in which their task reads them."""
    order = dict.fromkeys((*(texts.names if texts is not None else ()), *found))
    return tuple(found[name] for name in order if name in found)


def has_all_items(
    spec: ModelSpec, selected: SelectedTask, work: Work, texts: Texts, settings: Settings
) -> bool:
    """Return whether WORK wants items, and all those that a task reads are stored of a member."""
    wanted = {*texts.names} if work.wants_items else set()
    place, setting = ScorePlace.of(spec, settings), selected.definition.setting(work.setting)
    return bool(wanted) and wanted <= {*_usable(place, selected, texts, setting, settings)}


def _evaluation_of_vectors(place: ScorePlace) -> Evaluation | None:
    """Return an evaluation of the same vectors on any task, without its scores: it says how they
    were made.
    """
    for path in sorted(place.evaluations.rglob("*.json")):
        with suppress(MissingError):
            stored = Evaluation.load(path, where=lambda _: False)
            if stored.fingerprint == place.fingerprint:
                return stored
    return None


def evaluate_task(
    task: str,
    spec: ModelSpec,
    settings: Settings,
    start_progress: StartProgress,
    names: Sequence[str] = (),
    setting: SettingName = "literature",
    opened: Sequence[Part] = (),
) -> TaskResult:
    """Evaluate one member model on TASK, or on those of its datasets that NAMES lists, and add
    marks and notes.

    SETTING applies to tasks that train classifiers on vectors; OPENED parts are not read again.
    """
    chosen = find_task(task)
    selection = Selection(names=tuple(names), setting=chosen.setting(setting), opened=tuple(opened))
    if spec.shipped.items is not None:
        from embedlab.scoring.brought_items import evaluate_items

        result = evaluate_items(chosen, spec, settings, names)
    else:
        result = chosen.evaluate(spec, settings, start_progress, selection)
    scores = tuple(
        replace(score, scale=chosen.scale_of(score.metric)) for score in result.evaluation.scores
    )
    evaluation = replace(result.evaluation, scores=scores)
    doubts = [note for note in evaluation.notes if kind_of(note) == "doubted"]
    outcomes = tuple(
        replace(
            outcome,
            base_task=task,
            notes=(*outcome.notes, *doubts),
            measures=outcome.measures
            or chosen.measures(outcome.name)
            or ("accuracy" if outcome.classes else "spearman",),
        )
        for outcome in result.outcomes
    )
    return with_provenance(
        replace(result, evaluation=evaluation, outcomes=outcomes), spec, settings
    )


def with_provenance(result: TaskResult, spec: ModelSpec, settings: Settings) -> TaskResult:
    """Return RESULT with what the model's training data implies for its numbers: marks, notes and
    shared text.
    """
    known, evaluation = training_text(spec, settings), result.evaluation
    overlaps = (
        [(part.state.name, known.text.overlap(part.frame)) for part in result.tested]
        if known.text is not None
        else []
    )
    # Both validation splits of MNLI are named mnli.
    totals = {
        name: total_overlap(counts for other, counts in overlaps if other == name)
        for name, _ in overlaps
    }
    shared = {name: counts for name, counts in totals.items() if counts}
    of_slices = {} if known.text is None else _overlaps_by(result, known.text)
    trained, notes = training_marks(spec), (*training_notes(spec), *known.notes)
    marks = {*evaluation.marks, *trained, *((OVERLAP,) if shared or evaluation.overlaps else ())}
    return replace(
        result,
        evaluation=replace(
            evaluation,
            marks=tuple(sorted(marks)),
            notes=(*evaluation.notes, *notes, *overlap_notes({**evaluation.overlaps, **shared})),
            overlaps={
                **evaluation.overlaps,
                **of_slices,
                **shared,
                **_averages(result, shared),
            },
            **model_facts(spec),
        ),
        outcomes=tuple(
            replace(
                outcome,
                marks=tuple(sorted({*outcome.marks, *trained})),
                notes=(*outcome.notes, *notes),
                overlap=shared.get(outcome.dataset, outcome.overlap),
            )
            for outcome in result.outcomes
        ),
    )


def _overlaps_by(result: TaskResult, text: KnownText) -> dict[str, Overlap]:
    """Return the text that slices by properties share with a training TEXT."""
    frame = joined_members({"": result.outcomes}, [""]) if result.by else None
    if frame is None:
        return {}
    overlaps = {
        part.key: text.overlap(keyed_items(frame, part))
        for by in result.by
        for part in slices_of(frame, (), by=by)
    }
    return {key: counts for key, counts in overlaps.items() if counts}


def with_training(evaluation: Evaluation, spec: ModelSpec) -> Evaluation:
    """Return a stored EVALUATION with what is known about the training of SPEC now."""
    known = training_notes(spec)
    return replace(
        evaluation,
        marks=tuple(sorted({*evaluation.marks, *training_marks(spec)})),
        notes=tuple(dict.fromkeys([*evaluation.notes, *known])),
        **model_facts(spec),
    )


def model_facts(spec: ModelSpec) -> dict[str, Any]:
    """Return the fields of an evaluation that follow from SPEC without loading it."""
    return {
        "seed": spec.seed,
        "dims": vector_length(spec),
        "backend": backends(spec),
        "training_precision": training_precision(spec),
    }


def _averages(result: TaskResult, shared: Mapping[str, Overlap]) -> dict[str, Overlap]:
    """Return the text that the datasets of each average share with the training data; averages
    without shared text are absent.
    """
    averages = {
        score.slice: total_overlap(shared[name] for name in members if name in shared)
        for score in result.evaluation.scores
        for average, members in result.averages.items()
        if score.by == "average" and score.slice.startswith(average)
    }
    return {name: counts for name, counts in averages.items() if counts}


def _usable(
    place: ScorePlace,
    selected: SelectedTask,
    texts: Texts | None,
    setting: SettingName,
    settings: Settings,
) -> dict[str, StoredOutcomes]:
    """Return what is stored of a member on the datasets of a task, of the same vectors, data and
    version.
    """
    names, version = {place.spec.name, place.spec.alias_of}, code_version(selected.task)
    source = Source.from_settings(settings)
    return {
        outcomes.name: outcomes
        for outcomes in stored_outcomes(
            place.evaluations,
            selected.evaluation_name(setting),
            names=texts.names if texts is not None else None,
        )
        if outcomes.model in names
        and outcomes.embedlab == version
        and outcomes.fingerprint == place.fingerprint
        and is_same_data(outcomes.data, texts, source)
    }


def _itemised(task: str, evaluation: Evaluation) -> set[str]:
    """Return the datasets for which an evaluation of a task stores outcomes."""
    measures = find_task(task).measures
    scores = [score for score in evaluation.scores if score.by == "dataset"]
    return {
        score.slice
        for score in scores
        if score.metric == "accuracy" or score.metric in measures(score.slice)
    }


def stored_evaluation(
    place: ScorePlace, name: str, texts: Texts | None, settings: Settings
) -> Evaluation | None:
    """Return the evaluation stored under NAME for a member, if this version of embedlab made it
    from the same vectors and data.

    TEXTS is what its task reads; where that depends on the model, the data that it read is opened
    again, as SETTINGS say. What was counted of stated corpora must be what is at hand now. A run
    and a copy of its folder have equal vectors; their training text, and so their marks, depend on
    the member's name.
    """
    try:
        stored = Evaluation.load(place.evaluations / f"{name}.json")
    except MissingError:
        return None
    if (stored.model, stored.embedlab) != (
        place.spec.name,
        code_version(stored.task),
    ) or stored.fingerprint != place.fingerprint:
        return None
    stated = TrainingText(corpora=stated_corpora(place.spec, settings))
    if stated.lack and stated.lack not in stored.notes:
        return None
    is_all = texts is None or len(stored.data) == len(texts.states)
    source = Source.from_settings(settings)
    return stored if is_all and is_same_data(stored.data, texts, source) else None


def is_same_data(data: Sequence[Mapping[str, object]], texts: Texts | None, source: Source) -> bool:
    """Return whether DATA, as an evaluation's file stores it, describes what would be read now."""
    stored = [{**part, "empty": None} for part in data]
    if texts is not None:
        now = [_stored_form(state) for state in texts.states]
        return all(part in now for part in stored)
    try:
        return all(
            _stored_form(source.open(str(part["name"]), str(part.get("split"))).state) == part
            for part in stored
        )
    except EmbedlabError:  # removed since: the task itself reports it
        return False


def _stored_form(state: DatasetState) -> dict[str, object]:
    """Return a state as an evaluation's file stores it, without what follows from its files'
    hashes: evaluations of earlier versions lack that.
    """
    return {**json.loads(json.dumps(asdict(state), default=str)), "empty": None}
