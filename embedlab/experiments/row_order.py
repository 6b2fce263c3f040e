"""Our numbers next to a paper's: whether they reproduce the printed order of the rows, and the
measured differences behind the paper's claims, by the procedure of every comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import inf, isnan, sqrt
from statistics import fmean, stdev
from typing import cast

import numpy as np
import polars as pl

from embedlab.analysis.claims import (
    Claim,
    ClaimedDifference,
    SettledClaim,
    claimed_difference,
    settle_claims,
)
from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence
from embedlab.analysis.rank_agreement import RankAgreement, rank_agreement
from embedlab.analysis.uncertainty import seed_noise
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.names import DEFAULT_TASK
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.matching_runs import CellKey, Member, RowMembers
from embedlab.experiments.paper_table import PaperMeasure, PaperTable, Point
from embedlab.runs.evaluations import Evaluation, StoredScore

OF_ALL = "mean"  # the slice of a mean over the others
EvaluationsByTask = Mapping[tuple[str, str], Evaluation]  # by member and task


NUMBERS = {
    "row": pl.String(),
    "column": pl.String(),
    "published": pl.Float64(),  # null: the paper prints none
    "ours": pl.Float64(),  # the mean over the members; null: there are none
    "sd": pl.Float64(),  # over the members; null for one
    "seeds": pl.Int64(),
}


def numbers_frame(table: PaperTable, values: Mapping[CellKey, Sequence[float]]) -> pl.DataFrame:
    """Return NUMBERS and the difference of ours from the published one, a row for each cell of
    VALUES, which has the scores of its members, all in the paper's units.
    """
    rows = [
        (
            row,
            column,
            table.printed.get(row, {}).get(column),
            fmean(scores) if scores else None,
            stdev(scores) if len(scores) > 1 else None,
            len(scores),
        )
        for (row, column), scores in values.items()
    ]
    numbers = pl.DataFrame(rows, schema=NUMBERS, orient="row")
    return numbers.with_columns(difference=pl.col("ours") - pl.col("published"))


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The order of all rows of a group."""

    columns: tuple[str, ...]
    group: str
    rows: int
    kendall: RankAgreement


@dataclass(frozen=True, kw_only=True)
class RowOrder:
    """Whether the printed order of a table holds for our scores."""

    # each that the first row is above the second: neighbours in the printed order, without a text,
    # and what the paper says of others
    pairs: tuple[SettledClaim, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """A table of a paper with what is known of its rows here."""

    table: PaperTable
    members: Mapping[str, RowMembers]  # by row
    evaluations: EvaluationsByTask
    items: ScoredItems = field(default_factory=ScoredItems)  # that the scores vary over
    inconclusive: frozenset[str] = frozenset()  # rows whose runs say nothing about the paper's

    def values(self) -> dict[CellKey, Sequence[float]]:
        """Return the scores of the members of each cell, in the paper's units."""
        values: dict[CellKey, Sequence[float]] = {}
        for point in self.table.points:
            scores = self._scores(point)
            values[point.row, point.column] = [self.table.scale * score.value for score in scores]
        return values | self._ensembles(values)

    @property
    def absent_slices(self) -> list[str]:
        """Return for each task, in words, the slices of the table that no evaluation has, and those
        that there are.
        """
        measures = [point.measure for point in self.table.points]
        notes = []
        for task in dict.fromkeys(measure.task for measure in measures):
            stored = dict.fromkeys(
                score.slice
                for (_, evaluated_task), evaluation in self.evaluations.items()
                for score in evaluation.scores
                if evaluated_task == task and score.by in {"dataset", "average"}
            )
            named = dict.fromkeys(measure.slice for measure in measures if measure.task == task)
            absent = [name for name in named if name not in stored]
            if stored and absent:
                notes.append(
                    f"{task} has no scores here of {', '.join(absent)}; it has {', '.join(stored)}"
                )
        return notes

    def _ensembles(
        self, values: Mapping[CellKey, Sequence[float]]
    ) -> dict[CellKey, Sequence[float]]:
        """Return the values of rows that take for each column and seed the best of other rows; a
        mean over columns is the mean of these.
        """
        ensembles: dict[CellKey, Sequence[float]] = {}
        for row, source in self.table.sources.items():
            points = [point for point in self.table.points if point.row == row and source.best_of]
            best: dict[str, tuple[float, ...]] = {}
            for column in [point.column for point in points if point.measure.slice != OF_ALL]:
                measured = [values.get((other, column), ()) for other in source.best_of]
                measured = [*filter(None, measured)]
                best[column] = tuple(map(max, *measured)) if len(measured) > 1 else ()
            means = tuple(map(fmean, zip(*best.values(), strict=False)))
            if not all(best.values()):
                means = ()
            for point in points:
                ensembles[row, point.column] = best.get(point.column, means)
        return ensembles

    def order(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> RowOrder:
        """Rank the rows by the table's `ranked_by` columns; nothing is concluded of the rows that
        are inconclusive.
        """
        table = self.table
        claims: dict[str, Claim] = {}
        measured: dict[str, ClaimedDifference] = {}
        rankings: list[Ranking] = []
        for done, columns in enumerate(table.ranked_by):
            printed_means = self._printed_means(columns)
            groups: dict[str, list[str]] = {table.group(row): [] for row in table.sources}
            for row, printed in printed_means.items():
                if printed is not None:
                    groups[table.group(row)].append(row)
            weighed_groups = {
                group: weighed
                for group, rows in groups.items()
                if (weighed := self._weighed(columns, rows)) is not None
            }
            for group, weighed in weighed_groups.items():
                if len(weighed.means) > 2:
                    printed_scores = [cast("float", printed_means[row]) for row in weighed.means]
                    kendall = rank_agreement(weighed, printed_scores)
                    rankings.append(
                        Ranking(
                            columns=columns, group=group, rows=len(printed_scores), kendall=kendall
                        )
                    )
            for claim in self._ordered_pairs(columns, printed_means, groups):
                difference = self._difference(claim, weighed_groups.get(table.group(claim.first)))
                if difference is not None:
                    name = str(len(claims))
                    claims[name], measured[name] = claim, difference
            progress(done + 1, len(table.ranked_by))
        inconclusive = [
            name
            for name, claim in claims.items()
            if not self.inconclusive.isdisjoint({claim.first, claim.second})
        ]
        settled = settle_claims(claims, measured, inconclusive)
        return RowOrder(pairs=tuple(settled), rankings=tuple(rankings))

    def _of(self, row: str, column: str) -> Sequence[Member]:
        return self.members[row].at(column) if row in self.members else ()

    def _scores(self, point: Point) -> list[StoredScore]:
        """Return one score a member; members that were not evaluated on the point are left out."""
        names = [member.name for member in self._of(point.row, point.column)]
        scores = self._stored_scores(point.measure, names)
        return [score for score in scores if not isnan(score.value)]

    def _stored_scores(self, measure: PaperMeasure, names: Sequence[str]) -> list[StoredScore]:
        """Return the score that MEASURE names of each member that was evaluated."""
        evaluations = [self.evaluations.get((name, measure.task)) for name in names]
        scores = [find_score(each, measure) for each in evaluations if each is not None]
        return [score for score in scores if score is not None]

    def _printed_means(self, columns: Sequence[str]) -> dict[str, float | None]:
        """Return the printed mean of COLUMNS of the rows that have a score in each of them, best
        first; rows that the paper does not print come last.
        """
        table = self.table
        means = {}
        for row in table.sources:
            count = len(self._of(row, columns[0]))
            points = [
                point for point in table.points if point.row == row and point.column in columns
            ]
            scores = [self._scores(point) for point in points]
            if count and [*map(len, scores)] == [count] * len(columns):
                means[row] = table.printed_mean(row, columns)
        best_first = sorted(
            means.items(), key=lambda row_mean: inf if row_mean[1] is None else -row_mean[1]
        )
        return dict(best_first)

    def _ordered_pairs(
        self,
        columns: tuple[str, ...],
        printed_means: Mapping[str, float | None],
        groups: Mapping[str, Sequence[str]],
    ) -> list[Claim]:
        """Return neighbours in the printed order within each of GROUPS, then the other pairs that
        the text is about, with what it says of them; the better row is the first.
        """
        pairs: dict[tuple[str, str], str] = {}
        for rows in groups.values():
            for better, worse in pairwise(rows):
                if printed_means[better] != printed_means[worse]:
                    pairs[better, worse] = ""
        for claim in self.table.claims.values():
            claimed = (claim.first, claim.second)
            is_of_columns = claim.direction != "equal" and self.table.columns_of(claim) == columns
            if is_of_columns and {*claimed} <= printed_means.keys():
                better, worse = claimed if claim.direction == "above" else claimed[::-1]
                pairs[better, worse] = claim.text or claim.statement
        return [
            Claim(
                table=self.table.name,
                first=better,
                second=worse,
                direction="above",
                columns=columns,
                text=text,
            )
            for (better, worse), text in pairs.items()
        ]

    def _difference(
        self, claim: Claim, weighed_group: Weighed | None = None
    ) -> ClaimedDifference | None:
        """Return the difference of the two rows of a claim, from their WEIGHED GROUP where all its
        rows have items.
        """
        rows = (claim.first, claim.second)
        is_in_group = (
            weighed_group is not None
            and weighed_group.topics is not None
            and {*rows} <= weighed_group.means.keys()
        )
        weighed = (
            weighed_group if is_in_group else self._weighed(self.table.columns_of(claim), rows)
        )
        if weighed is None:
            return None
        difference = claimed_difference(
            weighed, *rows, scale=self.table.scale, last_digit=self.table.last_digit
        )
        has_items = weighed.evidence.rows is not None
        return difference if has_items else _over_seeds(difference, weighed, rows)

    def row_model(self, row: str, column: str = "") -> ModelColumns:
        """Return the members of a row as one model: of a recipe, of a checkpoint that others can
        name, or of neither.
        """
        members = self._of(row, column)
        names = [member.name for member in members]
        return ModelColumns(
            name=row,
            members=tuple(f"{row} {name}" for name in names),
            seeds=tuple(member.seed for member in members if member.seed is not None),
            runs=tuple(member.runs or frozenset({member.name}) for member in members),
            is_published=bool(members) and self.items.published.issuperset(names),
        )

    def claims(self) -> dict[str, ClaimedDifference]:
        """Return the difference behind each claim about the table whose rows have members here that
        say something about it, by the claim's name.

        A column without items has its scores alone, and so a difference over seeds.
        """
        measured = {
            name: self._difference(claim)
            for name, claim in self.table.claims.items()
            if self.inconclusive.isdisjoint({claim.first, claim.second})
        }
        return {name: difference for name, difference in measured.items() if difference is not None}

    def _weighed(self, columns: Sequence[str], rows: Sequence[str]) -> Weighed | None:
        """Return the mean of COLUMNS of ROWS, weighed; None where a number is not there."""
        members = [[self._of(row, column) for row in rows] for column in columns]
        evidences = [
            evidence
            for column, column_members in zip(columns, members, strict=True)
            if all(column_members)
            and (
                evidence := self._evidence(
                    column,
                    rows,
                    [member.name for row_members in column_members for member in row_members],
                )
            )
            is not None
        ]
        counts = {tuple(map(len, column_members)) for column_members in members}
        if not evidences or len(evidences) < len(columns) or len(counts) != 1:
            return None
        return Weighed(
            _mean_evidence(columns, evidences),
            [self.row_model(row, columns[0]) for row in rows],
        )

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
        positions = self.items.places(DEFAULT_TASK)
        if not keys or not {*names} <= positions.keys():
            return None
        evidences = [
            self._sliced[key].select_members([positions[name] for name in names]) for key in keys
        ]
        return _mean_evidence(keys, evidences)

    def _of_scores(self, measure: PaperMeasure, names: Sequence[str]) -> Evidence | None:
        values = np.array([score.value for score in self._stored_scores(measure, names)])
        if len(values) < len(names):
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
        item_slices = slices_of(pairs, members, by=self.table.by)
        claimed_columns = {
            column for claim in self.table.claims.values() for column in claim.columns
        }
        slices = [
            item_slice for item_slice in item_slices if claimed_columns & {*_names(item_slice.key)}
        ]
        return {
            slice_evidence.key: slice_evidence
            for slice_evidence in outcome_evidence(pairs, members, slices)
        }


def _over_seeds(
    difference: ClaimedDifference, weighed: Weighed, rows: tuple[str, str]
) -> ClaimedDifference:
    """Return the DIFFERENCE of two ROWS whose scores have no items, as sure as their seeds make
    it.
    """
    from scipy.special import stdtr, stdtrit

    first, second = (weighed.evidence.points[weighed.places[row]] for row in rows)
    noise, freedom = seed_noise(weighed.spreads(*rows))
    if noise == 0 or np.ptp(first) == np.ptp(second) == 0:
        return difference
    error = sqrt(noise)
    p = 2 * float(stdtr(freedom, -abs(difference.delta) / error))
    reach = -float(stdtrit(freedom, 0.025)) * error
    low, high = difference.delta - reach, difference.delta + reach
    return replace(difference, p=p, low=low, high=high)


def _mean_evidence(keys: Sequence[str], evidences: Sequence[Evidence]) -> Evidence:
    """Return the evidence of the mean of slices with these KEYS; of one the slice's own."""
    return evidences[0] if len(evidences) == 1 else average_evidence(" + ".join(keys), evidences)


def find_score(evaluation: Evaluation, measure: PaperMeasure) -> StoredScore | None:
    """Return the score that MEASURE names; of a classifier's two accuracies the test accuracy, not
    the one that chose its L2 penalty.
    """
    fitting = [
        score
        for score in evaluation.scores
        if (score.slice, score.metric, score.setting)
        == (measure.slice, measure.metric, measure.setting)
        and score.by in {"dataset", "average"}
        and measure.split in {None, score.split}
    ]
    return next((score for score in fitting if score.split != "dev"), next(iter(fitting), None))


def _names(key: str) -> tuple[str, str]:
    """Return the names that a claim can call a slice by: its whole key, or without the dataset."""
    return key, key.partition("/")[2] or key
