"""Our numbers beside a paper's, and whether ours put its rows in the order in which they are printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import cast

import numpy as np
import polars as pl

from embedlab.analysis.comparison import generator
from embedlab.analysis.correlations import Aggregate
from embedlab.analysis.ordering import Agreement, Order, accuracy_draws, agreement, order, over_seeds, spearman_draws
from embedlab.analysis.significance import Floats
from embedlab.grids.item_draws import Kept, item_draws
from embedlab.grids.paper_table import Measure, PaperTable, Point
from embedlab.grids.row_models import Member, Spot
from embedlab.runs.evaluations import Evaluation, Score

RESAMPLES = 2_000  # a probability to about one point
HOLDS = 0.95  # from which probability an order is said to hold, and under 1 − HOLDS to be reversed

Members = Mapping[Spot, Sequence[Member]]  # the models behind each number
Evaluations = Mapping[tuple[str, str], Evaluation]  # by member and task


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """What models were judged on item by item."""

    pairs: pl.DataFrame | None  # the pair table with a column a member, for STS
    answers: Kept  # of classifiers


@dataclass(frozen=True, kw_only=True)
class Number:
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
    kendall: Agreement


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whether a table's order holds here."""

    pairs: tuple[PairOrder, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    """A row that can be put in order: its printed mean over the judged columns, ours, and the draws of ours."""

    row: str
    printed: float | None
    ours: float
    draws: Floats


def numbers_of(table: PaperTable, members: Members, evaluations: Evaluations) -> dict[Spot, Number]:
    """Every number of a table by row and column; MEMBERS are the models behind it."""
    found = {}
    for point in table.points:
        spot = (point.row, point.column)
        scores = _scores(point.measure, members.get(spot, ()), evaluations)
        printed = table.printed.get(point.row, {}).get(point.column)
        found[spot] = Number(printed=printed, values=tuple(table.scale * score.value for score in scores))
    return found


def judge(
    table: PaperTable,
    members: Members,
    evaluations: Evaluations,
    items: Items,
    watch: Callable[[int, int], None] = lambda _done, _total: None,
) -> Judgement:
    """Put the rows of TABLE in order by its judged columns; ITEMS are the pairs and answers that the models are resampled over."""
    found: list[PairOrder] = []
    rankings: list[Ranking] = []
    wanted: dict[Measure, list[str]] = {}
    for point in table.points:
        wanted.setdefault(point.measure, []).extend(member.name for member in members.get((point.row, point.column), ()))
    answers = item_draws(wanted, items.answers, RESAMPLES)
    for done, columns in enumerate(table.judge):
        ranked = _rank(table, columns, members, evaluations, _Draws(pairs=items.pairs, answers=answers))
        found += _pairs(table, columns, ranked)
        rankings += _rankings(table, columns, ranked)
        watch(done + 1, len(table.judge))
    return Judgement(pairs=tuple(found), rankings=tuple(rankings))


def find_score(evaluation: Evaluation, measure: Measure) -> Score | None:
    """The number that MEASURE names; of a classifier's two accuracies the one that counts, not the one that chose its L2."""
    fitting = [
        score
        for score in evaluation.scores
        if (score.slice, score.metric, score.setting) == (measure.slice, measure.metric, measure.setting)
        and score.by in {"dataset", "average"}
        and measure.split in {None, score.split}
    ]
    return next((score for score in fitting if score.split != "dev"), next(iter(fitting), None))


def _scores(measure: Measure, members: Sequence[Member], evaluations: Evaluations) -> list[Score]:
    """One score a member; those that were not evaluated, or not on this, are left out."""
    there = [evaluations[member.name, measure.task] for member in members if (member.name, measure.task) in evaluations]
    return [score for evaluation in there if (score := find_score(evaluation, measure)) is not None and score.value == score.value]


def _rank(
    table: PaperTable,
    columns: Sequence[str],
    members: Members,
    evaluations: Evaluations,
    drawn: "_Draws",
) -> list[_Ranked]:
    """The rows that have all of COLUMNS, best printed first; those that the paper does not print come last."""
    rows = []
    for row in table.makings:
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
                ours=table.scale * fmean(score.value for found in scores for score in found),
                draws=table.scale * drawn.mean_of(points, scores, [members[row, point.column] for point in points]),
            )
        )
    return sorted(rows, key=lambda one: -one.printed if one.printed is not None else float("inf"))


@dataclass(frozen=True, kw_only=True)
class _Draws:
    """What varies when a table is made again with other items and seeds."""

    pairs: pl.DataFrame | None
    answers: Mapping[tuple[str, Measure], Floats]

    def mean_of(self, points: Sequence[Point], scores: Sequence[Sequence[Score]], members: Sequence[Sequence[Member]]) -> Floats:
        """The mean of a row's judged columns in each resample of their items and of the seeds."""
        if self.pairs is not None and all((point.measure.task, point.measure.metric) == ("sts", "spearman") for point in points):
            datasets = [point.measure.slice for point in points]
            aggregate = cast("Aggregate", points[0].measure.setting)
            drawn = spearman_draws(self.pairs, [member.name for member in members[0]], datasets, aggregate, RESAMPLES)
        else:
            drawn = np.mean([self._column(*column) for column in zip(points, scores, members, strict=True)], axis=0)
        return over_seeds(drawn, [member.seed if member.seed is not None else -1 for member in members[0]])

    def _column(self, point: Point, scores: Sequence[Score], members: Sequence[Member]) -> Floats:
        """Each member's score: over its items where they are kept, an accuracy over their number, otherwise as it is."""
        if all((member.name, point.measure) in self.answers for member in members):
            return np.array([self.answers[member.name, point.measure] for member in members])
        values = [score.value for score in scores]
        if point.measure.metric == "accuracy" and scores[0].by == "dataset":
            rng = generator(0, f"{point.row} {point.column}")
            return accuracy_draws(values, scores[0].items, RESAMPLES, rng)
        return np.repeat(np.asarray(values)[:, None], RESAMPLES, axis=1)


def _pairs(table: PaperTable, columns: tuple[str, ...], ranked: Sequence[_Ranked]) -> list[PairOrder]:
    """Neighbours in the printed order within a group, then the other pairs that the text is about."""
    by_row = {one.row: one for one in ranked}
    claims = {(claim.better, claim.worse): claim.text for claim in table.claims if {claim.better, claim.worse} <= by_row.keys()}
    spoken: dict[tuple[str, str], str] = {}
    for group in dict.fromkeys(table.group(row) for row in table.makings):
        printed = [one for one in ranked if table.group(one.row) == group and one.printed is not None]
        spoken |= {(first.row, second.row): "" for first, second in pairwise(printed) if first.printed != second.printed}
    return [_pair(columns, by_row[better], by_row[worse], text) for (better, worse), text in {**spoken, **claims}.items()]


def _pair(columns: tuple[str, ...], better: _Ranked, worse: _Ranked, claim: str) -> PairOrder:
    is_printed = better.printed is not None and worse.printed is not None
    return PairOrder(
        columns=columns,
        better=better.row,
        worse=worse.row,
        printed=cast("float", better.printed) - cast("float", worse.printed) if is_printed else None,
        ours=order(better.draws, worse.draws, better.ours - worse.ours),
        claim=claim,
    )


def _rankings(table: PaperTable, columns: tuple[str, ...], ranked: Sequence[_Ranked]) -> list[Ranking]:
    found = []
    for group in dict.fromkeys(table.group(row) for row in table.makings):
        rows = [one for one in ranked if table.group(one.row) == group and one.printed is not None]
        if len(rows) > 2:
            kendall = agreement([cast("float", one.printed) for one in rows], [one.ours for one in rows], [one.draws for one in rows])
            found.append(Ranking(columns=columns, group=group, rows=len(rows), kendall=kendall))
    return found
