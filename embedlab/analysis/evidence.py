"""Evidence on a slice before models are compared: the models, each member's score and the
contribution of each row to it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.leaving_out import (
    LeavingOut,
    leave_out_of_measure,
    leave_out_of_members,
    leave_out_of_sum,
)
from embedlab.analysis.near_duplicates import NearDuplicates
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.topics import join_topics, largest_joined
from embedlab.core.names import DEFAULT_TASK

if TYPE_CHECKING:
    from embedlab.analysis.influence import Floats
    from embedlab.analysis.measures import Measure, Scale
    from embedlab.choices import Aggregate


@dataclass(frozen=True, kw_only=True)
class ModelColumns:
    """A model in a pair table: one column a member (seed)."""

    name: str
    members: tuple[str, ...]
    seeds: tuple[int, ...] = ()  # of the members, where they have any
    runs: tuple[
        frozenset[str], ...
    ] = ()  # the runs behind each member: of a combination those of its parts
    # whether it is a checkpoint that others can name, or a rule: there is nothing else to draw
    is_published: bool = False

    @property
    def runs_behind(self) -> tuple[frozenset[str], ...]:
        """The runs behind each member, or the member itself where none are named."""
        return (
            self.runs
            if len(self.runs) == len(self.members)
            else tuple(frozenset({member}) for member in self.members)
        )

    @property
    def is_recipe(self) -> bool:
        """Whether the members are draws of a recipe: a run by its name, not one seed of it, nor a
        model without seeds.
        """
        return bool(self.seeds) and self.members != (self.name,)


Reach = Literal["models", "checkpoints"]
"""How far a difference reaches: these recipes and published checkpoints, or nothing but the
weights at hand."""


def weakest_reach(models: Sequence[ModelColumns]) -> Reach:
    """Return how far a statement about MODELS reaches: a run of one seed, and a model of unknown
    origin, are one draw of a recipe.
    """
    return "checkpoints" if any(map(is_checkpoint, models)) else "models"


def is_checkpoint(model: ModelColumns) -> bool:
    """Return whether the numbers of a model are about its weights alone: it is a run of one seed,
    or of unknown origin.
    """
    return not model.is_published and not (len(model.members) > 1 and model.is_recipe)


TextIds = NDArray[np.uint64]


# shares of topics whose contribution is exact: the score without them is computed
LEAST_SHARE, MOST_SHARE = 0.01, 0.5
ROUNDING = 1e-9  # of a share that is a sum over rows


@dataclass(frozen=True, kw_only=True, eq=False)
class SliceRows:
    """The rows behind a slice's scores."""

    # (members, rows): contribution of each row to the error of each score; 0 for a member without a
    # score
    contributions: Floats
    texts: TextIds  # (rows, 2): numbers of a row's two sentences, twice the same for a single one
    groups: NDArray[np.intp]  # (rows,): contributions sum to zero within each
    row_shares: Floats  # (rows,) of the score, their sum is 1
    largest_joined: float  # the share of the score that topics are joined up to
    near: NearDuplicates  # which of the sentences are nearly the same
    # how many are of the rarer of two classes, or do not have the most frequent gold score, where
    # these decide the measure
    rarer: int | None = None
    unseen_variance: float = 0.0  # of a difference, by rows that could have told models apart
    # the scores without some of the rows; None where contributions alone are known
    leave_out: LeavingOut | None = None

    @cached_property
    def shared(self) -> SharedSentences:
        """Which rows share a sentence."""
        return SharedSentences.of(self.texts[:, 0], self.texts[:, 1], self.groups)

    @cached_property
    def row_topics(self) -> NDArray[np.intp]:
        """The number of each row's topic; (rows,)."""
        return join_topics(self.shared, self.row_shares, self.near, self.largest_joined)

    @cached_property
    def topics(self) -> TopicSums:
        """What the topics contribute to each member's score: the sums of their rows, and exact
        values of the largest.
        """
        numbers = self.row_topics
        shares: Floats = np.bincount(numbers, weights=self.row_shares).astype(np.float64)
        factor = self.row_factors
        contributions = self.contributions
        sums = np.zeros((len(contributions), len(shares)))
        for topic_sums, row in zip(sums, contributions, strict=True):
            topic_sums += np.bincount(numbers, weights=row * factor, minlength=len(shares))
        factors = np.bincount(numbers, weights=self.row_shares * factor) / shares
        is_large = (shares > LEAST_SHARE - ROUNDING) & (shares < MOST_SHARE)
        if self.leave_out is not None and is_large.any():
            for topic in np.flatnonzero(is_large):
                _, exact = self.leave_out(numbers == topic)
                sums[:, topic] = np.where(np.isnan(exact), sums[:, topic], exact * factors[topic])
            other_shares = shares if is_large.all() else np.where(is_large, 0.0, shares)
            other_shares = other_shares / other_shares.sum()
            sums -= sums.sum(axis=1, keepdims=True) * other_shares
        return TopicSums(sums=sums, shares=shares)

    @cached_property
    def row_factors(self) -> Floats:
        """How many times each row's contribution counts, as contributions sum to zero within each
        of several groups; (rows,).

        Where topics vary by their shares, the variance by sums that are forced to zero is 1 − Σ s²
        of the true one, where the s are the topics' shares of a group. Sign flips know of one such
        sum alone, that of all rows.
        """
        numbers = self.row_topics
        remaining = np.empty(len(self.groups))
        topic_shares = np.bincount(numbers, weights=self.row_shares)
        for group in np.unique(self.groups):
            in_group = self.groups == group
            shares = np.bincount(numbers[in_group], weights=self.row_shares[in_group])
            remaining[in_group] = _free_variance(shares / shares.sum())
        return np.sqrt(_free_variance(topic_shares / topic_shares.sum()) / remaining)

    def select_members(self, members: Sequence[int]) -> SliceRows:
        """The rows of some members, given by their numbers; what is the same for all of them is
        found once.
        """
        leave_out = self.leave_out and leave_out_of_members(self.leave_out, members)
        return _with_cached(
            replace(self, contributions=self.contributions[members], leave_out=leave_out),
            shared=self.shared,
            row_topics=self.row_topics,
            topics=self.topics.of(members),
        )

    def with_contributions(self, contributions: Floats) -> SliceRows:
        """The same rows with other contributions, (members, rows); topics are found once for all of
        them.
        """
        return _with_cached(
            replace(self, contributions=contributions, leave_out=None),
            shared=self.shared,
            row_topics=self.row_topics,
            row_factors=self.row_factors,
        )


def _with_cached(rows: SliceRows, **values: object) -> SliceRows:
    """Return ROWS with the VALUES of cached properties, put where these find them."""
    rows.__dict__.update(values)
    return rows


def _free_variance(shares: Floats) -> float:
    """Return the part of a variance over topics of these SHARES that sums which are forced to zero
    leave.
    """
    return max(1 - float((shares**2).sum()), 0.5)


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One slice: a row of evidence for each member column."""

    key: str  # it and the title end in the metric, where a slice has several
    title: str
    items: int
    points: Floats  # (members,) the score of each member
    rows: SliceRows | None = None  # None where a number has no items: it is shown, not tested
    notes: tuple[str, ...] = ()
    averaged_keys: tuple[str, ...] = ()
    task: str = DEFAULT_TASK
    metric: str = "spearman"
    scale: Scale = "plain"
    setting: str | None = None  # how sources are put together, where there is a choice
    dataset: str = ""  # of whose items it is; empty for an average

    @property
    def rarer_text(self) -> str:
        """What the rows are that decide its number where they are few."""
        is_correlation = self.scale == "correlation"
        return "without the most frequent gold score" if is_correlation else "of one class"

    @property
    def slice_key(self) -> str:
        """The key of the slice itself."""
        return self.key.removesuffix(f" {self.metric}")

    @property
    def slice_title(self) -> str:
        """The title of the slice itself."""
        return self.title.removesuffix(f" {self.metric}")

    def select_members(self, members: Sequence[int]) -> Evidence:
        """The evidence of some members, given by their numbers, in this order."""
        rows = self.rows.select_members(members) if self.rows is not None else None
        return replace(self, points=self.points[members], rows=rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemGroups:
    """Which items are measured together, and the weight of each group in the score."""

    rows: Sequence[NDArray[np.intp]]
    aggregate: Aggregate = "all"

    @property
    def sizes(self) -> Floats:
        """How much each group counts: by its items for `wmean`, otherwise as much as another."""
        return np.array([len(row) if self.aggregate == "wmean" else 1.0 for row in self.rows])


def evidence_of(
    task: str,
    key: str,
    gold: NDArray[Any],
    predicted: Mapping[int, NDArray[Any]],
    members: int,
    *,
    measure: Measure,
    texts: TextIds | None = None,
    near: NearDuplicates | None = None,
    groups: ItemGroups | None = None,
    is_tested: bool = True,
) -> Evidence:
    """Return the evidence of one slice of items: PREDICTED has class indices or scores by member
    number; members without have no score.

    texts: (items, 2) numbers of each item's sentences; None where they are unknown and items count
    as independent. NEAR says which of these sentences are nearly the same. GROUPS are measured one
    by one, all items together without them; where there is none, because sources are unknown, no
    member has a score. What is not to be tested has no rows.
    """
    scored = list(predicted)
    groups = groups or ItemGroups(rows=[np.arange(len(gold))])
    numbers = _own_numbers(f"{task} {key}", len(gold)) if texts is None else texts

    def of_all_members(values: ArrayLike) -> Floats:
        own = np.asarray(values, dtype=np.float64)
        spread = np.full((members, *own.shape[1:]), np.nan)
        spread[scored] = own
        return spread

    values = []
    parts = []
    for row in groups.rows:
        row_gold = gold[row]
        columns = [prediction[row] for prediction in predicted.values()]
        scores = of_all_members(measure.values(row_gold, columns))
        values.append(scores)
        if is_tested and len(gold) and predicted:
            size = max(len(row), 1)
            influences = of_all_members(measure.influences(row_gold, columns))
            make = partial(measure.without, row_gold, columns)
            slice_rows = SliceRows(
                contributions=np.nan_to_num(influences / size),
                texts=numbers[row],
                groups=np.zeros(len(row), np.intp),
                row_shares=np.full(len(row), 1 / size),
                largest_joined=largest_joined(len(row)),
                near=near or NearDuplicates.none(),
                # a few rows of one source decide little
                rarer=measure.count_rarer(row_gold) if len(groups.rows) == 1 else None,
                unseen_variance=measure.unseen_variance(row_gold) if len(row) else 0.0,
                leave_out=leave_out_of_measure(scores, scored, make),
            )
            parts.append(slice_rows)
    sizes = groups.sizes
    points = np.full(members, np.nan)
    if values:
        points = np.average(values, axis=0, weights=sizes)
    rows = parts[0] if len(parts) == 1 else None
    if len(parts) > 1:
        rows = merge_rows(list(zip(parts, sizes / sizes.sum(), strict=True)))
    return Evidence(
        key=key,
        title=key,
        items=len(gold),
        points=points,
        rows=rows,
        task=task,
        metric=measure.name,
        scale=measure.scale,
    )


def average_evidence(name: str, parts: Sequence[Evidence], mixed_metric: str = "mean") -> Evidence:
    """Return the plain mean of several slices; a sentence in several of them counts as one.

    Where the slices have different metrics, that of their mean is MIXED_METRIC.
    """
    rows = [part.rows for part in parts if part.rows is not None]
    has_one_metric = len({part.metric for part in parts}) == 1
    # of correlations a correlation, of what is between 0 and 1 what is there too
    scale: Scale = "plain"
    if has_one_metric and parts[0].scale == "correlation":
        scale = "correlation"
    elif {part.scale for part in parts} <= {"share", "bounded"}:
        scale = "bounded"
    weight = 1 / len(parts)
    return Evidence(
        key=name,
        title=name,
        items=sum(part.items for part in parts),
        points=np.mean([part.points for part in parts], axis=0),
        rows=merge_rows([(row, weight) for row in rows]) if len(rows) == len(parts) else None,
        averaged_keys=tuple(part.key for part in parts),
        task=parts[0].task,
        metric=parts[0].metric if has_one_metric else mixed_metric,
        setting=parts[0].setting,
        scale=scale,
    )


def mean_evidence(name: str, parts: Sequence[Evidence]) -> Evidence:
    """Return the plain mean of slices; of a single one its own evidence."""
    return parts[0] if len(parts) == 1 else average_evidence(name, parts)


def contrast_evidence(name: str, fits: Evidence, rest: Evidence) -> Evidence:
    """Return by how much each member's score on one slice is above its score on another; a sentence
    in both counts as one.
    """
    rows = None
    if fits.rows is not None and rest.rows is not None:
        rows = merge_rows([(fits.rows, 1.0), (rest.rows, -1.0)])
    return Evidence(
        key=name,
        title=name,
        items=fits.items + rest.items,
        points=fits.points - rest.points,
        rows=rows,
        task=fits.task,
        metric=fits.metric,
        setting=fits.setting,
    )


def merge_rows(parts: Sequence[tuple[SliceRows, float]]) -> SliceRows:
    """Return the rows behind a weighted sum of scores, each part with its weight."""
    rows = [part for part, _ in parts]
    weights = [weight for _, weight in parts]
    sizes = np.abs(weights)
    shares = sizes / sum(sizes)
    offsets = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part in rows)])
    leave_out = [part.leave_out for part in rows if part.leave_out is not None]
    ends = np.cumsum([len(part.texts) for part in rows])[:-1].tolist()
    return SliceRows(
        contributions=np.concatenate(
            [weight * part.contributions for part, weight in parts], axis=1
        ),
        texts=np.concatenate([part.texts for part in rows]),
        groups=np.concatenate(
            [part.groups + offset for part, offset in zip(rows, offsets, strict=False)]
        ),
        row_shares=np.concatenate(
            [share * part.row_shares for part, share in zip(rows, shares, strict=True)]
        ),
        largest_joined=sum(
            share * part.largest_joined for part, share in zip(rows, shares.tolist(), strict=True)
        ),
        near=NearDuplicates.joined([part.near for part in rows]),
        unseen_variance=sum(weight**2 * part.unseen_variance for part, weight in parts),
        rarer=min((part.rarer for part in rows if part.rarer is not None), default=None),
        leave_out=leave_out_of_sum(leave_out, weights, ends)
        if len(leave_out) == len(rows)
        else None,
    )


def member_columns(models: Sequence[ModelColumns]) -> list[str]:
    """Return the rows of evidence: each member of MODELS once, in order."""
    return list(dict.fromkeys(member for model in models for member in model.members))


def _own_numbers(dataset: str, count: int) -> TextIds:
    """Return sentence numbers that are unique over all datasets, for items of unknown text."""
    start = np.uint64(zlib.crc32(dataset.encode())) << np.uint64(32)
    return np.repeat(start + np.arange(count, dtype=np.uint64)[:, None], 2, axis=1)
