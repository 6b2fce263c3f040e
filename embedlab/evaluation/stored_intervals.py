"""Intervals of one model's stored scores, from the similarities and outcomes that are stored with them: no sentence is encoded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.scores import ModelColumns, pair_table, with_scores
from embedlab.comparison.comparison import compare_models
from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.pair_parts import OTHER_SPLITS
from embedlab.data.source import Source, dataset_names
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.evaluation.frames import item_evidence
from embedlab.evaluation.outcomes import MemberOutcomes
from embedlab.evaluation.prefetch import plain_state
from embedlab.evaluation.selection import stored_selection
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import stored_outcomes
from embedlab.runs.signature import data_part
from embedlab.tasks.task import task as find_task

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


def stored_intervals(evaluation: Evaluation, place: ScorePlace, settings: Settings) -> StoredIntervals:
    """Return the 95% intervals of the scores of EVALUATION, whose model has its scores in PLACE."""
    if evaluation.is_of_pairs:
        slices, reasons = _of_pairs(evaluation, place, settings)
    else:
        slices, reasons = _of_items(evaluation, place), ()
    return StoredIntervals(intervals=dict(_agreeing(evaluation, slices)), reasons=reasons)


def _of_pairs(evaluation: Evaluation, place: ScorePlace, settings: Settings) -> tuple[Sequence[ComparedSlice], tuple[str, ...]]:
    """Return the slices of the pairs that are available as they were scored, and messages for the others."""
    try:
        scores = place.read().scores
    except EmbedlabError as error:
        return (), (error.message,)
    parts, reasons = _open(evaluation, settings)
    if scores.is_empty() or not parts:
        return (), reasons
    table = with_scores(pair_table(parts), {_MODEL: scores})
    averages = find_task(evaluation.task).averages([part.state.name for part in parts], evaluation.task)
    found = compare_models(
        table, [ModelColumns(name=_MODEL, members=(_MODEL,))], task=evaluation.task, averages=averages, cache=settings.cache
    )
    return found.slices, reasons


def _open(evaluation: Evaluation, settings: Settings) -> tuple[list[Part], tuple[str, ...]]:
    source, parts, reasons = Source.from_settings(replace(settings, offline=True)), [], []
    for state in evaluation.data:
        name, split = str(state["name"]), state.get("split")
        if split in OTHER_SPLITS:  # for fifths alone
            continue
        try:
            part = source.open(name, str(split) if name in dataset_names("sts") and split else None)
        except EmbedlabError as error:
            reasons.append(error.message)
            continue
        if data_part(plain_state(part.state)) == data_part(state):
            parts.append(part)
        else:
            reasons.append(f"{name} is not available in the version that was scored")
    more = [f"{len(reasons) - 1} more of its datasets are not available"] if len(reasons) > 2 else reasons[1:]
    return parts, (*reasons[:1], *more)


def _of_items(evaluation: Evaluation, place: ScorePlace) -> Sequence[ComparedSlice]:
    outcomes = {
        one.name: one
        for one in stored_outcomes(place.evaluations, evaluation.task)
        if place.counts(one.fingerprint) and {*map(data_part, one.data)} <= {*map(data_part, evaluation.data)}
    }
    selected = stored_selection(evaluation.task)
    if not outcomes or selected is None:
        return ()
    answers = MemberOutcomes(outcomes=outcomes, scores=(), overlaps={}, marks=(), notes=())
    found = item_evidence(selected, {_MODEL: answers}, [_MODEL])
    return compare_evidence(found, [ModelColumns(name=_MODEL, members=(_MODEL,))], _MODEL)


def _agreeing(evaluation: Evaluation, slices: Sequence[ComparedSlice]) -> Iterator[tuple[Key, tuple[float, float]]]:
    """Yield the intervals of slices whose score is the stored one: another has other rows behind it."""
    stored = {(one.slice, one.metric): one for one in sorted(evaluation.scores, key=_is_test) if _has_own(one)}
    for one in slices:
        found, score = stored.get((one.key.removesuffix(f" {one.metric}"), one.metric)), one.scores[_MODEL]
        if found is not None and abs(found.value - score.value) < _HALF_OF_LAST_DIGIT / found.scale and not isnan(score.low):
            yield _key(found), (score.low, score.high)


def _is_test(score: StoredScore) -> bool:
    return score.split != "dev"
