"""Compare two results of one task: how far their scores differ, with intervals where the outcomes
behind the scores are stored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import get_args

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.evidence import ModelColumns
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Slicing, compare_outcomes
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.score_place import member_folders
from embedlab.models.catalog import ModelSpec
from embedlab.models.location import spec_fingerprint
from embedlab.outcomes.frame import ALL_SPLITS, join_splits
from embedlab.outcomes.stored import join_members
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.results import ScoreKey, StoredResult, without_folder
from embedlab.runs.signature import data_part, part_differences
from embedlab.scoring.selection import SelectedTask, stored_selection
from embedlab.tasks.task import scale_of
from embedlab.tasks.task import task as find_task

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
        unmatched = dict(self.second.scores)
        values = {}
        for key in sorted(self.first.scores, key=_is_dev):
            match = min(
                (score_key for score_key in unmatched if key.is_of(score_key)),
                key=_is_dev,
                default=None,
            )
            if match is not None:
                values[key] = (self.first.scores[key], unmatched.pop(match))
        return {key: values[key] for key in self.first.scores if key in values}

    @cached_property
    def differing_scores(self) -> dict[ScoreKey, tuple[float, float]]:
        """Return the numbers that differ by half of the last printed digit or more, or that only
        one of them defines.
        """
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
    if not sides.differing_scores:
        return ScoreIntervals()
    if sides.first.signature.model == sides.second.signature.model:
        return ScoreIntervals(reasons=(_what_changed(sides),))
    intervals: Intervals = {}
    reasons: list[str] = []
    remaining = dict.fromkeys(sides.differing_scores)
    for name in sides.first.signature.task:
        if name not in sides.second.signature.task:
            continue
        selected = stored_selection(name)
        tasks = {name} if selected is None else {name, selected.task}
        keys = [key for key in remaining if key.task in tasks]
        for key in keys:
            del remaining[key]
        if keys and selected is None:
            reasons.append(f"the task {name} is not available")
        elif keys and selected is not None:
            score_intervals = _task_intervals(sides, name, selected, keys)
            intervals |= score_intervals.intervals
            reasons += score_intervals.reasons
    return ScoreIntervals(
        intervals=intervals, reasons=tuple(dict.fromkeys([*reasons, *_unexplained(remaining, {})]))
    )


def _what_changed(sides: ResultPair) -> str:
    """Return why scores of the same vectors can differ: the data, another part of the signatures,
    or nothing that they record.
    """
    first, second = (
        dict(data_part.rpartition("@")[::2] for data_part in result.signature.data)
        for result in (sides.first, sides.second)
    )
    changed = [name for name, content in first.items() if second.get(name, content) != content]
    differing = [
        difference.name
        for difference in part_differences(sides.first.signature, sides.second.signature)
        if difference.agreement == "differs"
    ]
    if changed:
        return (
            f"both are of the same vectors, on other pairs, items or gold scores: "
            f"{', '.join(changed)} changed"
        )
    if differing:
        return f"both are of the same vectors, with another {', '.join(differing)}"
    return (
        "both are of the same vectors on the same data: a number was changed in a file, or "
        "another version computed it"
    )


def _task_intervals(
    sides: ResultPair, name: str, selected: SelectedTask, keys: Sequence[ScoreKey]
) -> ScoreIntervals:
    """Return the intervals of the numbers KEYS of the task that both results call NAME."""
    tested_keys = [key for key in keys if not _is_untested(key)]
    if not tested_keys:
        return ScoreIntervals(reasons=tuple(_unexplained(keys, {})))
    stored = {
        fingerprint: _outcomes(fingerprint, result, sides.settings, file, name)
        for result, file, fingerprint in sides.members
    }
    missing_outcomes = tuple(
        f"{result.model}: no outcomes on {name} are stored under {fingerprint}"
        for result, _, fingerprint in sides.members
        if not stored[fingerprint]
    )
    dataset_names = [[dataset.name for dataset in datasets] for datasets in stored.values()]
    common = set.intersection(*map(set, dataset_names))
    shared = {}
    for fingerprint, datasets in stored.items():
        shared[fingerprint] = [dataset for dataset in datasets if dataset.name in common]
    outcomes = join_members(
        shared,
        [*stored],
        cache=sides.settings.cache,
        averages={name: selected.averages(dataset_names[0])},
        mixed_metrics={name: selected.definition.mixed_metric},
    )
    intervals: Intervals = {}
    for by, aggregate, is_joined in dict.fromkeys(map(_grouping_of_score, tested_keys)):
        score_keys = [
            key for key in tested_keys if _grouping_of_score(key) == (by, aggregate, is_joined)
        ]
        with suppress(UsageError):  # a property that these items do not have
            if outcomes is not None:
                items = join_splits(outcomes) if is_joined else outcomes
                slicing = Slicing(by=by, aggregate=aggregate)
                slices = compare_outcomes(items, _columns(sides), slicing).slices
                intervals |= _intervals(sides, score_keys, slices)
    unexplained = () if missing_outcomes else _unexplained(keys, intervals)
    return ScoreIntervals(
        intervals=intervals, reasons=tuple(dict.fromkeys((*missing_outcomes, *unexplained)))
    )


def _grouping_of_score(key: ScoreKey) -> tuple[str, Aggregate, bool]:
    """Return how the items of a score are grouped: by what, in which aggregation, and whether the
    splits of a dataset are one.
    """
    return (
        key.by,
        next((argument for argument in get_args(Aggregate) if argument == key.setting), "all"),
        ALL_SPLITS in key.slice,
    )


def _intervals(
    sides: ResultPair, keys: Sequence[ScoreKey], slices: Sequence[ComparedSlice]
) -> Iterator[tuple[ScoreKey, tuple[float, float]]]:
    """Yield the interval of each of KEYS whose stored scores agree with the numbers in the
    results.
    """
    names = {
        (
            without_folder(compared_slice.slice_key, sides.first.signature),
            compared_slice.metric,
        ): compared_slice
        for compared_slice in slices
    }
    for key in keys:
        compared = names.get((key.slice, key.metric))
        if compared is None:
            continue
        scale = scale_of(compared.task, compared.metric)
        stored = (scale * compared.scores[FIRST].value, scale * compared.scores[SECOND].value)
        difference = compared.differences[SECOND]
        if all(map(_agree, stored, sides.shared[key])) and not isnan(difference.low):
            yield key, (scale * difference.low, scale * difference.high)


def _unexplained(keys: Iterable[ScoreKey], intervals: Mapping[ScoreKey, object]) -> Iterator[str]:
    missing_keys = [key for key in keys if key not in intervals]
    untested_keys = [key for key in missing_keys if _is_untested(key)]
    if untested_keys:
        yield "Pearson's correlations of similarities have none"
    if any(_is_dev(key) for key in missing_keys):
        yield "scores that chose a setting (dev) have none"
    if any(key not in untested_keys and not _is_dev(key) for key in missing_keys):
        yield "the rows of a score are not stored, are too few, or give another score now"


def _is_untested(key: ScoreKey) -> bool:
    """Return whether the task of a number measures it without testing it: Pearson's correlation
    beside Spearman's of similarities.
    """
    selected = stored_selection(key.task) if key.task else None
    return (
        key.metric == "pearson"
        and selected is not None
        and key.metric not in find_task(selected.task).measures(key.slice)
    )


def _columns(sides: ResultPair) -> list[ModelColumns]:
    """Return both results as models, their members named by fingerprint; only a recipe has several
    seeds without naming one.
    """
    named_results = ((FIRST, sides.first), (SECOND, sides.second))
    return [
        ModelColumns(
            name=name,
            members=result.signature.model,
            # The mapping from seeds to members does not matter.
            seeds=tuple(range(len(result.signature.model)))
            if result.signature.seeds and "@" not in result.model
            else (),
        )
        for name, result in named_results
    ]


def _outcomes(
    fingerprint: str, result: StoredResult, settings: Settings, file: Path, task: str
) -> list[StoredOutcomes]:
    """Return a member's stored outcomes of each dataset, on the data of RESULT."""
    for folder in member_folders(fingerprint, settings, file):
        if outcomes := [
            outcome
            for outcome in stored_outcomes(folder / "evaluations", task)
            if fingerprint == outcome.fingerprint
            and {data_part(part) for part in outcome.data} <= {*result.signature.data}
        ]:
            return outcomes
    return []


def _is_dev(key: ScoreKey) -> bool:
    """Return whether a score chose a setting: a file without splits shows the other score."""
    return key.split == "dev"


def _agree(first: float, second: float) -> bool:
    return (
        isnan(first) and isnan(second)
        if isnan(first) or isnan(second)
        else abs(first - second) < HALF_OF_LAST_DIGIT
    )
