"""Our numbers beside a paper's, and whether ours put its rows in the order in which they are printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import cast

import numpy as np
import polars as pl

from embedlab.analysis.evidence import SliceRows, joined, pair_rows, sentence_numbers
from embedlab.analysis.ordering import Estimate, Order, Ordering, RankAgreement
from embedlab.choices import Aggregate
from embedlab.core.names import scores_pairs
from embedlab.papers.items import StoredOutcomes, item_rows
from embedlab.papers.matching_runs import CellKey, Member
from embedlab.papers.table import Measure, PaperTable, Point
from embedlab.runs.evaluations import Evaluation, StoredScore

HOLDS = 0.95  # from which probability an order is said to hold, and under 1 − HOLDS to be reversed

CellMembers = Mapping[CellKey, Sequence[Member]]  # the models behind each number
EvaluationsByTask = Mapping[tuple[str, str], Evaluation]  # by member and task


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredItems:
    """What models were judged on item by item."""

    pairs: pl.DataFrame | None  # the pair table with a column a member, for STS
    answers: StoredOutcomes  # of classifiers


@dataclass(frozen=True, kw_only=True)
class ComparedNumber:
    """One number of a table: what the paper prints and what each of our models scored, both in the paper's units."""

    printed: float | None
    values: tuple[float, ...]  # one a member; empty: not there

    @property
    def mean(self) -> float | None:
        """Ours, averaged over the members."""
        return fmean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over the members; None for one."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus the printed number."""
        return self.mean - self.printed if self.mean is not None and self.printed is not None else None


@dataclass(frozen=True, kw_only=True)
class PairOrder:
    """Two rows in the order in which the paper puts them, and how ours stand."""

    columns: tuple[str, ...]  # whose mean is compared
    better: str
    worse: str
    printed: float | None  # the printed difference; None where a figure prints none
    ours: Order
    claim: str  # what the text says of them; empty: they are neighbours in the printed order


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """All rows of a group at once."""

    columns: tuple[str, ...]
    group: str
    rows: int
    kendall: RankAgreement


@dataclass(frozen=True, kw_only=True)
class RowOrder:
    """Whether a table's order holds here."""

    pairs: tuple[PairOrder, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ranked:
    """A row that can be put in order: its printed mean over the ranked columns, and ours."""

    row: str
    printed: float | None
    ours: Estimate


def numbers_of(table: PaperTable, members: CellMembers, evaluations: EvaluationsByTask) -> dict[CellKey, ComparedNumber]:
    """Every number of a table by row and column; MEMBERS are the models behind it."""
    found = {}
    for point in table.points:
        cell = (point.row, point.column)
        scores = _scores(point.measure, members.get(cell, ()), evaluations)
        printed = table.printed.get(point.row, {}).get(point.column)
        found[cell] = ComparedNumber(printed=printed, values=tuple(table.scale * score.value for score in scores))
    return found


def find_row_order(
    table: PaperTable,
    members: CellMembers,
    evaluations: EvaluationsByTask,
    items: ScoredItems,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> RowOrder:
    """Put the rows of TABLE in order by its judged columns; ITEMS are the pairs and answers that the scores vary over."""
    found: list[PairOrder] = []
    rankings: list[Ranking] = []
    wanted: dict[Measure, list[str]] = {}
    for point in table.points:
        wanted.setdefault(point.measure, []).extend(member.name for member in members.get((point.row, point.column), ()))
    pairs = items.pairs.with_columns(sentence_numbers(items.pairs)) if items.pairs is not None else None
    behind = _Behind(pairs=pairs, answers=item_rows(wanted, items.answers))
    for done, columns in enumerate(table.ranked_by):
        ranked = _rank(table, columns, members, evaluations, behind)
        ordering = Ordering([one.ours for one in ranked])
        found += _pairs(table, columns, ranked, ordering)
        rankings += _rankings(table, columns, ranked, ordering)
        progress(done + 1, len(table.ranked_by))
    return RowOrder(pairs=tuple(found), rankings=tuple(rankings))


def find_score(evaluation: Evaluation, measure: Measure) -> StoredScore | None:
    """The number that MEASURE names; of a classifier's two accuracies the one that counts, not the one that chose its L2."""
    fitting = [
        score
        for score in evaluation.scores
        if (score.slice, score.metric, score.setting) == (measure.slice, measure.metric, measure.setting)
        and score.by in {"dataset", "average"}
        and measure.split in {None, score.split}
    ]
    return next((score for score in fitting if score.split != "dev"), next(iter(fitting), None))


def _scores(measure: Measure, members: Sequence[Member], evaluations: EvaluationsByTask) -> list[StoredScore]:
    """One score a member; those that were not evaluated, or not on this, are left out."""
    there = [evaluations[member.name, measure.task] for member in members if (member.name, measure.task) in evaluations]
    return [score for evaluation in there if (score := find_score(evaluation, measure)) is not None and score.value == score.value]


def _rank(
    table: PaperTable,
    columns: Sequence[str],
    members: CellMembers,
    evaluations: EvaluationsByTask,
    behind_scores: "_Behind",
) -> list[_Ranked]:
    """The rows that have all of COLUMNS, best printed first; those that the paper does not print come last."""
    rows = []
    for row in table.sources:
        points = [point for point in table.points if point.row == row and point.column in columns]
        scores = [_scores(point.measure, members.get((row, point.column), ()), evaluations) for point in points]
        behind = members.get((row, columns[0]), ())
        if not behind or len(points) < len(columns) or any(len(found) != len(behind) for found in scores):
            continue
        prints = [table.printed.get(row, {}).get(column) for column in columns]
        known = [value for value in prints if value is not None]
        rows.append(
            _Ranked(
                row=row,
                printed=fmean(known) if len(known) == len(columns) else None,
                ours=behind_scores.estimate(points, scores, [members[row, point.column] for point in points], table.scale),
            )
        )
    return sorted(rows, key=lambda one: -one.printed if one.printed is not None else float("inf"))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Behind:
    """The pairs and items behind the scores."""

    pairs: pl.DataFrame | None
    answers: Mapping[tuple[str, Measure], SliceRows]

    def estimate(
        self, points: Sequence[Point], scores: Sequence[Sequence[StoredScore]], members: Sequence[Sequence[Member]], scale: float
    ) -> Estimate:
        """The mean of a row's ranked columns with what it varies by, times SCALE."""
        values = np.mean([[score.value for score in column] for column in scores], axis=0)
        rows: list[SliceRows] = []
        other = 0.0
        for point, column, own in zip(points, scores, members, strict=True):
            found = self._rows(point, [member.name for member in own])
            if found is not None:
                rows.append(found)
            else:
                other += _variance_of_counts(point, column) / len(points) ** 2
        return Estimate(
            members=scale * values,
            rows=joined([(one, scale / len(points)) for one in rows]) if rows else None,
            other=scale**2 * other,
            is_recipe=any(member.seed is not None for member in members[0]),
            behind=tuple(member.runs for member in members[0]),
        )

    def _rows(self, point: Point, members: Sequence[str]) -> SliceRows | None:
        """The rows behind one column, a row of contributions for each member; None where they are not stored."""
        measure = point.measure
        if self.pairs is not None and scores_pairs(measure.task) and measure.metric == "spearman":
            pairs = self.pairs.filter(pl.col("dataset") == measure.slice).drop_nulls(["gold", *members])
            return pair_rows(pairs, members, cast("Aggregate", measure.setting))[1]
        found = [self.answers[member, measure] for member in members if (member, measure) in self.answers]
        if len(found) < len(members):
            return None
        return SliceRows(contributions=np.concatenate([one.contributions for one in found]), texts=found[0].texts, groups=found[0].groups)


def _variance_of_counts(point: Point, scores: Sequence[StoredScore]) -> float:
    """The variance of the mean of accuracies whose items are not stored, from their number: members err on the same items."""
    if point.measure.metric != "accuracy" or scores[0].by != "dataset":
        return 0.0
    share = fmean(score.value for score in scores)
    return share * (1 - share) / scores[0].items


def _pairs(table: PaperTable, columns: tuple[str, ...], ranked: Sequence[_Ranked], ordering: Ordering) -> list[PairOrder]:
    """Neighbours in the printed order within a group, then the other pairs that the text is about."""
    by_row = {one.row: place for place, one in enumerate(ranked)}
    claims = {(claim.better, claim.worse): claim.text for claim in table.claims if {claim.better, claim.worse} <= by_row.keys()}
    spoken: dict[tuple[str, str], str] = {}
    for group in dict.fromkeys(table.group(row) for row in table.sources):
        printed = [one for one in ranked if table.group(one.row) == group and one.printed is not None]
        spoken |= {(first.row, second.row): "" for first, second in pairwise(printed) if first.printed != second.printed}
    return [
        PairOrder(
            columns=columns,
            better=better,
            worse=worse,
            printed=_printed_difference(ranked[by_row[better]], ranked[by_row[worse]]),
            ours=ordering.order(by_row[better], by_row[worse]),
            claim=text,
        )
        for (better, worse), text in {**spoken, **claims}.items()
    ]


def _printed_difference(better: _Ranked, worse: _Ranked) -> float | None:
    return better.printed - worse.printed if better.printed is not None and worse.printed is not None else None


def _rankings(table: PaperTable, columns: tuple[str, ...], ranked: Sequence[_Ranked], ordering: Ordering) -> list[Ranking]:
    found = []
    for group in dict.fromkeys(table.group(row) for row in table.sources):
        places = [place for place, one in enumerate(ranked) if table.group(one.row) == group and one.printed is not None]
        if len(places) > 2:
            printed = [cast("float", ranked[place].printed) for place in places]
            found.append(Ranking(columns=columns, group=group, rows=len(places), kendall=ordering.agreement(places, printed)))
    return found
