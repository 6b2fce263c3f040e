"""Evidence on a slice before models are compared: each member's score and the contribution of each row to it."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import combine, correlated_groups, pearson, spearman
from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.influence import (
    ClassMetric,
    Floats,
    Labels,
    metric_influence,
    metric_value,
    pearson_influences,
    spearman_influences,
)
from embedlab.analysis.paired_tests import dependent_correlations, mcnemar_table
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.slices import Slice, slices
from embedlab.choices import Aggregate, By, Correlation
from embedlab.core.note import Note

STS_YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
STS_AVERAGES: Mapping[str, tuple[str, ...]] = {"sts12-16": STS_YEARS, "average of seven": (*STS_YEARS, "sts-benchmark", "sick-r")}

PairTest = Literal["dyadic", "williams", "steiger"]
ClosedTest = Literal["mcnemar", "williams", "steiger"]

TextIds = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SliceRows:
    """The rows behind a slice's scores."""

    contributions: Floats  # (members, rows): contribution of each row to the error of each score; nan for a member without a score
    texts: TextIds  # (rows, 2): numbers of a row's two sentences, twice the same for a single one
    groups: NDArray[np.intp]  # (rows,): contributions sum to zero within each

    @cached_property
    def shared(self) -> SharedSentences:
        """Which rows share a sentence."""
        return SharedSentences.of(self.texts[:, 0], self.texts[:, 1], self.groups)

    def of_members(self, members: Sequence[int]) -> "SliceRows":
        """The rows of some members, given by their numbers; which rows share a sentence is found once for all of them."""
        part = replace(self, contributions=self.contributions[members])
        part.__dict__["shared"] = self.shared  # where the cached property puts it
        return part


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One slice: a row of evidence for each member column."""

    key: str
    title: str
    pairs: int  # or items
    points: Floats  # (members,) the score of each member
    rows: SliceRows | None = None  # None where a number has no items: it is shown, not tested
    notes: tuple[str, ...] = ()
    average_of: tuple[str, ...] = ()
    task: str = "sts"
    metric: str = "spearman"
    closed_p: Mapping[ClosedTest, Floats] = field(default_factory=dict)  # (members, members) p of tests for independent rows

    def of_members(self, members: Sequence[int]) -> "Evidence":
        """The evidence of some members, given by their numbers, in this order."""
        closed_p = {test: p[np.ix_(members, members)] for test, p in self.closed_p.items()}
        rows = self.rows.of_members(members) if self.rows is not None else None
        return replace(self, points=self.points[members], rows=rows, closed_p=closed_p)


def pair_evidence(
    table: pl.DataFrame,
    models: Sequence[ModelColumns],
    *,
    by: By = "dataset",
    aggregate: Aggregate = "all",
    test: PairTest = "dyadic",
    task: str = "sts",
    averages: Mapping[str, Sequence[str]] = STS_AVERAGES,
    common: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Evidence]:
    """Return the evidence of the pairs of TABLE, which TASK evaluates, on MODELS, slice by slice, with the AVERAGES of datasets.

    A member that does not score every pair of a slice has no score there, and the others keep theirs on all pairs; with COMMON all
    have theirs on the pairs that all of them score.
    """
    numbered, columns = table.with_columns(sentence_numbers(table)), member_columns(models)
    parts, evidence = slices(numbered, by, common=columns if common else ()), []
    for done, part in enumerate(parts):
        evidence.append(_of_pairs(task, part, columns, aggregate, test))
        if progress:
            progress(done + 1, len(parts))
    return [*evidence, *(_averages(evidence, averages) if by == "dataset" else ())]


def item_evidence(
    task: str, name: str, gold: Labels, predicted: Mapping[int, Labels], members: int, *, metric: ClassMetric, texts: TextIds | None = None
) -> Evidence:
    """Return evidence of a dataset of classified items: PREDICTED has class indices by member number; members without any have no score.

    texts: (items, 2) numbers of each item's sentences; None where they are unknown and items count as independent.
    """
    there = list(predicted)
    points, moved = np.full(members, np.nan), np.full((members, len(gold)), np.nan)
    points[there] = [metric_value(gold, one, metric) for one in predicted.values()]
    moved[there] = [metric_influence(gold, one, metric) for one in predicted.values()]
    correct = np.array([one == gold for one in predicted.values()])
    return Evidence(
        key=name,
        title=name,
        pairs=len(gold),
        points=points,
        rows=_rows(moved, _own_numbers(f"{task} {name}", len(gold)) if texts is None else texts),
        task=task,
        metric=metric,
        closed_p={"mcnemar": _placed(mcnemar_table(correct), there, members)} if metric == "accuracy" else {},
    )


def score_evidence(
    task: str, name: str, gold: Floats, predicted: Mapping[int, Floats], members: int, *, metric: Correlation, texts: TextIds | None = None
) -> Evidence:
    """Return the evidence of one dataset with scored items: PREDICTED has their scores by member number."""
    correlation, influences = (spearman, spearman_influences) if metric == "spearman" else (pearson, pearson_influences)
    there = list(predicted)
    points, moved = np.full(members, np.nan), np.full((members, len(gold)), np.nan)
    points[there] = [correlation(gold, scores) for scores in predicted.values()]
    moved[there] = influences(gold, list(predicted.values()))
    return Evidence(
        key=name,
        title=name,
        pairs=len(gold),
        points=points,
        rows=_rows(moved, _own_numbers(f"{task} {name}", len(gold)) if texts is None else texts),
        task=task,
        metric=metric,
    )


def average_evidence(name: str, parts: Sequence[Evidence], mixed_metric: str = "mean") -> Evidence:
    """Return the plain mean of several slices; a sentence in several of them counts as one.

    Where the slices have different metrics, that of their mean is MIXED_METRIC.
    """
    rows = [part.rows for part in parts if part.rows is not None]
    return Evidence(
        key=name,
        title=name,
        pairs=sum(part.pairs for part in parts),
        points=np.mean([part.points for part in parts], axis=0),
        rows=joined([(one, 1 / len(parts)) for one in rows]) if len(rows) == len(parts) else None,
        average_of=tuple(part.key for part in parts),
        task=parts[0].task,
        metric=parts[0].metric if len({part.metric for part in parts}) == 1 else mixed_metric,
    )


def joined(parts: Sequence[tuple[SliceRows, float]]) -> SliceRows:
    """Return the rows behind a weighted sum of scores, each part with its weight."""
    offsets = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part, _ in parts)])
    return SliceRows(
        contributions=np.concatenate([weight * part.contributions for part, weight in parts], axis=1),
        texts=np.concatenate([part.texts for part, _ in parts]),
        groups=np.concatenate([part.groups + offset for (part, _), offset in zip(parts, offsets, strict=False)]),
    )


def pair_rows(pairs: pl.DataFrame, columns: Sequence[str], aggregate: Aggregate) -> tuple[Floats, SliceRows | None]:
    """Return the aggregated Spearman of each of COLUMNS, (columns,), and the rows behind it; PAIRS have sentence numbers and no nulls."""
    gold, scores = pairs["gold"].to_numpy(), pairs.select(columns).to_numpy().T
    groups = correlated_groups(pairs, aggregate)
    points = combine(
        np.reshape([[spearman(gold[own], row[own]) for row in scores] for own in groups], (len(groups), len(columns))), groups, aggregate
    )
    if not groups or not pairs.height:
        return points, None
    weights = np.array([len(own) if aggregate == "wmean" else 1 for own in groups], dtype=np.float64)
    texts = pairs.select(_NUMBERS).to_numpy()
    moved = [
        (_rows(spearman_influences(gold[own], scores[:, own]), texts[own]), weight)
        for own, weight in zip(groups, weights / weights.sum(), strict=True)
    ]
    return points, joined(moved)


_NUMBERS = ("sentence1_number", "sentence2_number")


def sentence_numbers(table: pl.DataFrame) -> list[pl.Series]:
    """Return two columns that number the sentences of a pair table, equal text by equal numbers."""
    return [table[side].hash().alias(name) for side, name in zip(("sentence1", "sentence2"), _NUMBERS, strict=True)]


def member_columns(models: Sequence[ModelColumns]) -> list[str]:
    """Return the rows of evidence: each member of MODELS once, in order."""
    return list(dict.fromkeys(member for model in models for member in model.members))


def _of_pairs(task: str, part: Slice, columns: Sequence[str], aggregate: Aggregate, test: PairTest) -> Evidence:
    """Return the evidence of the pairs with a gold score; a member that does not score each of them has no score, and costs no pair."""
    pairs, members = part.pairs.with_columns(pl.col(columns).fill_nan(None)).drop_nulls("gold"), len(columns)
    there = [number for number, column in enumerate(columns) if not pairs[column].null_count()]
    own = [columns[number] for number in there]
    points, rows = pair_rows(pairs, own, aggregate) if own else (np.zeros(0), None)
    gold, scores = pairs["gold"].to_numpy(), pairs.select(own).to_numpy().T
    return Evidence(
        key=part.key,
        title=part.title,
        task=task,
        pairs=pairs.height,
        notes=(*part.notes, *_notes(part.pairs, pairs, columns, aggregate)),
        points=_spread(points, there, members),
        rows=rows and SliceRows(contributions=_spread(rows.contributions, there, members), texts=rows.texts, groups=rows.groups),
        closed_p={} if test == "dyadic" or not own else {test: _placed(dependent_correlations(gold, scores, test), there, members)},
    )


def _notes(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], aggregate: Aggregate) -> Iterator[str]:
    if after.height < before.height:
        yield f"{before.height - after.height} of {before.height} pairs left out, not scored by people"
    counts = {column: after[column].count() for column in columns}
    for count in sorted({count for count in counts.values() if count < after.height}):
        yield Note(f"no number of {', '.join(name for name in columns if counts[name] == count)}: {count} of {after.height} pairs scored")
    if after.height and aggregate != "all" and after["source"].null_count():
        yield f"no {aggregate}: its pairs name no source"


def _averages(evidence: Sequence[Evidence], averages: Mapping[str, Sequence[str]]) -> Iterator[Evidence]:
    """Yield the AVERAGES over datasets, where all of their datasets exist."""
    found = {one.key: one for one in evidence}
    for name, keys in averages.items():
        if found.keys() >= set(keys):
            yield average_evidence(name, [found[key] for key in keys])


def _rows(influence: Floats, texts: TextIds) -> SliceRows:
    """Rows of one centred group."""
    count = influence.shape[1]
    return SliceRows(contributions=influence / max(count, 1), texts=texts, groups=np.zeros(count, np.intp))


def _own_numbers(dataset: str, count: int) -> TextIds:
    """Return sentence numbers that are unique over all datasets, for items of unknown text."""
    start = np.uint64(zlib.crc32(dataset.encode())) << np.uint64(32)
    return np.repeat(start + np.arange(count, dtype=np.uint64)[:, None], 2, axis=1)


def _spread(values: Floats, there: Sequence[int], members: int) -> Floats:
    """Expand rows of the members that are THERE to one of each member, nan for the others."""
    whole = np.full((members, *values.shape[1:]), np.nan)
    whole[there] = values
    return whole


def _placed(p: Floats, there: Sequence[int], members: int) -> Floats:
    """Expand a table over the members that are THERE to one over all."""
    whole = np.full((members, members), np.nan)
    whole[np.ix_(there, there)] = p
    return whole
