"""What a member model got on a task: stored results where they still hold, new evaluations
otherwise, with what is known of its training data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.names import code_version
from embedlab.core.note import kind_of
from embedlab.core.printable import OVERLAP
from embedlab.data.marks import Overlap, total_overlap, what_is_shared
from embedlab.data.source import Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.location import backends, vector_length
from embedlab.outcomes.stored import join_members
from embedlab.runs.evaluations import Evaluation, StoredScore
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
from embedlab.tasks._similarities import pair_scores
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
    from embedlab.tasks.task import Task, Texts


def member_result(
    spec: ModelSpec,
    selected: SelectedTask,
    work: Work,
    texts: Texts | None,
    stored: Evaluation | None,
    session: Session,
    start_progress: StartProgress,
) -> TaskResult:
    """Return a member's results on a task: those stored for the same vectors and data; others are
    evaluated and stored.

    TEXTS is what the task reads, None where that depends on the model; STORED is the evaluation
    that still holds. Where WORK wants items, those suffice, and only what lacks them is evaluated.
    """
    score_place = ScorePlace.of(spec, session.settings)
    setting = selected.definition.setting(work.setting)
    usable: dict[str, StoredOutcomes] = {}
    if not (work.again or spec.refused_texts):
        usable = _usable_outcomes(score_place, selected, texts, setting, session.settings)
        usable_datasets = {outcome.dataset for outcome in usable.values()}
        if stored is not None and _datasets_with_items(selected.task, stored) <= usable_datasets:
            if not work.wants_items:
                session.note(
                    f"{spec.name}: {stored.task} was evaluated before on the same data "
                    "(--again of `embedlab evaluate` repeats it)"
                )
                stored = with_training(stored, spec)
            return TaskResult(evaluation=stored, outcomes=_in_task_order(usable, texts))
    wanted = texts.names if work.wants_items and texts is not None else ()
    missing = tuple(name for name in dict.fromkeys(wanted) if name not in usable)
    template = None
    if not {*wanted}.isdisjoint(usable):
        template = _evaluation_of_vectors(score_place)
    if template is not None and not missing:
        empty = replace(
            template,
            task=selected.evaluation_name(setting),
            model=spec.name,
            data=(),
            marks=(),
            scores=(),
            refused=(),
        )
        return TaskResult(evaluation=empty, outcomes=_in_task_order(usable, texts))
    is_partial_possible = (
        selected.definition.datasets
        and spec.shipped.items is None
        and (not selected.names or {*missing} <= {*selected.names})
    )
    if template is not None and texts is not None and is_partial_possible:
        part = SelectedTask(task=selected.task, names=missing)
        part_texts = texts.of(missing)
        known = stored_evaluation(
            score_place, part.stored_name(setting), part_texts, session.settings
        )
        result = member_result(spec, part, work, part_texts, known, session, start_progress)
        combined = usable | {outcome.name: outcome for outcome in result.outcomes}
        return replace(result, outcomes=_in_task_order(combined, texts))
    result = evaluate_task(
        selected.task,
        spec,
        session.settings,
        start_progress,
        selected.names,
        setting,
        texts.parts if texts is not None else (),
    )
    if not spec.refused_texts:
        try:
            result.save(score_place.evaluations, selected.stored_name(setting))
        except MissingError as full:  # a disk that takes nothing costs time, not the answer
            session.warn(f"{full.message}: the evaluation is shown, not stored")
    by_name = {outcome.name: outcome for outcome in result.outcomes}
    return replace(result, tested=(), outcomes=_in_task_order(by_name, texts))


def _in_task_order(
    by_dataset: Mapping[str, StoredOutcomes], texts: Texts | None
) -> tuple[StoredOutcomes, ...]:
    """Return the outcomes BY DATASET in the order in which their task reads the datasets."""
    order = dict.fromkeys((*(texts.names if texts is not None else ()), *by_dataset))
    return tuple(by_dataset[name] for name in order if name in by_dataset)


def has_all_items(
    spec: ModelSpec, selected: SelectedTask, work: Work, texts: Texts, settings: Settings
) -> bool:
    """Return whether WORK wants items, and all those that a task reads are stored of a member."""
    wanted_names = {*texts.names} if work.wants_items else set()
    score_place = ScorePlace.of(spec, settings)
    setting = selected.definition.setting(work.setting)
    return bool(wanted_names) and wanted_names <= {
        *_usable_outcomes(score_place, selected, texts, setting, settings)
    }


def _evaluation_of_vectors(score_place: ScorePlace) -> Evaluation | None:
    """Return an evaluation of the same vectors on any task, without its scores: it says how they
    were made.
    """
    for path in sorted(score_place.evaluations.rglob("*.json")):
        with suppress(MissingError):
            stored = Evaluation.load(path, where=lambda _: False)
            if stored.fingerprint == score_place.fingerprint:
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
    """Evaluate one member model on TASK, or on its datasets in NAMES, and add marks and notes.

    SETTING applies to tasks that train classifiers on vectors; OPENED parts are not read again.
    """
    definition = find_task(task)
    selection = Selection(
        names=tuple(names), setting=definition.setting(setting), opened=tuple(opened)
    )
    if spec.shipped.items is not None:
        from embedlab.scoring.brought_items import evaluate_items

        result = evaluate_items(definition, spec, settings, names)
    else:
        result = definition.evaluate(spec, settings, start_progress, selection)
    doubts = [note for note in result.evaluation.notes if kind_of(note) == "doubted"]
    outcomes = tuple(
        replace(
            outcome,
            base_task=task,
            notes=(*outcome.notes, *doubts),
            measures=outcome.measures
            or definition.measures(outcome.name)
            or ("accuracy" if outcome.classes else "spearman",),
        )
        for outcome in result.outcomes
    )
    result = replace(result, outcomes=outcomes)
    scores = tuple(
        replace(score, scale=definition.scale_of(score.metric))
        for score in (*outcome_scores(definition, result), *result.evaluation.scores)
    )
    evaluation = replace(result.evaluation, scores=scores)
    return with_provenance(replace(result, evaluation=evaluation), spec, settings)


def outcome_scores(definition: Task, result: TaskResult) -> Iterator[StoredScore]:
    """Yield the scores that follow from the outcomes of a RESULT: of similarities all correlations,
    otherwise each measure of a dataset that the task does not state itself.
    """
    averages = {outcomes.task: result.averages for outcomes in result.outcomes}
    if definition.aggregates and result.outcomes:
        frame = join_members({"": result.outcomes}, [""], averages=averages)
        assert frame is not None
        yield from pair_scores(frame, "")
        return
    stated = {(score.slice, score.metric) for score in result.evaluation.scores}
    for outcomes in result.outcomes:
        frame = join_members({"": [outcomes]}, [""])
        assert frame is not None
        for evidence in outcome_evidence(frame, [""], is_tested=False):
            if (outcomes.dataset, evidence.metric) not in stated:
                yield StoredScore(
                    by="dataset",
                    slice=outcomes.dataset,
                    metric=evidence.metric,
                    setting=result.setting,
                    value=float(evidence.points[0]),
                    items=evidence.items,
                    split=outcomes.split,
                )


def with_provenance(result: TaskResult, spec: ModelSpec, settings: Settings) -> TaskResult:
    """Return RESULT with what the model's training data implies for its numbers: marks, notes and
    shared text.
    """
    text = training_text(spec, settings)
    evaluation = result.evaluation
    totals: dict[str, Overlap] = {}  # both validation splits of MNLI are named mnli
    slice_overlaps: dict[str, Overlap] = {}
    if text.text is not None:
        for tested in result.tested:
            own = text.text.overlap(tested.frame)
            name = tested.state.name
            totals[name] = totals[name] + own if name in totals else own
        slice_overlaps = _overlaps_by(result, text.text)
    shared = what_is_shared(totals)
    dataset_overlaps = {**evaluation.overlaps, **shared}
    trained_marks = training_marks(spec)
    notes = (*training_notes(spec), *text.notes)
    marks = {*evaluation.marks, *trained_marks}
    if dataset_overlaps:
        marks.add(OVERLAP)
    outcomes = [
        replace(
            outcome,
            marks=tuple(sorted({*outcome.marks, *trained_marks})),
            notes=(*outcome.notes, *notes),
            overlap=shared.get(outcome.dataset, outcome.overlap),
        )
        for outcome in result.outcomes
    ]
    averages = {}
    for score in evaluation.scores:
        for average, members in result.averages.items():
            if score.by == "average" and score.slice.startswith(average):
                of_members = (totals[name] for name in members if name in totals)
                averages[score.slice] = total_overlap(of_members)
    evaluation = replace(
        evaluation,
        marks=tuple(sorted(marks)),
        notes=(*evaluation.notes, *notes, *overlap_notes(dataset_overlaps)),
        overlaps={**evaluation.overlaps, **slice_overlaps, **shared, **what_is_shared(averages)},
        **model_facts(spec),
    )
    return replace(result, evaluation=evaluation, outcomes=tuple(outcomes))


def _overlaps_by(result: TaskResult, text: KnownText) -> dict[str, Overlap]:
    """Return the text that slices by properties share with a training TEXT."""
    frame = join_members({"": result.outcomes}, [""]) if result.by else None
    if frame is None:
        return {}
    slices = [part for by in result.by for part in slices_of(frame, (), by=by)]
    return what_is_shared({part.key: text.overlap(keyed_items(frame, part)) for part in slices})


def with_training(evaluation: Evaluation, spec: ModelSpec) -> Evaluation:
    """Return a stored EVALUATION with the present state of the training of SPEC."""
    notes = training_notes(spec)
    return replace(
        evaluation,
        marks=tuple(sorted({*evaluation.marks, *training_marks(spec)})),
        notes=tuple(dict.fromkeys([*evaluation.notes, *notes])),
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


def _usable_outcomes(
    score_place: ScorePlace,
    selected: SelectedTask,
    texts: Texts | None,
    setting: SettingName,
    settings: Settings,
) -> dict[str, StoredOutcomes]:
    """Return a member's stored outcomes by dataset of a task, of the same vectors, data and
    version.
    """
    names = {score_place.spec.name, score_place.spec.alias_of}
    version = code_version(selected.task)
    source = Source.from_settings(settings)
    return {
        outcomes.name: outcomes
        for outcomes in stored_outcomes(
            score_place.evaluations,
            selected.evaluation_name(setting),
            names=texts.names if texts is not None else None,
        )
        if outcomes.model in names
        and outcomes.embedlab == version
        and outcomes.fingerprint == score_place.fingerprint
        and is_same_data(outcomes.data, texts, source)
    }


def _datasets_with_items(task: str, evaluation: Evaluation) -> set[str]:
    """Return the datasets for which an evaluation of a task stores outcomes."""
    measures = find_task(task).measures
    scores = [score for score in evaluation.scores if score.by == "dataset"]
    return {
        score.slice
        for score in scores
        if score.metric == "accuracy" or score.metric in measures(score.slice)
    }


def stored_evaluation(
    score_place: ScorePlace, name: str, texts: Texts | None, settings: Settings
) -> Evaluation | None:
    """Return the evaluation stored under NAME for a member, if this version of embedlab made it
    from the same vectors and data.

    TEXTS is what its task reads; where that depends on the model, the data that it read is opened
    again, as SETTINGS say. What was counted of stated corpora must be what is at hand now. A run
    and a copy of its folder have equal vectors; their training text, and so their marks, depend on
    the member's name.
    """
    try:
        stored = Evaluation.load(score_place.evaluations / f"{name}.json")
    except MissingError:
        return None
    if (stored.model, stored.embedlab) != (
        score_place.spec.name,
        code_version(stored.task),
    ) or stored.fingerprint != score_place.fingerprint:
        return None
    stated_text = TrainingText(corpora=stated_corpora(score_place.spec, settings))
    if stated_text.lack and stated_text.lack not in stored.notes:
        return None
    is_all = texts is None or len(stored.data) == len(texts.states)
    source = Source.from_settings(settings)
    return stored if is_all and is_same_data(stored.data, texts, source) else None


def is_same_data(data: Sequence[Mapping[str, object]], texts: Texts | None, source: Source) -> bool:
    """Return whether DATA, as an evaluation's file stores it, describes what would be read now."""
    stored = [{**state_form, "empty": None} for state_form in data]
    if texts is not None:
        current = [_stored_form(state) for state in texts.states]
        return all(state_form in current for state_form in stored)
    try:
        return all(
            _stored_form(source.open(str(state_form["name"]), str(state_form.get("split"))).state)
            == state_form
            for state_form in stored
        )
    except EmbedlabError:  # removed since: the task itself reports it
        return False


def _stored_form(state: DatasetState) -> dict[str, object]:
    """Return a state as an evaluation's file stores it, without what follows from its files'
    hashes: evaluations of earlier versions lack that.
    """
    return {**json.loads(json.dumps(asdict(state), default=str)), "empty": None}
