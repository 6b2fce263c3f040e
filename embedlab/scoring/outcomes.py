"""The outcomes of a member model on a task for a comparison: stored results where they are still
valid, new evaluations otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from embedlab.analysis.evidence import Evidence
from embedlab.choices import SettingName
from embedlab.core.errors import MissingError
from embedlab.core.names import code_version
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.shared_text import Overlap, total_overlap
from embedlab.data.source import Source
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.scoring.answers import MemberOutcomes, answers_of, each_once
from embedlab.scoring.member import evaluate_task
from embedlab.scoring.prefetch import is_same_data, stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import Texts
from embedlab.tasks.task import task as find_task


def member_outcomes(
    selected: SelectedTask,
    spec: ModelSpec,
    settings: Settings,
    texts: Texts | None,
    start_progress: StartProgress,
    setting: SettingName,
) -> MemberOutcomes:
    """Return a member's outcomes on a task: stored ones of the same vectors and data, the rest
    evaluated and stored.

    TEXTS is what the task reads; None where that depends on the model.
    """
    place = ScorePlace.of(spec, settings)
    task = find_task(selected.task)
    setting = task.setting(setting)
    if spec.shipped.items is not None:  # a file is read as fast as what would be stored of it
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
    evaluation = stored_evaluation(place, selected.stored_name(setting), texts, settings)
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
        rest = member_outcomes(
            SelectedTask(task=selected.task, names=lacking),
            spec,
            settings,
            replace(
                texts,
                states=states,
                datasets=lacking if texts.datasets else (),
                parts=tuple(
                    part
                    for part, name in zip(texts.parts, texts.datasets, strict=False)
                    if name in lacking
                ),
            ),
            start_progress,
            setting,
        )
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
