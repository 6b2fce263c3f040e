"""The contribution of each item to the scores of a paper's rows, for all members on the same
items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.evidence import Evidence, SliceRows
from embedlab.analysis.measures import MEASURES
from embedlab.comparison.evidence import outcome_evidence
from embedlab.experiments.paper_table import PaperMeasure
from embedlab.outcomes.frame import measured_by
from embedlab.outcomes.stored import joined_members
from embedlab.runs.outcomes import StoredOutcomes

AnswersByCell = Mapping[tuple[str, str], Sequence[StoredOutcomes]]  # by member and task


def item_rows(
    wanted: Mapping[PaperMeasure, Sequence[str]], stored: AnswersByCell
) -> dict[tuple[str, PaperMeasure], SliceRows]:
    """Return the item contributions to each member's metric for the measures in WANTED, one row a
    member.

    Members without stored items, or with other items than the first member, are absent, and so are
    measures without items.
    """
    slice_rows: dict[tuple[str, PaperMeasure], SliceRows] = {}
    for measure, members in wanted.items():
        there = {
            member: items
            for member in members
            if (items := _items(stored.get((member, measure.task), ()), measure)) is not None
        }
        alike = {
            member: items
            for member, items in there.items()
            if _questions(items).equals(_questions(next(iter(there.values()))))
        }
        evidence = item_evidence(measure, list(alike.values())) if alike else None
        rows = evidence.rows if evidence is not None else None
        if rows is not None:
            slice_rows |= {
                (member, measure): rows.of_members([index]) for index, member in enumerate(alike)
            }
    return slice_rows


def shared_items(
    measure: PaperMeasure, members: Sequence[str], stored: AnswersByCell
) -> list[StoredOutcomes]:
    """Return the items behind a measure with the predictions of each of MEMBERS; of those alone
    that answered the items of the first.
    """
    there = [
        items
        for member in members
        if (items := _items(stored.get((member, measure.task), ()), measure)) is not None
    ]
    return [items for items in there if _questions(items).equals(_questions(there[0]))]


def item_evidence(measure: PaperMeasure, outcomes: Sequence[StoredOutcomes]) -> Evidence | None:
    """Return the evidence of OUTCOMES, which are of the same items, one member each; None for a
    metric without contributions of items.
    """
    known = MEASURES.get(measure.metric)
    if known is None or known.is_of_classes != bool(outcomes[0].classes):
        return None
    members = [str(number) for number in range(len(outcomes))]
    stored = {member: {"": own} for member, own in zip(members, outcomes, strict=True)}
    frame = joined_members(stored, members)
    assert frame is not None
    evidence = outcome_evidence(measured_by(frame, measure.metric), members)[0]
    return replace(evidence, key=measure.slice, title=measure.slice, task=measure.task)


def _items(stored: Sequence[StoredOutcomes], measure: PaperMeasure) -> StoredOutcomes | None:
    """Return the items behind a measure."""
    return next(
        (
            outcomes
            for outcomes in stored
            if outcomes.dataset == measure.slice and measure.split in {None, outcomes.split}
        ),
        None,
    )


def _questions(outcomes: StoredOutcomes) -> pl.DataFrame:
    """Return the items without the predictions."""
    return outcomes.items.select("item", "gold")
