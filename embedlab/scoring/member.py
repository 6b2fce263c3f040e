"""Evaluation of one member model on a task, with what is known of its training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from embedlab.comparison.evidence import slices_of
from embedlab.core.note import kind_of
from embedlab.core.signs import OVERLAP
from embedlab.data.shared_text import Overlap, total_overlap
from embedlab.models.location import backends, vector_length
from embedlab.outcomes.stored import joined_members
from embedlab.scoring.provenance import (
    overlap_notes,
    training_marks,
    training_notes,
    training_precision,
)
from embedlab.scoring.training_text import keyed_items, training_text
from embedlab.tasks.task import Selection, TaskResult
from embedlab.tasks.task import task as find_task

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.session import StartProgress
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import Part
    from embedlab.data.overlaps import KnownText
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.evaluations import Evaluation


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
    stored = {"": {outcomes.name: outcomes for outcomes in result.outcomes}}
    frame = joined_members(stored, [""]) if result.by else None
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
