"""The contribution of each item to the scores of a paper's rows, for all members on the same items."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import numpy as np
import polars as pl

from embedlab.analysis.evidence import SliceRows, item_evidence, score_evidence
from embedlab.analysis.influence import ClassMetric, Floats, Labels
from embedlab.choices import Correlation
from embedlab.papers.table import Measure
from embedlab.runs.outcomes import Outcomes

StoredOutcomes = Mapping[tuple[str, str], Sequence[Outcomes]]  # by member and task


def item_rows(wanted: Mapping[Measure, Sequence[str]], stored: StoredOutcomes) -> dict[tuple[str, Measure], SliceRows]:
    """Return the item contributions to each member's metric for the measures in WANTED, one row a member.

    Members without stored items, or with other items than the first member, are absent, and so are measures without items.
    """
    found: dict[tuple[str, Measure], SliceRows] = {}
    for measure, members in wanted.items():
        there = {member: items for member in members if (items := _items(stored.get((member, measure.task), ()), measure)) is not None}
        alike = {member: items for member, items in there.items() if _questions(items).equals(_questions(next(iter(there.values()))))}
        rows = _contributions(measure, list(alike.values())) if alike else None
        if rows is not None:
            found |= {
                (member, measure): SliceRows(contributions=rows.contributions[[place]], texts=rows.texts, groups=rows.groups)
                for place, member in enumerate(alike)
            }
    return found


def _contributions(measure: Measure, outcomes: Sequence[Outcomes]) -> SliceRows | None:
    """Return the contributions of the items to a measure, one row for each of OUTCOMES; None for a metric without contributions."""
    texts = next((one.texts for one in outcomes if one.texts is not None), None)
    members = len(outcomes)
    if outcomes[0].classes and measure.metric in get_args(ClassMetric):
        gold, predicted = _indices(outcomes)
        metric = cast("ClassMetric", measure.metric)
        return item_evidence(measure.task, measure.slice, gold, dict(enumerate(predicted)), members, metric=metric, texts=texts).rows
    if not outcomes[0].classes and measure.metric in get_args(Correlation):
        real, scores = _scores(outcomes)
        correlation = cast("Correlation", measure.metric)
        return score_evidence(measure.task, measure.slice, real, dict(enumerate(scores)), members, metric=correlation, texts=texts).rows
    return None


def _items(stored: Sequence[Outcomes], measure: Measure) -> Outcomes | None:
    """Return the items behind a measure."""
    return next((one for one in stored if one.dataset == measure.slice and measure.split in {None, one.split}), None)


def _questions(outcomes: Outcomes) -> pl.DataFrame:
    """Return the items without the predictions."""
    return outcomes.items.select("item", "gold")


def _indices(outcomes: Sequence[Outcomes]) -> tuple[Labels, list[Labels]]:
    """Return the class indices of the gold labels, (items,), and of each member's predictions."""
    index = {label: number for number, label in enumerate(outcomes[0].classes)}
    gold, *predicted = (
        np.array([index[label] for label in column], dtype=np.int64)
        for column in (outcomes[0].items["gold"], *(one.items["predicted"] for one in outcomes))
    )
    return gold, predicted


def _scores(outcomes: Sequence[Outcomes]) -> tuple[Floats, list[Floats]]:
    """Return the gold scores, (items,), and each member's."""
    gold, *predicted = (
        column.cast(pl.Float64).to_numpy() for column in (outcomes[0].items["gold"], *(one.items["predicted"] for one in outcomes))
    )
    return gold, predicted
