"""Intervals of one model's stored scores, from the outcomes that are stored with them: nothing is
encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING

from embedlab.analysis.evidence import ModelColumns
from embedlab.comparison.comparison import compare_outcomes
from embedlab.outcomes.stored import join_members
from embedlab.runs.outcomes import stored_outcomes
from embedlab.runs.signature import data_part
from embedlab.scoring.selection import stored_selection

if TYPE_CHECKING:
    from embedlab.core.settings import Settings
    from embedlab.encoders.score_place import ScorePlace
    from embedlab.runs.evaluations import Evaluation, StoredScore

_MODEL = "model"
_HALF_OF_LAST_DIGIT = 0.005  # scores are printed with two digits

Intervals = Mapping["StoredScore", tuple[float, float]]
"""The 95% intervals of those scores that have one, in their units."""


def stored_intervals(
    evaluation: Evaluation, score_place: ScorePlace, settings: Settings
) -> Intervals | None:
    """Return the intervals of the scores of EVALUATION, whose model has them in SCORE PLACE; None
    where what it predicted of each item is not stored.

    A score that another number would be computed for now has other rows behind it, and no interval.
    """
    selected = stored_selection(evaluation.task)
    if selected is None:
        return {}
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
        return None
    slices = compare_outcomes(outcomes, [ModelColumns(name=_MODEL, members=(_MODEL,))]).slices
    computed = {(row.slice_key, row.metric): row.scores[_MODEL] for row in slices}
    # of a test score and the dev score that chose a setting, the first has the items
    stored_scores = {
        (score.slice, score.metric): score
        for score in sorted(evaluation.scores, key=lambda score: score.split != "dev")
        if score.by in {"dataset", "average"} and score.setting not in {"mean", "wmean"}
    }
    return {
        score: (computed[key].low, computed[key].high)
        for key, score in stored_scores.items()
        if key in computed
        and abs(score.value - computed[key].value) < _HALF_OF_LAST_DIGIT / score.scale
        and not isnan(computed[key].low)
    }
