"""Compare two results of one task: how far their scores differ, with intervals where the outcomes
behind the scores are stored.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import cast, get_args

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.evidence import ModelColumns
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Slicing, compare_outcomes
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.score_place import member_folders
from embedlab.outcomes.frame import ALL_SPLITS, join_splits
from embedlab.outcomes.stored import join_members
from embedlab.runs.outcomes import StoredOutcomes, stored_outcomes
from embedlab.runs.results import ScoreKey, StoredResult, without_folder
from embedlab.runs.signature import DifferenceKind, PartDifference, data_part, part_differences
from embedlab.scoring.selection import SelectedTask, stored_selection
from embedlab.tasks.task import scale_of
from embedlab.tasks.task import task as find_task

HALF_OF_LAST_DIGIT = 0.005  # scores are printed with two digits
FIRST, SECOND = "first", "second"

Intervals = dict[ScoreKey, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class ResultPair:
    """Two results to compare, the files they come from, and where stored scores may be."""

    first: StoredResult
    second: StoredResult
    files: tuple[Path, Path]
    settings: Settings

    @cached_property
    def parts(self) -> list[PartDifference]:
        """Return the parts of their signatures that differ."""
        return part_differences(self.first.signature, self.second.signature)

    def parts_of(self, agreement: DifferenceKind) -> list[str]:
        """Return the names of the parts that differ in one way."""
        return [part.name for part in self.parts if part.agreement == agreement]

    @property
    def tasks(self) -> list[str]:
        """Return the tasks that both are of, as evaluations name them."""
        second_tasks = self.second.signature.task
        return [task for task in self.first.signature.task if task in second_tasks]

    @cached_property
    def shared(self) -> dict[ScoreKey, tuple[float, float]]:
        """Return the numbers that both have, by the key of the first."""
        unmatched = sorted(self.second.scores, key=_is_dev)
        match_of_key = {}
        for key in sorted(self.first.scores, key=_is_dev):
            match = next((other for other in unmatched if key.is_of(other)), None)
            if match is not None:
                unmatched.remove(match)
                match_of_key[key] = match
        return {
            key: (value, self.second.scores[match_of_key[key]])
            for key, value in self.first.scores.items()
            if key in match_of_key
        }

    @cached_property
    def differing_scores(self) -> dict[ScoreKey, tuple[float, float]]:
        """Return the numbers that differ by half of the last printed digit or more, or that only
        one of them defines.
        """
        return {key: values for key, values in self.shared.items() if not _agree(*values)}


def intervals_of(sides: ResultPair) -> tuple[Intervals, list[str]]:
    """Return the intervals of the scores that differ, second minus first in the tables' units, and
    why some or all are absent.
    """
    if not sides.differing_scores:
        return {}, []
    if sides.first.signature.model == sides.second.signature.model:
        return {}, [_what_changed(sides)]
    intervals: Intervals = {}
    reasons: list[str] = []
    remaining = [*sides.differing_scores]
    for name in sides.tasks:
        selected = stored_selection(name)
        tasks = {name} if selected is None else {name, selected.task}
        keys = [key for key in remaining if key.task in tasks]
        remaining = [key for key in remaining if key not in keys]
        if selected is None:
            reasons += [f"the task {name} is not available"] * bool(keys)
        else:
            task_intervals, task_reasons = _task_intervals(sides, name, selected, keys)
            intervals |= task_intervals
            reasons += task_reasons
    reasons += _unexplained(remaining)
    return intervals, [*dict.fromkeys(reasons)]


def _what_changed(sides: ResultPair) -> str:
    """Return why scores of the same vectors can differ: the data, another part of the signatures,
    or nothing that they record.
    """
    first, second = (
        dict(part.rpartition("@")[::2] for part in result.signature.data)
        for result in (sides.first, sides.second)
    )
    changed = [name for name, content in first.items() if second.get(name, content) != content]
    differing = sides.parts_of("differs")
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
) -> tuple[Intervals, list[str]]:
    """Return the intervals of the numbers KEYS of the task that both results call NAME, and why
    some have none.
    """
    keys_by_grouping: dict[tuple[str, Aggregate, bool], list[ScoreKey]] = {}
    for key in keys:
        if not _is_untested(key):
            aggregate: Aggregate = "all"
            if key.setting in get_args(Aggregate):
                aggregate = cast("Aggregate", key.setting)
            grouping = key.by, aggregate, ALL_SPLITS in key.slice
            keys_by_grouping.setdefault(grouping, []).append(key)
    if not keys_by_grouping:
        return {}, _unexplained(keys)
    stored: dict[str, list[StoredOutcomes]] = {}
    missing: list[str] = []
    for result, file in zip((sides.first, sides.second), sides.files, strict=True):
        for fingerprint in result.signature.model:
            stored[fingerprint] = _outcomes(fingerprint, result, sides.settings, file, name)
            if not stored[fingerprint]:
                missing.append(
                    f"{result.model}: no outcomes on {name} are stored under {fingerprint}"
                )
    if missing:
        return {}, missing
    names = [[dataset.name for dataset in datasets] for datasets in stored.values()]
    common = set.intersection(*map(set, names))
    outcomes = join_members(
        {
            fingerprint: [dataset for dataset in datasets if dataset.name in common]
            for fingerprint, datasets in stored.items()
        },
        [*stored],
        cache=sides.settings.cache,
        averages={name: selected.averages(names[0])},
        mixed_metrics={name: selected.definition.mixed_metric},
    )
    intervals: Intervals = {}
    if outcomes is not None:
        for (by, aggregate, is_joined), grouped_keys in keys_by_grouping.items():
            items = join_splits(outcomes) if is_joined else outcomes
            slicing = Slicing(by=by, aggregate=aggregate)
            with suppress(UsageError):  # a property that these items do not have
                slices = compare_outcomes(items, [*_columns(sides)], slicing).slices
                intervals |= _intervals(sides, grouped_keys, slices)
    return intervals, _unexplained([key for key in keys if key not in intervals])


def _intervals(
    sides: ResultPair, keys: Sequence[ScoreKey], slices: Sequence[ComparedSlice]
) -> Iterator[tuple[ScoreKey, tuple[float, float]]]:
    """Yield the interval of each of KEYS whose stored scores agree with the numbers in the
    results.
    """
    signature = sides.first.signature
    slice_of_name = {
        (without_folder(compared.slice_key, signature), compared.metric): compared
        for compared in slices
    }
    for key in keys:
        compared = slice_of_name.get((key.slice, key.metric))
        if compared is None:
            continue
        scale = scale_of(compared.task, compared.metric)
        stored = [scale * compared.scores[name].value for name in (FIRST, SECOND)]
        difference = compared.differences[SECOND]
        if all(map(_agree, stored, sides.shared[key])) and not isnan(difference.low):
            yield key, (scale * difference.low, scale * difference.high)


def _unexplained(keys: Sequence[ScoreKey]) -> list[str]:
    """Return why KEYS have no interval where all outcomes are stored."""
    untested = [key for key in keys if _is_untested(key)]
    reasons = {
        "Pearson's correlations of similarities have none": bool(untested),
        "scores that chose a setting (dev) have none": any(map(_is_dev, keys)),
        "the rows of a score are not stored, are too few, or give another score now": any(
            key not in untested and not _is_dev(key) for key in keys
        ),
    }
    return [reason for reason, applies in reasons.items() if applies]


def _is_untested(key: ScoreKey) -> bool:
    """Return whether the task of a number measures it without testing it: Pearson's correlation
    beside Spearman's of similarities.
    """
    selected = stored_selection(key.task) if key.task and key.metric == "pearson" else None
    return selected is not None and key.metric not in find_task(selected.task).measures(key.slice)


def _columns(sides: ResultPair) -> Iterator[ModelColumns]:
    """Yield both results as models, their members named by fingerprint; only a recipe has several
    seeds without naming one.
    """
    for name, result in ((FIRST, sides.first), (SECOND, sides.second)):
        members = result.signature.model
        has_seeds = result.signature.seeds and "@" not in result.model
        # The mapping from seeds to members does not matter.
        seeds = tuple(range(len(members))) if has_seeds else ()
        yield ModelColumns(name=name, members=members, seeds=seeds)


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
    """Return whether two numbers are printed alike; what is no number is like its kind alone."""
    if isnan(first) or isnan(second):
        return isnan(first) and isnan(second)
    return abs(first - second) < HALF_OF_LAST_DIGIT
