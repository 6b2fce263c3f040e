"""The outcomes of a member model on a task for a comparison: stored results where they are still
valid, new evaluations otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.evidence import Evidence
from embedlab.core.errors import MissingError
from embedlab.core.names import code_version
from embedlab.data.shared_text import Overlap, total_overlap
from embedlab.data.source import Source
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.scoring.member import evaluate_task
from embedlab.scoring.prefetch import is_same_data, stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import Texts
from embedlab.tasks.task import task as find_task

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.progress import StartProgress
    from embedlab.core.settings import Settings
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.evaluations import Evaluation, StoredScore
    from embedlab.runs.parts import StoredPart


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberOutcomes:
    """The outcomes, scores and notes of one member model on one task."""

    outcomes: Mapping[str, StoredOutcomes]  # by dataset, for datasets that are tested item by item
    scores: tuple[StoredScore, ...]  # for the other datasets
    overlaps: Mapping[str, Overlap]  # by dataset, where text is shared with the training data
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    missing: tuple[MissingError, ...] = ()
    evaluation: Evaluation | None = None  # of the scores, and of how the member was used
    data: tuple[StoredPart, ...] = ()  # the state of every part that was read, without repeats
    settings: tuple[
        str, ...
    ] = ()  # how the scores of the outcomes were made, as far as their evaluation says it

    @property
    def refused(self) -> tuple[str, ...]:
        """The texts that the model has no vector of."""
        return self.evaluation.refused if self.evaluation is not None else ()


Answers = Mapping[str, MemberOutcomes]  # by member


def answers_of(
    outcomes: Mapping[str, StoredOutcomes],
    evaluation: Evaluation | None,
    missing: tuple[MissingError, ...] = (),
) -> MemberOutcomes:
    """Return a member's OUTCOMES by dataset together with the scores, overlaps and marks of its
    EVALUATION, where there is one.
    """
    stored_scores = (
        [score for score in evaluation.scores if score.by == "dataset"]
        if evaluation is not None
        else []
    )
    # A score that chose a setting is not a result where a test score exists; some test splits have
    # no labels.
    tested = {score.slice for score in stored_scores if score.split != "dev"}
    stored_scores = [
        score for score in stored_scores if score.split != "dev" or score.slice not in tested
    ]
    scores = tuple(
        score
        for score in stored_scores
        if score.slice not in {outcome.dataset for outcome in outcomes.values()}
    )
    overlaps = {name: outcome.overlap for name, outcome in outcomes.items() if outcome.overlap}
    marks, notes = (
        {mark for outcome in outcomes.values() for mark in outcome.marks},
        [note for outcome in outcomes.values() for note in outcome.notes],
    )
    if evaluation is not None and scores:
        slices = {score.slice for score in scores}
        overlaps |= {name: shared for name, shared in evaluation.overlaps.items() if name in slices}
        marks |= {*evaluation.marks} - {"overlap"}
    return MemberOutcomes(
        outcomes=outcomes,
        scores=scores,
        overlaps=overlaps,
        marks=tuple(sorted(marks | ({"overlap"} if overlaps else set()))),
        notes=tuple(dict.fromkeys(notes)),
        missing=missing,
        evaluation=evaluation,
        data=each_once(
            [
                *(outcome.data for outcome in outcomes.values()),
                *([evaluation.data] if evaluation is not None else []),
            ]
        ),
        settings=tuple(
            dict.fromkeys(
                score.setting for score in stored_scores if score not in scores and score.setting
            )
        ),
    )


def each_once(data: Iterable[Iterable[StoredPart]]) -> tuple[StoredPart, ...]:
    """Return the parts of the data that several results were read from, each once."""
    distinct = {(part["name"], part.get("split")): part for parts in data for part in parts}
    return tuple(distinct.values())


def member_outcomes(
    selected: SelectedTask,
    spec: ModelSpec,
    settings: Settings,
    texts: Texts | None,
    start_progress: StartProgress,
    setting: SettingName,
    evaluation: Evaluation | None,
) -> MemberOutcomes:
    """Return a member's outcomes on a task: stored ones of the same vectors and data, the rest
    evaluated and stored.

    TEXTS is what the task reads, None where that depends on the model; EVALUATION is what is stored
    of it and still valid.
    """
    place = ScorePlace.of(spec, settings)
    task = find_task(selected.task)
    setting = task.setting(setting)
    # a file is read as fast as what would be stored of it
    if spec.shipped.items is not None or spec.without:
        result = evaluate_task(
            selected.task, spec, settings, start_progress, selected.names, setting
        )
        return answers_of(
            {outcome.name: outcome for outcome in result.outcomes},
            result.evaluation,
            result.missing,
        )
    source = Source.from_settings(settings)
    stored = _usable(place, selected, texts, setting, source)
    if evaluation is not None and not _itemised(selected.task, evaluation) <= {
        outcomes.dataset for outcomes in stored.values()
    }:
        # outcomes were lost: evaluate again what is tested item by item
        evaluation = None
    wanted = (
        dict.fromkeys(texts.datasets or (state.name for state in texts.states))
        if texts is not None
        else dict.fromkeys(stored)
    )
    known = {name: stored[name] for name in wanted if name in stored}
    lacking = tuple(dataset for dataset in wanted if dataset not in stored)
    if evaluation is not None or (texts is not None and wanted and not lacking):
        return answers_of(known, evaluation)
    can_part = task.datasets and (not selected.names or {*lacking} <= {*selected.names})
    if texts is not None and known and can_part:
        names = texts.datasets or tuple(state.name for state in texts.states)
        states = tuple(
            state for state, name in zip(texts.states, names, strict=True) if name in lacking
        )
        part = SelectedTask(task=selected.task, names=lacking)
        of_names = zip(texts.parts, texts.datasets, strict=False)
        of_rest = replace(
            texts,
            states=states,
            datasets=lacking if texts.datasets else (),
            parts=tuple(rows for rows, name in of_names if name in lacking),
        )
        stored_rest = stored_evaluation(place, part.stored_name(setting), of_rest, settings)
        rest = member_outcomes(part, spec, settings, of_rest, start_progress, setting, stored_rest)
        return _together(answers_of(known, None), rest, wanted)
    opened = texts.parts if texts is not None else ()
    result = evaluate_task(
        selected.task, spec, settings, start_progress, selected.names, setting, opened
    )
    with suppress(MissingError):  # a disk that cannot be written costs time, not the result
        result.save(place.evaluations, selected.stored_name(setting))
    return answers_of(
        {**known, **{outcome.name: outcome for outcome in result.outcomes}},
        result.evaluation,
        result.missing,
    )


def has_all_items(
    place: ScorePlace, selected: SelectedTask, texts: Texts, setting: SettingName, source: Source
) -> bool:
    """Return whether what a task would score is stored item by item."""
    wanted = {*(texts.datasets or (state.name for state in texts.states))}
    return bool(wanted) and wanted <= {*_usable(place, selected, texts, setting, source)}


def _usable(
    place: ScorePlace,
    selected: SelectedTask,
    texts: Texts | None,
    setting: SettingName,
    source: Source,
) -> dict[str, StoredOutcomes]:
    """Return what is stored of a member on the datasets of a task, of the same vectors, data and
    version.
    """
    names, version = {place.spec.name, place.spec.alias_of}, code_version(selected.task)
    return {
        outcomes.name: outcomes
        for outcomes in stored_outcomes(place.evaluations, selected.evaluation_name(setting))
        if outcomes.model in names
        and outcomes.embedlab == version
        and outcomes.fingerprint == place.fingerprint
        and is_same_data(outcomes.data, texts, source)
    }


def averages_of(selected: SelectedTask, datasets: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the averages of a whole task by title, each over those of DATASETS that are
    available.
    """
    return (
        find_task(selected.task).averages(datasets, selected.evaluation_name())
        if selected.is_whole
        else {}
    )


def _itemised(task: str, evaluation: Evaluation) -> set[str]:
    """Return the datasets for which an evaluation of a task stores outcomes."""
    measures = find_task(task).measures
    scores = [score for score in evaluation.scores if score.by == "dataset"]
    return {
        score.slice
        for score in scores
        if score.metric == "accuracy" or score.metric in measures(score.slice)
    }


def _together(known: MemberOutcomes, rest: MemberOutcomes, order: Iterable[str]) -> MemberOutcomes:
    """Return the outcomes of both, datasets in this ORDER."""
    outcomes = {**known.outcomes, **rest.outcomes}
    return MemberOutcomes(
        outcomes={dataset: outcomes[dataset] for dataset in order if dataset in outcomes},
        scores=rest.scores,
        overlaps={**known.overlaps, **rest.overlaps},
        marks=tuple(sorted({*known.marks, *rest.marks})),
        notes=tuple(dict.fromkeys((*known.notes, *rest.notes))),
        missing=rest.missing,
        evaluation=rest.evaluation,
        data=each_once([known.data, rest.data]),
        settings=tuple(dict.fromkeys((*known.settings, *rest.settings))),
    )


def shared_rows(
    evidence: Sequence[Evidence], overlaps: Mapping[str, Overlap]
) -> dict[str, Overlap]:
    """Return the text that each row shares with a training text, by its key; OVERLAPS are by
    slice.
    """
    names = {each.key: each.slice_key for each in evidence}
    behind = {
        each.key: [names[key] for key in each.average_of] or [names[each.key]] for each in evidence
    }
    totals = {
        key: total_overlap(overlaps[name] for name in datasets if name in overlaps)
        for key, datasets in behind.items()
    }
    return {key: counts for key, counts in totals.items() if counts}


def figure_evidence(task: str, answers: Answers, members: Sequence[str]) -> list[Evidence]:
    """Return the numbers of MEMBERS on a task that have no items: they are shown next to each
    other, not tested.
    """
    evidence = []
    keys = dict.fromkeys(
        (score.slice, score.metric, score.items)
        for answer in answers.values()
        for score in answer.scores
    )
    for dataset, metric, items in keys:
        points = np.full(len(members), np.nan)
        for index, member in enumerate(members):
            scores = answers[member].scores if member in answers else ()
            values = [
                score.value for score in scores if (score.slice, score.metric) == (dataset, metric)
            ]
            points[index] = values[0] if values else np.nan
        name = f"{dataset} {metric}"
        evidence.append(
            Evidence(
                key=name,
                title=name,
                pairs=items,
                points=points,
                task=task,
                metric=metric,
                dataset=dataset,
            )
        )
    return evidence
