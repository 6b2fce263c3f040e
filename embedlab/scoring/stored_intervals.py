"""Intervals of one model's stored scores, from the similarities and outcomes that are stored with
them: no sentence is encoded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.comparison import compare_outcomes
from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.pair_parts import OTHER_SPLITS
from embedlab.data.source import Source, dataset_names
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.parts import StoredPart
from embedlab.runs.signature import data_part
from embedlab.scoring.selection import stored_selection
from embedlab.scoring.stored_frames import StoredMember, WantedPart, stored_frame, unchanged_parts
from embedlab.tasks.task import Task

_MODEL = "model"
_HALF_OF_LAST_DIGIT = 0.005  # scores are printed with two digits

Key = tuple[str, str, str | None]  # the slice, metric and split of a score
Intervals = Mapping[Key, tuple[float, float]]  # in the units of stored scores


@dataclass(frozen=True, kw_only=True)
class StoredIntervals:
    """Intervals of scores, and why others have none."""

    intervals: Intervals = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def of(self, score: StoredScore) -> tuple[float, float] | None:
        """Return the interval of a score of a dataset or an average; None where there is none."""
        return self.intervals.get(_key(score)) if _has_own(score) else None


def _has_own(score: StoredScore) -> bool:
    return score.by in {"dataset", "average"} and score.setting not in {"mean", "wmean"}


def _key(score: StoredScore) -> Key:
    return score.slice, score.metric, score.split


def stored_intervals(
    evaluation: Evaluation, place: ScorePlace, settings: Settings
) -> StoredIntervals:
    """Return the 95% intervals of the scores of EVALUATION, whose model has its scores in PLACE."""
    selected = stored_selection(evaluation.task)
    if selected is None:
        return StoredIntervals()
    member = StoredMember(
        name=_MODEL,
        title=evaluation.model,
        fingerprint=place.fingerprint,
        scores=lambda: None if (scores := place.read().scores).is_empty() else scores,
        answers=lambda task: _outcomes(evaluation, place, task),
    )
    try:
        frame = stored_frame(
            evaluation.task,
            selected,
            [member],
            lambda task: _open(evaluation, task, settings),
            settings.cache,
        )
    except EmbedlabError as error:
        return StoredIntervals(reasons=(error.message,))
    if (outcomes := frame.outcomes(False)) is None:
        return StoredIntervals(reasons=frame.absent)
    slices = compare_outcomes(outcomes, [ModelColumns(name=_MODEL, members=(_MODEL,))]).slices
    return StoredIntervals(intervals=dict(_agreeing(evaluation, slices)), reasons=frame.absent)


def _open(
    evaluation: Evaluation, task: Task, settings: Settings
) -> tuple[list[Part], tuple[str, ...]]:
    """Return the pairs of EVALUATION that are available as they were scored, and messages for the
    others, in a line or two.
    """
    states = [
        state for state in evaluation.data if state.get("split") not in OTHER_SPLITS
    ]  # others are for fifths alone
    wanted = [_wanted(str(state["name"]), state) for state in states]
    opened = list(
        unchanged_parts(wanted, task, Source.from_settings(replace(settings, offline=True)))
    )
    reasons = [reason for part, reason in opened if part is None]
    more = (
        [f"{len(reasons) - 1} more of its datasets are not available"]
        if len(reasons) > 2
        else reasons[1:]
    )
    return [part for part, _ in opened if part is not None], (*reasons[:1], *more)


def _wanted(name: str, state: StoredPart) -> WantedPart:
    split = str(state["split"]) if state.get("split") and name in dataset_names() else None
    return WantedPart(name=name, split=split, content=data_part(state), paths=[name])


def _outcomes(evaluation: Evaluation, place: ScorePlace, task: str) -> dict[str, StoredOutcomes]:
    read = {*map(data_part, evaluation.data)}
    return {
        outcome.name: outcome
        for outcome in stored_outcomes(place.evaluations, task)
        if place.counts(outcome.fingerprint) and {*map(data_part, outcome.data)} <= read
    }


def _agreeing(
    evaluation: Evaluation, slices: Sequence[ComparedSlice]
) -> Iterator[tuple[Key, tuple[float, float]]]:
    """Yield the intervals of slices whose score is the stored one: another has other rows behind
    it.
    """
    stored = {
        (score.slice, score.metric): score
        for score in sorted(evaluation.scores, key=_is_test)
        if _has_own(score)
    }
    for compared in slices:
        stored_score, score = (
            stored.get((compared.slice_key, compared.metric)),
            compared.scores[_MODEL],
        )
        if (
            stored_score is not None
            and abs(stored_score.value - score.value) < _HALF_OF_LAST_DIGIT / stored_score.scale
            and not isnan(score.low)
        ):
            yield _key(stored_score), (score.low, score.high)


def _is_test(score: StoredScore) -> bool:
    return score.split != "dev"
