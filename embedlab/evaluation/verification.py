"""Compare two results of one task: how far their scores differ, with intervals where the outcomes behind the scores are stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import cast

import polars as pl

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.scores import ModelColumns, pair_table, with_scores
from embedlab.analysis.slices import ALL_SPLITS, joined_splits
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import compare_models
from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.source import Source, dataset_names
from embedlab.encoders.stored_scores import find_scores, member_folders
from embedlab.evaluation.frames import item_evidence
from embedlab.evaluation.outcomes import MemberOutcomes
from embedlab.evaluation.prefetch import plain_state
from embedlab.evaluation.selection import stored_selection
from embedlab.models.catalog import ModelSpec
from embedlab.models.fingerprint import spec_fingerprint
from embedlab.runs.outcomes import Outcomes, stored_outcomes
from embedlab.runs.results import ScoreKey, StoredResult, without_folder
from embedlab.runs.signature import data_part, part_differences
from embedlab.tasks.task import scale_of, scores_pairs

HALF_OF_LAST_DIGIT = 0.005  # scores are printed with two digits
FIRST, SECOND = "first", "second"
DICE = spec_fingerprint(ModelSpec(name="dice", kind="dice"), precision="float32")

Intervals = dict[ScoreKey, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class ResultPair:
    """Two results to compare, the files they come from, and where stored scores may be."""

    first: StoredResult
    second: StoredResult
    files: tuple[Path, Path]
    settings: Settings

    @cached_property
    def shared(self) -> dict[ScoreKey, tuple[float, float]]:
        """Return the numbers that both have, by the key of the first."""
        left = dict(self.second.scores)
        values = {}
        for key in sorted(self.first.scores, key=_is_dev):
            other = min((one for one in left if key.is_of(one)), key=_is_dev, default=None)
            if other is not None:
                values[key] = (self.first.scores[key], left.pop(other))
        return {key: values[key] for key in self.first.scores if key in values}

    @cached_property
    def differing(self) -> dict[ScoreKey, tuple[float, float]]:
        """Return the numbers that differ by half of the last printed digit or more, or that only one of them defines."""
        return {key: values for key, values in self.shared.items() if not _agree(*values)}

    @property
    def members(self) -> Iterator[tuple[StoredResult, Path, str]]:
        """Yield each member model as its result, the file of the result, and its fingerprint."""
        for result, file in zip((self.first, self.second), self.files, strict=True):
            yield from ((result, file, fingerprint) for fingerprint in result.signature.model)


@dataclass(frozen=True, kw_only=True)
class ScoreIntervals:
    """Intervals of second minus first in the tables' units, and why some or all are absent."""

    intervals: Intervals = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


def intervals_of(sides: ResultPair) -> ScoreIntervals:
    """Return the intervals of the scores that differ."""
    if not sides.differing:
        return ScoreIntervals()
    if sides.first.signature.model == sides.second.signature.model:
        return ScoreIntervals(reasons=(_what_changed(sides),))
    pairs = [key for key in sides.differing if scores_pairs(key.task)]
    items = [key for key in sides.differing if not scores_pairs(key.task)]
    found = [*([_of_pairs(sides, pairs)] if pairs else []), *([_of_items(sides, items)] if items else [])]
    intervals = {key: interval for one in found for key, interval in one.intervals.items()}
    return ScoreIntervals(intervals=intervals, reasons=tuple(dict.fromkeys(reason for one in found for reason in one.reasons)))


def _what_changed(sides: ResultPair) -> str:
    """Return what scores of the same vectors can differ by: the data, what else the signatures say, or nothing that they know."""
    first, second = (dict(part.rpartition("@")[::2] for part in one.signature.data) for one in (sides.first, sides.second))
    changed = [name for name, content in first.items() if second.get(name, content) != content]
    differing = [part.name for part in part_differences(sides.first.signature, sides.second.signature) if part.agreement == "differs"]
    if changed:
        return f"both are of the same vectors, on other pairs, items or gold scores: {', '.join(changed)} changed"
    if differing:
        return f"both are of the same vectors, with another {', '.join(differing)}"
    return "both are of the same vectors on the same data: a number was changed in a file, or another version computed it"


def _of_pairs(sides: ResultPair, keys: Sequence[ScoreKey]) -> ScoreIntervals:
    wanted = [key for key in keys if key.metric == "spearman"]
    if not wanted:
        return ScoreIntervals(reasons=tuple(_unexplained(keys, {})))
    stored = {fingerprint: find_scores(fingerprint, sides.settings, file) for _, file, fingerprint in sides.members if fingerprint != DICE}
    lacking = [
        f"{result.model}: no scores of pairs are stored under {fingerprint}"
        for result, _, fingerprint in sides.members
        if fingerprint != DICE and stored[fingerprint] is None
    ]
    parts, absent = _open(sides)
    if lacking or not parts:
        return ScoreIntervals(reasons=(*lacking, *absent))
    table = with_scores(pair_table(parts), {name: scores for name, scores in stored.items() if scores is not None})
    table = table.with_columns(pl.col("dice").alias(DICE))
    intervals: Intervals = {}
    for by, aggregate, is_whole in dict.fromkeys(map(_table_of, wanted)):
        pairs = joined_splits(table) if is_whole else table
        found = compare_models(pairs, _columns(sides), by=by, aggregate=cast("Aggregate", aggregate), cache=sides.settings.cache)
        own = [key for key in wanted if _table_of(key) == (by, aggregate, is_whole)]
        intervals |= _intervals(sides, own, found.slices)
    return ScoreIntervals(intervals=intervals, reasons=(*absent, *_unexplained(keys, intervals)))


def _table_of(key: ScoreKey) -> tuple[str, str, bool]:
    """Return how the pairs of a score are grouped: by what, in which aggregation, and whether the splits of a dataset are one."""
    return key.by, key.setting, ALL_SPLITS in key.slice


def _of_items(sides: ResultPair, keys: Sequence[ScoreKey]) -> ScoreIntervals:
    intervals: Intervals = {}
    members = list(dict.fromkeys(fingerprint for _, _, fingerprint in sides.members))
    lacking = []
    for task in (task for task in sides.first.signature.task if not scores_pairs(task) and task in sides.second.signature.task):
        outcomes = {name: _outcomes(task, name, result, sides.settings, file) for result, file, name in sides.members}
        lacking += [
            f"{result.model}: no outcomes on {task} are stored under {fingerprint}"
            for result, _, fingerprint in sides.members
            if not outcomes[fingerprint]
        ]
        common = set.intersection(*(set(own) for own in outcomes.values()))
        if not common:
            continue
        selected = stored_selection(task)
        if selected is None:
            lacking.append(f"the task {task} is not available")
            continue
        answers = {member: _answers({name: own[name] for name in own if name in common}) for member, own in outcomes.items()}
        slices = compare_evidence(item_evidence(selected, answers, members), _columns(sides), FIRST)
        intervals |= _intervals(sides, keys, slices)
    return ScoreIntervals(intervals=intervals, reasons=(*lacking, *(() if lacking else _unexplained(keys, intervals))))


def _intervals(
    sides: ResultPair, keys: Sequence[ScoreKey], slices: Sequence[ComparedSlice]
) -> Iterator[tuple[ScoreKey, tuple[float, float]]]:
    """Yield the interval of each of KEYS whose stored scores agree with the numbers in the results."""
    names = {(without_folder(one.key.removesuffix(f" {one.metric}"), sides.first.signature), one.metric): one for one in slices}
    for key in keys:
        one = names.get((key.slice, key.metric))
        if one is None:
            continue
        scale = scale_of(one.task, one.metric)
        stored = (scale * one.scores[FIRST].value, scale * one.scores[SECOND].value)
        difference = one.differences[SECOND]
        if all(map(_agree, stored, sides.shared[key])) and not isnan(difference.low):
            yield key, (scale * difference.low, scale * difference.high)


def _unexplained(keys: Iterable[ScoreKey], intervals: Mapping[ScoreKey, object]) -> Iterator[str]:
    lacking = [key for key in keys if key not in intervals]
    without = [key for key in lacking if key.metric == "pearson" and scores_pairs(key.task)]
    if without:
        yield "Pearson's correlations of similarities have none"
    if any(_is_dev(key) for key in lacking):
        yield "scores that chose a setting (dev) have none"
    if any(key not in without and not _is_dev(key) for key in lacking):
        yield "the rows of a score are not stored, are too few, or give another score now"


def _columns(sides: ResultPair) -> list[ModelColumns]:
    """Return both results as models, their members named by fingerprint; only a recipe has several seeds without naming one."""
    named = ((FIRST, sides.first), (SECOND, sides.second))
    return [
        ModelColumns(
            name=name,
            members=result.signature.model,
            # The mapping from seeds to members does not matter.
            seeds=tuple(range(len(result.signature.model))) if result.signature.seeds and "@" not in result.model else (),
        )
        for name, result in named
    ]


def _open(sides: ResultPair) -> tuple[list[Part], list[str]]:
    """Return the pairs that both results used, where they are available and unchanged, and messages for the others."""
    parts, absent = [], []
    source, shipped = Source.from_settings(sides.settings), set(dataset_names("sts"))
    for wanted in (part for part in sides.first.signature.data if part in sides.second.signature.data):
        name, _, split = wanted.rpartition("@")[0].rpartition("/")
        if name not in shipped and split != "all":  # of another task
            continue
        places = [name] if name in shipped else _own_files(sides, name)
        try:
            found = [source.open(place, split if name in shipped else None) for place in places]
        except EmbedlabError as error:
            absent.append(error.message)
            continue
        same = [part for part in found if data_part(plain_state(part.state)) == wanted]
        parts += same[:1]
        absent += [f"{name} is not available in the version that was scored"] if places and not same else []
    return parts, absent


def _own_files(sides: ResultPair, name: str) -> list[str]:
    """Return the paths from which either result read a user's own file of pairs."""
    keys = (key for one in (sides.first, sides.second) for key in one.scores if scores_pairs(key.task))
    return list(dict.fromkeys(key.typed for key in keys if key.slice == name))


def _outcomes(task: str, fingerprint: str, result: StoredResult, settings: Settings, file: Path) -> dict[str, Outcomes]:
    """Return a member's stored outcomes by dataset, on the data of RESULT."""
    for folder in member_folders(fingerprint, settings, file):
        found = {
            one.name: one
            for one in stored_outcomes(folder / "evaluations", task)
            if fingerprint in {one.fingerprint, one.earlier_fingerprint}
            and {data_part(part) for part in one.data} <= {*result.signature.data}
        }
        if found:
            return found
    return {}


def _answers(outcomes: Mapping[str, Outcomes]) -> MemberOutcomes:
    return MemberOutcomes(outcomes=outcomes, scores=(), overlaps={}, marks=(), notes=())


def _is_dev(key: ScoreKey) -> bool:
    """Return whether a score chose a setting: a file without splits shows the other score."""
    return key.split == "dev"


def _agree(first: float, second: float) -> bool:
    return isnan(first) and isnan(second) if isnan(first) or isnan(second) else abs(first - second) < HALF_OF_LAST_DIGIT
