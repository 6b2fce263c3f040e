"""Classified items drawn again, the same items for every row of a table."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import numpy as np
import polars as pl

from embedlab.analysis.comparison import generator
from embedlab.analysis.items import Labels, Metric, resampled_metric
from embedlab.analysis.significance import Floats
from embedlab.grids.paper_table import Measure
from embedlab.runs.outcomes import Outcomes

Kept = Mapping[tuple[str, str], Sequence[Outcomes]]  # by member and task


def item_draws(wanted: Mapping[Measure, Sequence[str]], kept: Kept, resamples: int) -> dict[tuple[str, Measure], Floats]:
    """The resampled metric of each member that WANTED names for a measure.

    Members of which no items are kept, or others than of the first, are absent; so is a measure that is not one of items.
    """
    found: dict[tuple[str, Measure], Floats] = {}
    for measure, members in wanted.items():
        there = {member: items for member in members if (items := _items(kept.get((member, measure.task), ()), measure)) is not None}
        alike = {member: items for member, items in there.items() if _asked(items).equals(_asked(next(iter(there.values()))))}
        if alike and measure.metric in get_args(Metric):
            gold, predicted = _indices(list(alike.values()))
            rng = generator(0, f"{measure.task} {measure.slice}")
            draws = resampled_metric(gold, predicted, cast("Metric", measure.metric), resamples, rng)
            found |= {(member, measure): row for member, row in zip(alike, draws, strict=True)}
    return found


def _items(kept: Sequence[Outcomes], measure: Measure) -> Outcomes | None:
    """The items behind a measure."""
    return next((one for one in kept if one.dataset == measure.slice and measure.split in {None, one.split}), None)


def _asked(outcomes: Outcomes) -> pl.DataFrame:
    """What was to be answered."""
    return outcomes.items.select("item", "gold")


def _indices(outcomes: Sequence[Outcomes]) -> tuple[Labels, Labels]:
    """Class indices of the gold labels, (items,), and of each member's answers, (members, items)."""
    index = {label: number for number, label in enumerate(outcomes[0].classes)}
    gold, *predicted = (
        np.array([index[label] for label in column], dtype=np.int64)
        for column in (outcomes[0].items["gold"], *(one.items["predicted"] for one in outcomes))
    )
    return gold, np.array(predicted)
