"""Which of two models is right on each item: by rank errors of pairs, by classes, by ranks of
relevant texts; and how steady that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES
from embedlab.analysis.rank_errors import RIGHT, WRONG, percentile

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.influence import Floats
    from embedlab.comparison.evidence import Topics
    from embedlab.outcomes.frame import Outcomes

_FAR = 10  # a relevant text at a worse rank is missed
_UNSURE = (RIGHT + WRONG) / 2  # neither right nor wrong


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """Two models, A and B, on each item; nan where an item has no gold value or a model no
    prediction of it.
    """

    errors: tuple[
        Floats, Floats
    ]  # (rows,) of A and of B: signed points of percentile rank of pairs, 0 to 100 of other items
    # (rows,) percentile ranks of pairs within their dataset, 0–100
    ranks: tuple[Floats, Floats] | None = None
    gold_ranks: Floats | None = None
    # (rows,) the ranks of the relevant texts among all documents, of a search
    mean_ranks: tuple[Floats, Floats] | None = None

    @property
    def only_a(self) -> NDArray[np.bool_]:
        """Where A is right and B wrong."""
        return _is_right(self.errors[0]) & _is_wrong(self.errors[1])

    @property
    def only_b(self) -> NDArray[np.bool_]:
        """Where B is right and A wrong."""
        return _is_right(self.errors[1]) & _is_wrong(self.errors[0])

    @property
    def scored_by_both(self) -> NDArray[np.bool_]:
        """Where both have an error."""
        return ~(np.isnan(self.errors[0]) | np.isnan(self.errors[1]))


def sides_of(outcomes: Outcomes, first: Sequence[str], second: Sequence[str]) -> Sides:
    """Return whether the models with the members FIRST and SECOND are right on each item; several
    members count by their mean.

    A model is right on a pair if its percentile rank among the pairs of the dataset that both have
    scored is within 10 points of that of the gold score, and wrong from 30 points on; where gold
    has two values, it is right on the side of the threshold that separates them best; on a
    classified item by the class that most members give; on a query if the relevant text is first,
    and wrong if it is not among the first ten; on a contrast if the entailed sentence is closer,
    and wrong if the other one is.
    """
    shared_rows = _SharedRows.of(outcomes, [*first, *second])
    ranks = (shared_rows.ranks(first), shared_rows.ranks(second))
    errors = (shared_rows.errors(first, ranks[0]), shared_rows.errors(second, ranks[1]))
    is_of_ranks = all(MEASURES[block.measures[0]].is_of_ranks for block in outcomes.blocks)
    found_ranks = (
        (_mean_predictions(outcomes, first), _mean_predictions(outcomes, second))
        if is_of_ranks
        else None
    )
    if not outcomes.has_scores:
        return Sides(errors=errors, mean_ranks=found_ranks)
    return Sides(
        errors=errors, ranks=ranks, gold_ranks=shared_rows.gold_ranks, mean_ranks=found_ranks
    )


def _mean_predictions(outcomes: Outcomes, members: Sequence[str]) -> Floats:
    means: Floats = (
        outcomes.predictions.select(members)
        .fill_null(nan)
        .to_numpy()
        .astype(np.float64)
        .mean(axis=1)
    )
    return means


@dataclass(frozen=True, kw_only=True, eq=False)
class _SharedRows:
    """The rows of outcomes that have a gold value and a prediction of each of some members: what is
    compared is ranked among these.
    """

    outcomes: Outcomes
    is_scored: pl.Series  # (rows,) which these are

    @classmethod
    def of(cls, outcomes: Outcomes, members: Sequence[str]) -> _SharedRows:
        predictions = outcomes.predictions.select([*dict.fromkeys(members)]).fill_nan(None)
        is_complete = pl.all_horizontal(pl.all().is_not_null())
        return cls(
            outcomes=outcomes,
            is_scored=predictions.select(is_complete).to_series()
            & outcomes.rows["gold"].is_not_null(),
        )

    @cached_property
    def gold_ranks(self) -> Floats:
        return self._ranks(self.outcomes.rows["gold"])

    def ranks(self, members: Sequence[str]) -> Floats:
        """Return the percentile ranks of the mean of MEMBERS."""
        return self._ranks(
            self.outcomes.predictions.select(
                pl.sum_horizontal(members, ignore_nulls=False)
            ).to_series()
        )

    def errors(self, members: Sequence[str], ranks: Floats) -> Floats:
        """Return the errors of the mean of MEMBERS, whose RANKS are those."""
        errors = ranks - self.gold_ranks
        predicted, gold = (
            frame.cast(pl.Float64).fill_nan(None).to_numpy()
            for frame in (
                self.outcomes.predictions.select(members),
                self.outcomes.rows.select("gold"),
            )
        )
        for index, block in enumerate(self.outcomes.blocks):
            rows = self.outcomes.rows_of(index)
            if block.classes:
                share = (predicted[rows] == gold[rows]).mean(axis=1)
                errors[rows] = np.where(share > 0.5, 0.0, np.where(share < 0.5, 100.0, _UNSURE))
            elif (measure := MEASURES[block.measures[0]]).is_of_queries:
                mean = predicted[rows].mean(axis=1)
                is_right, is_wrong = (
                    (mean <= 1, mean > _FAR) if measure.is_of_ranks else (mean > 0, mean < 0)
                )
                errors[rows] = np.where(is_right, 0.0, np.where(is_wrong, 100.0, _UNSURE))
            else:
                scored_rows = rows[self.is_scored.to_numpy()[rows]]
                values = np.unique(gold[scored_rows, 0])
                if len(values) == 2:
                    errors[scored_rows] = _threshold_errors(
                        ranks[scored_rows], gold[scored_rows, 0] == values[1]
                    )
            is_missing = np.isnan(predicted[rows]).any(axis=1) | np.isnan(gold[rows, 0])
            errors[rows[is_missing]] = np.nan
        return errors

    def _ranks(self, values: pl.Series) -> Floats:
        """Return the percentile rank of each row's value within its dataset; nan for rows that are
        not among the same ones.
        """
        frame = pl.DataFrame(
            {
                "dataset": self.outcomes.rows["block"],
                "value": values.cast(pl.Float64),
                "there": self.is_scored,
            }
        )
        return (
            frame.select(percentile(pl.when("there").then("value")))
            .to_series()
            .to_numpy()
            .astype(np.float64)
        )


def _threshold_errors(ranks: Floats, is_high: NDArray[np.bool_]) -> Floats:
    """Return the errors of items whose gold score IS HIGH or low, with nothing between: 0 on the
    right side of the rank with the largest difference between the shares of both above it, on the
    other side the distance from it, which is wrong however small.
    """
    cuts = np.unique(ranks)
    high, low = (np.searchsorted(np.sort(ranks[side]), cuts) for side in (is_high, ~is_high))
    cut = cuts[np.argmax(low / (~is_high).sum() - high / is_high.sum())]
    sign = (ranks >= cut).astype(np.float64) - is_high
    sided: Floats = sign * np.maximum(np.abs(ranks - cut), WRONG)
    return sided


def _is_right(errors: Floats) -> NDArray[np.bool_]:
    return np.abs(errors) <= RIGHT


def _is_wrong(errors: Floats) -> NDArray[np.bool_]:
    return np.abs(errors) >= WRONG


def typical(sides: Sides, among: NDArray[np.bool_], topics: Topics, count: int) -> list[int]:
    """Return the rows AMONG which one model leads by most, COUNT at most and no two of one topic;
    ties are in the order of the frame.
    """
    lead = np.abs(np.abs(sides.errors[0]) - np.abs(sides.errors[1]))
    rows = np.flatnonzero(among)
    typical_rows: list[int] = []
    for row in rows[np.argsort(-lead[rows], kind="stable")].tolist():
        if len(typical_rows) < count and topics[row] not in {
            topics[chosen_row] for chosen_row in typical_rows
        }:
            typical_rows.append(row)
    return typical_rows


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """How the sides of items change where another seed of one model takes its place."""

    model: str
    seeds: int
    items: int  # on which one of the models alone is right, in the mean over the seeds of this one
    changed: float  # share of them that another seed puts on another side, 0–1


def steadiness(outcomes: Outcomes, models: Sequence[ModelColumns]) -> list[Steadiness]:
    """Return, for each of two models with several members, how often an item's side with one member
    is another with another member; nothing where no item has a side.

    The other model counts by the mean of its members.
    """
    shared_rows = _SharedRows.of(outcomes, [member for model in models for member in model.members])
    found = []
    for model, other in zip(models, reversed(models), strict=True):
        if len(model.members) < 2:
            continue
        mean_errors = shared_rows.errors(other.members, shared_rows.ranks(other.members))
        sole_sides = []  # on which one model alone is right: on which one, the other decides
        for member in model.members:
            errors = shared_rows.errors((member,), shared_rows.ranks((member,)))
            sides = Sides(errors=(errors, mean_errors))
            sole_sides.append(sides.only_a | sides.only_b)
        counts = sum(int(np.count_nonzero(side)) for side in sole_sides)
        changes = sum(
            int(np.count_nonzero(before != after)) for before, after in combinations(sole_sides, 2)
        )
        seeds = len(sole_sides)
        if items := round(counts / seeds):
            changed = changes / (counts * (seeds - 1))
            found.append(Steadiness(model=model.name, seeds=seeds, items=items, changed=changed))
    return found
