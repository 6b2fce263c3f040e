"""The measured differences behind the claims about a paper's table, by the procedure of every
comparison.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embedlab.analysis.claims import ClaimedDifference, claimed_difference
from embedlab.analysis.evidence import Evidence, average_evidence
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.names import DEFAULT_TASK
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.matching_runs import Member
from embedlab.experiments.paper_table import PaperMeasure, PaperTable
from embedlab.experiments.row_order import (
    CellMembers,
    EvaluationsByTask,
    find_score,
    row_model,
)


def measured_claims(
    table: PaperTable, members: CellMembers, items: ScoredItems, evaluations: EvaluationsByTask
) -> dict[str, ClaimedDifference]:
    """Return the difference behind each claim about TABLE whose rows have MEMBERS here, by the
    claim's name.

    A column without ITEMS has its scores of EVALUATIONS alone, and so a
    difference without an interval.
    """
    rows = ClaimedRows(table=table, members=members, items=items, evaluations=evaluations)
    differences = {}
    for name, claim in table.claims.items():
        weighed = rows.weighed(table.columns_of(claim), (claim.first, claim.second))
        if weighed is not None:
            differences[name] = claimed_difference(
                weighed,
                claim.first,
                claim.second,
                scale=table.scale,
                last_digit=table.last_digit,
            )
    return differences


@dataclass(frozen=True, kw_only=True, eq=False)
class ClaimedRows:
    """The rows of a table that claims are about, with what is known of their models."""

    table: PaperTable
    members: CellMembers
    items: ScoredItems
    evaluations: EvaluationsByTask

    def weighed(self, columns: Sequence[str], rows: Sequence[str]) -> Weighed | None:
        """Return the mean of COLUMNS of two ROWS, weighed; None where a number is not there."""
        by_column = [self._column(column, rows) for column in columns]
        parts = [evidence for evidence, _ in by_column if evidence is not None]
        counts = {tuple(map(len, members)) for _, members in by_column}
        if not parts or len(parts) < len(columns) or len(counts) != 1:
            return None
        evidence = parts[0] if len(parts) == 1 else average_evidence(" + ".join(columns), parts)
        models = [
            row_model(row, members, self.items.published)
            for row, members in zip(rows, by_column[0][1], strict=True)
        ]
        return Weighed(evidence, models)

    def _column(
        self, column: str, rows: Sequence[str]
    ) -> tuple[Evidence | None, list[Sequence[Member]]]:
        """Return the evidence of one column, a row each member of ROWS, and these members."""
        of_column = column if self.table.by is None else ""
        row_members = [self.members.get((row, of_column), ()) for row in rows]
        names = [member.name for members in row_members for member in members]
        return self._evidence(column, rows, names) if all(row_members) else None, row_members

    def _evidence(self, column: str, rows: Sequence[str], names: Sequence[str]) -> Evidence | None:
        """Return the evidence of one column for members called NAMES; None where something is not
        there.
        """
        if self.table.by is not None:
            # "sts13/OnWN" is one slice, "OnWN" is that source of every year
            keys = [key for key in self._sliced if column in _names(key)]
            return self._of_slices(keys, names)
        points = [
            point for point in self.table.points if point.row in rows and point.column == column
        ]
        measures = {point.measure for point in points}
        if len(points) < len(rows) or len(measures) != 1:
            return None
        (measure,) = measures
        return self.items.evidence(measure, names) or self._of_scores(measure, names)

    def _of_slices(self, keys: Sequence[str], names: Sequence[str]) -> Evidence | None:
        places = self.items.places(DEFAULT_TASK)
        if not keys or not {*names} <= places.keys():
            return None
        parts = [self._sliced[key].of_members([places[name] for name in names]) for key in keys]
        return parts[0] if len(parts) == 1 else average_evidence(" + ".join(keys), parts)

    def _of_scores(self, measure: PaperMeasure, names: Sequence[str]) -> Evidence | None:
        known = [self.evaluations.get((name, measure.task)) for name in names]
        scores = [find_score(evaluation, measure) for evaluation in known if evaluation is not None]
        values = np.array([score.value for score in scores if score is not None])
        if len(values) < len(known):
            return None
        return Evidence(
            key=measure.slice,
            title=measure.slice,
            items=0,
            points=values,
            task=measure.task,
            metric=measure.metric,
        )

    @cached_property
    def _sliced(self) -> dict[str, Evidence]:
        """The evidence of the slices of a figure that claims are about."""
        pairs = self.items.tasks.get(DEFAULT_TASK)
        if pairs is None or self.table.by is None:
            return {}
        members = pairs.predictions.columns
        parts = slices_of(pairs, members, by=self.table.by)
        wanted = {column for claim in self.table.claims.values() for column in claim.columns}
        slices = [part for part in parts if wanted & {*_names(part.key)}]
        return {each.key: each for each in outcome_evidence(pairs, members, slices)}


def _names(key: str) -> tuple[str, str]:
    """Return the names that a claim can call a slice by: its whole key, or without the dataset."""
    return key, key.partition("/")[2] or key
