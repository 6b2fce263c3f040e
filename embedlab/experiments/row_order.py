"""Our numbers next to a paper's: whether they reproduce the printed order of the rows, and the
measured differences behind the paper's claims, by the procedure of every comparison.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import inf, nan
from statistics import fmean, stdev
from typing import cast

import numpy as np

from embedlab.analysis.claims import ClaimedDifference, Verdict, claimed_difference
from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import (
    Evidence,
    ModelColumns,
    Reach,
    SliceRows,
    average_evidence,
    joined,
    weakest,
)
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.ordering import Estimate, Order, Ordering, RankAgreement
from embedlab.analysis.seed_notes import REACHES
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.names import DEFAULT_TASK
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.matching_runs import CellKey, Member
from embedlab.experiments.paper_table import PaperMeasure, PaperTable, Point
from embedlab.runs.evaluations import Evaluation, StoredScore

OF_ALL = "mean"  # the slice of a mean over the others
CellMembers = Mapping[CellKey, Sequence[Member]]  # the models of each number
EvaluationsByTask = Mapping[tuple[str, str], Evaluation]  # by member and task


@dataclass(frozen=True, kw_only=True)
class ComparedNumber:
    """One number of a table: the printed value and the score of each of our models, both in the
    paper's units.
    """

    printed: float | None
    values: tuple[float, ...]  # one a member; empty: not available

    @property
    def mean(self) -> float | None:
        """Return our number, averaged over the members."""
        return fmean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Return the standard deviation over the members; None for one."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Return our number minus the printed one."""
        return (
            self.mean - self.printed if self.mean is not None and self.printed is not None else None
        )


@dataclass(frozen=True, kw_only=True)
class PairOrder:
    """Two rows in the paper's order, and the order of our scores."""

    columns: tuple[str, ...]  # whose mean is compared
    better: str
    worse: str
    printed: float | None  # the printed difference; None for a figure without numbers
    ours: Order
    claim: str  # the paper's statement about them; empty: neighbours in the printed order
    reach: Reach = "models"
    # two-sided, corrected by Holm over the pairs of the table; nan without known variance
    p: float = nan
    is_inconclusive: bool = False  # its runs say nothing about the paper's rows
    is_equal: bool = False  # ours are equal to the last digit that is shown

    @property
    def verdict(self) -> Verdict:
        """Whether the order holds; what has no known variance is open."""
        if self.is_inconclusive:
            return "not measured"
        if self.is_equal or not self.p < SIGNIFICANT:
            return "open"
        return "holds" if self.ours.difference > 0 else "reversed"

    @property
    def sign(self) -> str:
        """The sign of how far the verdict reaches; empty where there is none."""
        return REACHES[self.reach] if self.verdict in {"holds", "reversed"} else ""


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

    pairs: tuple[PairOrder, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ranked:
    """A row to rank: its printed mean over the ranked columns, and ours."""

    row: str
    printed: float | None
    ours: Estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class _Number:
    """One number of a row to rank: the score of each member, and what it was computed from."""

    point: Point
    scores: Sequence[StoredScore]
    rows: SliceRows | None


def table_numbers(
    table: PaperTable, members: CellMembers, evaluations: EvaluationsByTask
) -> dict[CellKey, ComparedNumber]:
    """Return every number of a table by row and column; MEMBERS are its models."""
    numbers = {}
    for point in table.points:
        cell = (point.row, point.column)
        scores = _scores(point.measure, members.get(cell, ()), evaluations)
        printed = table.printed.get(point.row, {}).get(point.column)
        numbers[cell] = ComparedNumber(
            printed=printed, values=tuple(table.scale * score.value for score in scores)
        )
    return numbers | _ensembles(table, numbers)


def _ensembles(
    table: PaperTable, numbers: Mapping[CellKey, ComparedNumber]
) -> dict[CellKey, ComparedNumber]:
    """Return the numbers of rows whose columns are each predicted by the best of other rows, seed
    by seed; a mean is that of the others.
    """
    ensembles: dict[CellKey, ComparedNumber] = {}
    for row, source in table.sources.items():
        points = [point for point in table.points if point.row == row and source.best_of]
        values: dict[str, tuple[float, ...]] = {}
        for column in [point.column for point in points if point.measure.slice != OF_ALL]:
            cells = [
                numbers[other, column] for other in source.best_of if (other, column) in numbers
            ]
            known = [cell.values for cell in cells if cell.values]
            values[column] = tuple(map(max, *known)) if len(known) > 1 else ()
        means = tuple(map(fmean, zip(*values.values(), strict=False)))
        if not all(values.values()):
            means = ()
        for point in points:
            cell = (row, point.column)
            ensembles[cell] = replace(numbers[cell], values=values.get(point.column, means))
    return ensembles


def find_row_order(
    table: PaperTable,
    members: CellMembers,
    evaluations: EvaluationsByTask,
    items: ScoredItems,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    inconclusive: Collection[str] = (),
) -> RowOrder:
    """Rank the rows of TABLE by its `ranked_by` columns; ITEMS are those that the scores vary
    over.

    Nothing is concluded of the rows that are INCONCLUSIVE.
    """
    pair_orders: list[PairOrder] = []
    rankings: list[Ranking] = []
    for done, columns in enumerate(table.ranked_by):
        ranked = _rank(table, columns, members, evaluations, items)
        ordering = Ordering([each.ours for each in ranked])
        reach = {
            row: weakest([row_model(row, members.get((row, columns[0]), ()), items.published)])
            for row in table.sources
        }
        pair_orders += _pairs(table, columns, ranked, ordering, reach)
        rankings += _rankings(table, columns, ranked, ordering)
        progress(done + 1, len(table.ranked_by))
    is_silent = [not {pair.better, pair.worse}.isdisjoint(inconclusive) for pair in pair_orders]
    each = zip(pair_orders, is_silent, strict=True)
    corrected = holm([nan if silent else pair.ours.p for pair, silent in each])
    judged = tuple(
        replace(
            pair,
            p=p,
            is_inconclusive=silent,
            is_equal=abs(pair.ours.difference) < table.last_digit / 2,
        )
        for pair, silent, p in zip(pair_orders, is_silent, corrected, strict=True)
    )
    return RowOrder(pairs=judged, rankings=tuple(rankings))


def row_model(row: str, members: Sequence[Member], published: Collection[str]) -> ModelColumns:
    """Return the members of a row as one model: of a recipe, of a checkpoint that others can name,
    or of neither.
    """
    return ModelColumns(
        name=row,
        members=tuple(f"{row} {member.name}" for member in members),
        seeds=tuple(member.seed for member in members if member.seed is not None),
        runs=tuple(member.runs or frozenset({member.name}) for member in members),
        is_published=bool(members) and all(member.name in published for member in members),
    )


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


def _scores(
    measure: PaperMeasure, members: Sequence[Member], evaluations: EvaluationsByTask
) -> list[StoredScore]:
    """Return one score a member; members that were not evaluated on this are left out."""
    there = [evaluations.get((member.name, measure.task)) for member in members]
    scores = [find_score(evaluation, measure) for evaluation in there if evaluation is not None]
    return [score for score in scores if score is not None and score.value == score.value]


def _rank(
    table: PaperTable,
    columns: Sequence[str],
    members: CellMembers,
    evaluations: EvaluationsByTask,
    items: ScoredItems,
) -> list[_Ranked]:
    """Return the rows that have all COLUMNS, best printed first; rows that the paper does not print
    come last.
    """
    numbers: dict[str, list[_Number]] = {}
    # Rows of a group are compared on the same items; a column that lacks them in one row counts as
    # independent in all.
    lacking: dict[str, set[str]] = {}
    for row in table.sources:
        behind = members.get((row, columns[0]), ())
        points = [point for point in table.points if point.row == row and point.column in columns]
        models = [members.get((row, point.column), ()) for point in points]
        scores = [
            _scores(point.measure, of_point, evaluations)
            for point, of_point in zip(points, models, strict=True)
        ]
        if behind and [*map(len, scores)] == [len(behind)] * len(columns):
            evidence = [
                items.evidence(point.measure, [member.name for member in of_point])
                for point, of_point in zip(points, models, strict=True)
            ]
            numbers[row] = of_row = [
                _Number(point=point, scores=known, rows=each.rows if each is not None else None)
                for point, known, each in zip(points, scores, evidence, strict=True)
            ]
            without = {number.point.column for number in of_row if number.rows is None}
            lacking.setdefault(table.group(row), set()).update(without)
    ranked = [
        _Ranked(
            row=row,
            printed=table.printed_mean(row, columns),
            ours=_estimate(
                of_row, members[row, columns[0]], lacking[table.group(row)], table.scale
            ),
        )
        for row, of_row in numbers.items()
    ]
    return sorted(ranked, key=lambda each: inf if each.printed is None else -each.printed)


def _estimate(
    numbers: Sequence[_Number], members: Sequence[Member], lacking: Collection[str], scale: float
) -> Estimate:
    """Return the mean of a row's ranked columns over its MEMBERS with its sources of variation,
    times SCALE; rows of LACKING columns are not used.
    """
    values = np.mean([[score.value for score in number.scores] for number in numbers], axis=0)
    rows, other = [], 0.0
    for number in numbers:
        if number.point.column in lacking:
            other += _variance_of_scores(number.point, number.scores)
        elif number.rows is not None:
            rows.append((number.rows, scale / len(numbers)))
    return Estimate(
        members=scale * values,
        rows=joined(rows) if rows else None,
        other=scale**2 * (other / len(numbers) ** 2),
        is_recipe=any(member.seed is not None for member in members),
        behind=tuple(member.runs for member in members),
    )


def _variance_of_scores(point: Point, scores: Sequence[StoredScore]) -> float:
    """Return the variance of a mean of scores without stored items, from their number; members err
    on the same items.

    That of a correlation r is (1 − r²)² (1 + r²/2) / (n − 3), which Bonett & Wright (2000) give for
    ranks; Pearson's is smaller.
    """
    value, items = fmean(score.value for score in scores), scores[0].items
    if scores[0].by != "dataset":
        return 0.0
    known = MEASURES.get(point.measure.metric)
    if known is not None and known.scale == "share":
        return value * (1 - value) / items
    if known is not None and known.scale == "correlation":
        return (1 - value**2) ** 2 * (1 + value**2 / 2) / max(items - 3, 1)
    return 0.0


def _pairs(
    table: PaperTable,
    columns: tuple[str, ...],
    ranked: Sequence[_Ranked],
    ordering: Ordering,
    reach: Mapping[str, Reach],
) -> list[PairOrder]:
    """Return neighbours in the printed order within a group, then the other pairs that the text is
    about.
    """
    by_row = {each.row: index for index, each in enumerate(ranked)}
    spoken: dict[tuple[str, str], str] = {}
    for printed in _printed_groups(table, ranked).values():
        for first, second in pairwise(printed):
            if ranked[first].printed != ranked[second].printed:
                spoken[ranked[first].row, ranked[second].row] = ""
    for claim in table.claims.values():
        rows = (
            (claim.first, claim.second)
            if claim.direction == "above"
            else (claim.second, claim.first)
        )
        is_of_columns = claim.direction != "equal" and table.columns_of(claim) == columns
        if is_of_columns and {*rows} <= by_row.keys():
            spoken[rows] = claim.text or claim.statement
    orders = []
    for (better, worse), text in spoken.items():
        above, below = ranked[by_row[better]].printed, ranked[by_row[worse]].printed
        orders.append(
            PairOrder(
                columns=columns,
                better=better,
                worse=worse,
                printed=None if above is None or below is None else above - below,
                ours=ordering.order(by_row[better], by_row[worse]),
                claim=text,
                reach="models" if {reach[better], reach[worse]} == {"models"} else "checkpoints",
            )
        )
    return orders


def _printed_groups(table: PaperTable, ranked: Sequence[_Ranked]) -> dict[str, list[int]]:
    """Return the places of the printed rows of each group, in the order of TABLE's groups."""
    groups: dict[str, list[int]] = {table.group(row): [] for row in table.sources}
    for place, each in enumerate(ranked):
        if each.printed is not None:
            groups[table.group(each.row)].append(place)
    return groups


def _rankings(
    table: PaperTable, columns: tuple[str, ...], ranked: Sequence[_Ranked], ordering: Ordering
) -> list[Ranking]:
    rankings = []
    for group, places in _printed_groups(table, ranked).items():
        if len(places) > 2:
            printed = [cast("float", ranked[place].printed) for place in places]
            agreement = ordering.agreement(places, printed)
            rankings.append(
                Ranking(columns=columns, group=group, rows=len(places), kendall=agreement)
            )
    return rankings


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
