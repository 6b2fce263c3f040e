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
from numpy.typing import NDArray

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


class NamedSlice:
    """What has a key and a title that end in the metric."""

    key: str
    title: str
    metric: str

    @property
    def slice_key(self) -> str:
        """The key of the slice itself."""
        return self.key.removesuffix(f" {self.metric}")

    @property
    def slice_title(self) -> str:
        """The title of the slice itself."""
        return self.title.removesuffix(f" {self.metric}")


TextIds = NDArray[np.uint64]


MOST_LEFT_OUT = 12  # topics whose contribution is exact: the score without them is computed
LEAST_SHARE, MOST_SHARE = 0.01, 0.5  # the shares that such topics have


@dataclass(frozen=True, kw_only=True, eq=False)
class SliceRows:
    """The rows behind a slice's scores."""

    # (members, rows): contribution of each row to the error of each score; nan for a member without
    # a score
    contributions: Floats
    texts: TextIds  # (rows, 2): numbers of a row's two sentences, twice the same for a single one
    groups: NDArray[np.intp]  # (rows,): contributions sum to zero within each
    # (rows,) of the score, their sum is 1; None where all rows count alike
    shares: Floats | None = None
    # share that topics are joined up to; None: by the number of rows
    largest: float | None = None
    # which of the sentences are nearly the same; None where their words are unknown
    near: NearDuplicates | None = None
    # the scores without some of the rows; None where contributions alone are known
    leave_out: LeavingOut | None = None

    @cached_property
    def shared(self) -> SharedSentences:
        """Which rows share a sentence."""
        return SharedSentences.of(self.texts[:, 0], self.texts[:, 1], self.groups)

    @cached_property
    def row_shares(self) -> Floats:
        """The share of each row in the score; (rows,)."""
        return (
            np.full(len(self.texts), 1 / max(len(self.texts), 1))
            if self.shares is None
            else self.shares
        )

    @cached_property
    def row_topics(self) -> NDArray[np.intp]:
        """The number of each row's topic; (rows,)."""
        return join_topics(
            self.shared, self.row_shares, self.near or NearDuplicates.none(), self.largest_joined
        )

    @property
    def largest_joined(self) -> float:
        """The share of the score that topics are joined up to; of an average the mean of its
        parts'.
        """
        return largest_joined(len(self.texts)) if self.largest is None else self.largest

    @property
    def topic_count(self) -> int:
        """The number of topics."""
        return int(self.row_topics.max(initial=-1)) + 1

    @cached_property
    def topics(self) -> TopicSums:
        """What the topics contribute to each member's score: the sums of their rows, and exact
        values of the largest.
        """
        numbers = self.row_topics
        shares: Floats = np.bincount(numbers, weights=self.row_shares).astype(np.float64)
        factor = self.row_factors
        contributions = self.known_contributions
        sums = np.zeros((len(contributions), len(shares)))
        for topic_sums, row in zip(sums, contributions, strict=True):
            topic_sums += np.bincount(numbers, weights=row * factor, minlength=len(shares))
        factors = np.bincount(numbers, weights=self.row_shares * factor) / shares
        large = []
        for topic in np.argsort(-shares, kind="stable")[:MOST_LEFT_OUT].tolist():
            if self.leave_out is not None and LEAST_SHARE <= shares[topic] < MOST_SHARE:
                large.append(topic)
                _, exact = self.leave_out(numbers == topic)
                sums[:, topic] = np.where(np.isnan(exact), sums[:, topic], exact * factors[topic])
        if large:
            other_shares = shares.copy()
            other_shares[large] = 0.0
            other_shares = other_shares / other_shares.sum() if other_shares.any() else shares
            sums -= sums.sum(axis=1, keepdims=True) * other_shares
        return TopicSums(sums=sums, shares=shares)

    @cached_property
    def known_contributions(self) -> Floats:
        """The contributions; a member without a score contributes nothing."""
        return (
            self.contributions
            if np.isfinite(self.contributions).all()
            else np.nan_to_num(self.contributions)
        )

    @cached_property
    def row_factors(self) -> Floats:
        """How many times each row's contribution counts, as contributions sum to zero within each
        of several groups; (rows,).

        Where topics vary by their shares, the variance by sums that are forced to zero is 1 − Σ s²
        of the true one, where the s are the topics' shares of a group. Sign flips know of one such
        sum alone, that of all rows.
        """
        if not len(self.groups) or not self.groups.any():
            return np.ones(len(self.groups))
        numbers, remaining = self.row_topics, np.empty(len(self.groups))
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
        leave_out = (
            leave_out_of_members(self.leave_out, members) if self.leave_out is not None else None
        )
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
class Evidence(NamedSlice):
    """One slice: a row of evidence for each member column."""

    key: str
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
    scored_members, groups = list(predicted), groups or ItemGroups(rows=[np.arange(len(gold))])
    values, parts = [], []
    numbers = _own_numbers(f"{task} {key}", len(gold)) if texts is None else texts
    for row in groups.rows:
        row_gold, columns = gold[row], [prediction[row] for prediction in predicted.values()]
        values.append(measure.values(row_gold, columns))
        if is_tested and len(gold) and predicted:
            point, make = np.array(values[-1]), partial(measure.without, row_gold, columns)
            slice_rows = SliceRows(
                contributions=measure.influences(row_gold, columns) / max(len(row_gold), 1),
                texts=numbers[row],
                groups=np.zeros(len(row_gold), np.intp),
                near=near,
                leave_out=leave_out_of_measure(point, make),
            )
            parts.append(slice_rows)
    sizes, points = groups.sizes, np.full(len(scored_members), np.nan)
    if len(sizes):
        points = np.average(np.array(values), axis=0, weights=sizes)
    rows = parts[0] if len(parts) == 1 else None
    if len(parts) > 1:
        rows = merge_rows(list(zip(parts, sizes / sizes.sum(), strict=True)))
    if scored_members != [*range(members)]:
        points = _spread(points, scored_members, members)
        rows = rows and _of_all_members(rows, scored_members, members)
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
    rows, has_one_metric = (
        [part.rows for part in parts if part.rows is not None],
        len({part.metric for part in parts}) == 1,
    )
    return Evidence(
        key=name,
        title=name,
        items=sum(part.items for part in parts),
        points=np.mean([part.points for part in parts], axis=0),
        rows=merge_rows([(row, 1 / len(parts)) for row in rows])
        if len(rows) == len(parts)
        else None,
        averaged_keys=tuple(part.key for part in parts),
        task=parts[0].task,
        metric=parts[0].metric if has_one_metric else mixed_metric,
        setting=parts[0].setting,
        scale=_scale_of_average(parts, has_one_metric=has_one_metric),
    )


def _scale_of_average(parts: Sequence[Evidence], *, has_one_metric: bool) -> Scale:
    """Return the scale of an average: of correlations a correlation, of what is between 0 and 1
    what is there too.
    """
    if has_one_metric and parts[0].scale == "correlation":
        return "correlation"
    return "bounded" if {part.scale for part in parts} <= {"share", "bounded"} else "plain"


def contrast_evidence(name: str, fits: Evidence, rest: Evidence) -> Evidence:
    """Return by how much each member's score on one slice is above its score on another; a sentence
    in both counts as one.
    """
    rows = None
    if fits.rows is not None and rest.rows is not None:
        joined_rows = merge_rows([(fits.rows, 1.0), (rest.rows, 1.0)])
        signs = np.repeat(
            [1.0, -1.0], [fits.rows.contributions.shape[1], rest.rows.contributions.shape[1]]
        )
        leave_out = None
        if fits.rows.leave_out is not None and rest.rows.leave_out is not None:
            parts = [(fits.rows.leave_out, 1.0), (rest.rows.leave_out, -1.0)]
            leave_out = leave_out_of_sum(parts, [len(fits.rows.texts)])
        rows = replace(
            joined_rows, contributions=joined_rows.contributions * signs, leave_out=leave_out
        )
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
    offsets = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part, _ in parts)])
    near = list({id(part.near): part.near for part, _ in parts if part.near is not None}.values())
    leave_out = [(part.leave_out, weight) for part, weight in parts if part.leave_out is not None]
    ends = np.cumsum([len(part.texts) for part, _ in parts])[:-1].tolist()
    total = sum(weight for _, weight in parts)
    return SliceRows(
        contributions=np.concatenate(
            [weight * part.contributions for part, weight in parts], axis=1
        ),
        texts=np.concatenate([part.texts for part, _ in parts]),
        groups=np.concatenate(
            [rows.groups + offset for (rows, _), offset in zip(parts, offsets, strict=False)]
        ),
        shares=np.concatenate([weight / total * part.row_shares for part, weight in parts]),
        largest=sum(weight / total * part.largest_joined for part, weight in parts),
        near=near[0] if len(near) == 1 else NearDuplicates.joined(near) if near else None,
        leave_out=leave_out_of_sum(leave_out, ends) if len(leave_out) == len(parts) else None,
    )


def member_columns(models: Sequence[ModelColumns]) -> list[str]:
    """Return the rows of evidence: each member of MODELS once, in order."""
    return list(dict.fromkeys(member for model in models for member in model.members))


def _of_all_members(rows: SliceRows, scored_members: Sequence[int], members: int) -> SliceRows:
    """Return ROWS of the SCORED MEMBERS as rows of all members, nan for the others."""
    positions = [
        scored_members.index(member) if member in scored_members else None
        for member in range(members)
    ]
    leave_out = (
        leave_out_of_members(rows.leave_out, positions) if rows.leave_out is not None else None
    )
    return replace(
        rows,
        contributions=_spread(rows.contributions, scored_members, members),
        leave_out=leave_out,
    )


def _own_numbers(dataset: str, count: int) -> TextIds:
    """Return sentence numbers that are unique over all datasets, for items of unknown text."""
    start = np.uint64(zlib.crc32(dataset.encode())) << np.uint64(32)
    return np.repeat(start + np.arange(count, dtype=np.uint64)[:, None], 2, axis=1)


def _spread(values: Floats, scored_members: Sequence[int], members: int) -> Floats:
    """Expand a row for each of the SCORED MEMBERS to one for each member, nan for the others."""
    spread = np.full((members, *values.shape[1:]), np.nan)
    spread[scored_members] = values
    return spread
