"""The measured differences behind the claims about a paper's table, by the procedure of every
comparison.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from embedlab.analysis.claims import ClaimedDifference, claimed_difference
from embedlab.analysis.evidence import Evidence, average_evidence
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.weighing import Weighed
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.names import DEFAULT_TASK
from embedlab.experiments.matching_runs import Member
from embedlab.experiments.paper_table import PaperMeasure, PaperTable
from embedlab.experiments.row_items import item_evidence, shared_items
from embedlab.experiments.row_order import (
    CellMembers,
    EvaluationsByTask,
    ScoredItems,
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
        if (
            not parts
            or len(parts) < len(columns)
            or len({tuple(map(len, counts)) for _, counts in by_column}) != 1
        ):
            return None
        evidence = parts[0] if len(parts) == 1 else average_evidence(" + ".join(columns), parts)
        return Weighed(evidence, self._models(rows, by_column[0][1]))

    def _column(
        self, column: str, rows: Sequence[str]
    ) -> tuple[Evidence | None, list[Sequence[Member]]]:
        """Return the evidence of one column, a row each member of ROWS, and these members."""
        if self.table.by is not None:
            row_members = [self.members.get((row, ""), ()) for row in rows]
            return self._of_pairs(
                self._sliced, self._slices_called(column), row_members
            ), row_members
        row_members = [self.members.get((row, column), ()) for row in rows]
        points = [
            point for point in self.table.points if point.row in rows and point.column == column
        ]
        measures = {point.measure for point in points}
        if len(points) < len(rows) or len(measures) != 1:
            return None, row_members
        (measure,) = measures
        if (
            measure.task == DEFAULT_TASK
            and measure.metric == "spearman"
            and self.items.pairs is not None
        ):
            return self._of_pairs(self._whole, [measure.slice], row_members), row_members
        return self._of_items(measure, row_members) or self._of_scores(
            measure, row_members
        ), row_members

    def _of_pairs(
        self,
        evidence: Mapping[str, Evidence],
        keys: Sequence[str],
        row_members: Sequence[Sequence[Member]],
    ) -> Evidence | None:
        names = [member.name for members in row_members for member in members]
        places = self._places
        if (
            not keys
            or not all(row_members)
            or not {*keys} <= evidence.keys()
            or not {*names} <= places.keys()
        ):
            return None
        parts = [evidence[key].of_members([places[name] for name in names]) for key in keys]
        return parts[0] if len(parts) == 1 else average_evidence(" + ".join(keys), parts)

    def _of_items(
        self, measure: PaperMeasure, row_members: Sequence[Sequence[Member]]
    ) -> Evidence | None:
        names = [member.name for members in row_members for member in members]
        stored = shared_items(measure, names, self.items.answers)
        if not all(row_members) or len(stored) < len(names):
            return None
        return item_evidence(measure, stored)

    def _of_scores(
        self, measure: PaperMeasure, row_members: Sequence[Sequence[Member]]
    ) -> Evidence | None:
        known = [
            self.evaluations.get((member.name, measure.task))
            for members in row_members
            for member in members
        ]
        scores = [find_score(evaluation, measure) for evaluation in known if evaluation is not None]
        values = np.array([score.value for score in scores if score is not None])
        if not all(row_members) or len(values) < len(known):
            return None
        return Evidence(
            key=measure.slice,
            title=measure.slice,
            pairs=0,
            points=values,
            task=measure.task,
            metric=measure.metric,
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of each scored member in the evidence of pairs."""
        names = self.items.pairs.predictions.columns if self.items.pairs is not None else []
        return {name: index for index, name in enumerate(names)}

    @cached_property
    def _whole(self) -> dict[str, Evidence]:
        """The evidence of whole datasets that claims are about."""
        assert self.items.pairs is not None
        aggregate = next(cast("Aggregate", point.measure.setting) for point in self.table.points)
        wanted = {point.measure.slice for point in self.table.points}
        parts = [
            items for items in slices_of(self.items.pairs, [*self._places]) if items.key in wanted
        ]
        return {
            evidence.key: evidence
            for evidence in outcome_evidence(
                self.items.pairs, [*self._places], parts, aggregate=aggregate
            )
        }

    @cached_property
    def _sliced(self) -> dict[str, Evidence]:
        """The evidence of the slices of a figure that claims are about."""
        if self.items.pairs is None or self.table.by is None:
            return {}
        parts = slices_of(self.items.pairs, [*self._places], by=self.table.by)
        wanted = {column for claim in self.table.claims.values() for column in claim.columns}
        slices = [part for part in parts if wanted & {*_names(part.key)}]
        return {
            evidence.key: evidence
            for evidence in outcome_evidence(self.items.pairs, [*self._places], slices)
        }

    def _slices_called(self, column: str) -> list[str]:
        """Return the slices that a claim calls COLUMN: "sts13/OnWN" is one, "OnWN" is that source
        of every year.
        """
        return [key for key in self._sliced if column in _names(key)]

    def _models(
        self, rows: Sequence[str], row_members: Sequence[Sequence[Member]]
    ) -> list[ModelColumns]:
        """Return the two models whose members are the rows of the evidence in their order."""
        return [
            row_model(row, members, self.items.published)
            for row, members in zip(rows, row_members, strict=True)
        ]


def _names(key: str) -> tuple[str, str]:
    """Return the names that a claim can call a slice by: its whole key, or without the dataset."""
    return key, key.partition("/")[2] or key
