"""Intervals of one model's stored scores, from the similarities and outcomes that are stored with
them: no sentence is encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING

from embedlab.analysis.evidence import ModelColumns
from embedlab.comparison.comparison import compare_outcomes
from embedlab.outcomes.stored import join_members
from embedlab.runs.outcomes import stored_outcomes
from embedlab.runs.signature import data_part
from embedlab.scoring.selection import stored_selection

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice
    from embedlab.core.settings import Settings
    from embedlab.encoders.score_place import ScorePlace
    from embedlab.runs.evaluations import Evaluation, StoredScore

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
        return self.intervals.get(_key(score)) if _has_interval(score) else None


def _has_interval(score: StoredScore) -> bool:
    return score.by in {"dataset", "average"} and score.setting not in {"mean", "wmean"}


def _key(score: StoredScore) -> Key:
    return score.slice, score.metric, score.split


def stored_intervals(
    evaluation: Evaluation, score_place: ScorePlace, settings: Settings
) -> StoredIntervals:
    """Return the 95% intervals of the scores of EVALUATION; SCORE PLACE is where its model
    has them.
    """
    selected = stored_selection(evaluation.task)
    if selected is None:
        return StoredIntervals()
    evaluation_data = {*map(data_part, evaluation.data)}
    stored = [
        outcomes
        for outcomes in stored_outcomes(score_place.evaluations, evaluation.task)
        if outcomes.fingerprint == score_place.fingerprint
        and {*map(data_part, outcomes.data)} <= evaluation_data
    ]
    outcomes = join_members(
        {_MODEL: stored},
        [_MODEL],
        cache=settings.cache,
        averages={
            evaluation.task: selected.averages(
                [dataset_outcomes.name for dataset_outcomes in stored]
            )
        },
        mixed_metrics={evaluation.task: selected.definition.mixed_metric},
    )
    if outcomes is None:
        return StoredIntervals(reasons=("what it predicted of each item is not stored",))
    slices = compare_outcomes(outcomes, [ModelColumns(name=_MODEL, members=(_MODEL,))]).slices
    return StoredIntervals(intervals=dict(_matching_intervals(evaluation, slices)))


def _matching_intervals(
    evaluation: Evaluation, slices: Sequence[ComparedSlice]
) -> Iterator[tuple[Key, tuple[float, float]]]:
    """Yield the intervals of slices whose score is the stored one: another has other rows behind
    it.
    """
    stored = {
        (score.slice, score.metric): score
        for score in sorted(evaluation.scores, key=_is_test)
        if _has_interval(score)
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
