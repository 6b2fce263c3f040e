"""The outcomes of a member model on a task for a comparison: stored results where they are still
valid, new evaluations otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.evidence import Evidence
from embedlab.core.errors import MissingError
from embedlab.core.names import code_version
from embedlab.core.signs import OVERLAP
from embedlab.data.shared_text import Overlap, total_overlap
from embedlab.data.source import Source
from embedlab.encoders.score_place import ScorePlace
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.scoring.member import evaluate_task
from embedlab.scoring.prefetch import is_same_data, stored_evaluation
from embedlab.scoring.selection import SelectedTask
from embedlab.tasks.task import Texts
from embedlab.tasks.task import task as find_task

if TYPE_CHECKING:
    from embedlab.choices import SettingName
    from embedlab.core.session import StartProgress
    from embedlab.core.settings import Settings
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.environment import StoredPart
    from embedlab.runs.evaluations import Evaluation, StoredScore


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberOutcomes:
    """What one member model got on one task."""

    outcomes: Mapping[str, StoredOutcomes]  # by dataset, for datasets that are tested item by item
    evaluation: Evaluation | None = None  # None: what is stored item by item was enough
    missing: tuple[MissingError, ...] = ()

    @cached_property
    def _results(self) -> Sequence[StoredScore]:
        """The scores of datasets. One that chose a setting is no result where a test score exists;
        some test splits have no labels.
        """
        scores = self.evaluation.scores if self.evaluation is not None else ()
        own = [score for score in scores if score.by == "dataset"]
        tested = {score.slice for score in own if score.split != "dev"}
        return [score for score in own if score.split != "dev" or score.slice not in tested]

    @cached_property
    def scores(self) -> tuple[StoredScore, ...]:
        """The scores of datasets that are not tested item by item."""
        itemised = {outcomes.dataset for outcomes in self.outcomes.values()}
        return tuple(score for score in self._results if score.slice not in itemised)

    @property
    def settings(self) -> tuple[str, ...]:
        """How the scores of the outcomes were made, as far as the evaluation says it."""
        shown = {*self.scores}
        made = (score.setting for score in self._results if score not in shown)
        return tuple(dict.fromkeys(filter(None, made)))

    @cached_property
    def overlaps(self) -> Mapping[str, Overlap]:
        """The text that is shared with the training data, by dataset."""
        slices = {score.slice for score in self.scores}
        counted = self.evaluation.overlaps if self.evaluation is not None else {}
        return {
            **{name: each.overlap for name, each in self.outcomes.items() if each.overlap},
            **{name: shared for name, shared in counted.items() if name in slices},
        }

    @property
    def marks(self) -> set[str]:
        """The marks of all numbers."""
        marks = {mark for each in self.outcomes.values() for mark in each.marks}
        if self.evaluation is not None and self.scores:
            marks |= {*self.evaluation.marks} - {OVERLAP}
        return marks | ({OVERLAP} if self.overlaps else set())

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on the outcomes, without repeats."""
        return tuple(dict.fromkeys(note for each in self.outcomes.values() for note in each.notes))

    @property
    def data(self) -> tuple[StoredPart, ...]:
        """The state of every part that was read, each once."""
        read = [each.data for each in self.outcomes.values()]
        read += [self.evaluation.data] if self.evaluation is not None else []
        return tuple(
            {(part["name"], part.get("split")): part for of in read for part in of}.values()
        )

    @property
    def refused(self) -> tuple[str, ...]:
        """The texts that the model has no vector of."""
        return self.evaluation.refused if self.evaluation is not None else ()


Answers = Mapping[str, MemberOutcomes]  # by member


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
    task = selected.definition
    setting = task.setting(setting)
    # a file is read as fast as what would be stored of it
    if spec.shipped.items is not None or spec.without:
        result = evaluate_task(
            selected.task, spec, settings, start_progress, selected.names, setting
        )
        return MemberOutcomes(
            outcomes={outcome.name: outcome for outcome in result.outcomes},
            evaluation=result.evaluation,
            missing=result.missing,
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
        return MemberOutcomes(outcomes=known, evaluation=evaluation)
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
        both = {**known, **rest.outcomes}
        return replace(rest, outcomes={name: both[name] for name in wanted if name in both})
    opened = texts.parts if texts is not None else ()
    result = evaluate_task(
        selected.task, spec, settings, start_progress, selected.names, setting, opened
    )
    with suppress(MissingError):  # a disk that cannot be written costs time, not the result
        result.save(place.evaluations, selected.stored_name(setting))
    return MemberOutcomes(
        outcomes={**known, **{outcome.name: outcome for outcome in result.outcomes}},
        evaluation=result.evaluation,
        missing=result.missing,
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
        selected.definition.averages(datasets, selected.evaluation_name())
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
                items=items,
                points=points,
                task=task,
                metric=metric,
                dataset=dataset,
            )
        )
    return evidence
