"""Whether two places of a grid's table differ, by the stored similarities of their cells: the pairs
count, not the seeds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.weighing import Weighed
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence
from embedlab.data.sts import STS_AVERAGES
from embedlab.experiments.pivot import (
    DEV_SCORE,
    Apart,
    Pivot,
    ScoreFilter,
    Spread,
    apart_over_seeds,
    with_ties,
)
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.stored import open_outcomes

_SLICES = {
    *STS_AVERAGES,
    *(name for names in STS_AVERAGES.values() for name in names),
}  # those of the task sts, without a task's code

EXACT = 0.0005  # points x 100 that a score of the pairs at hand may differ from the evaluation's


@dataclass(frozen=True, kw_only=True, eq=False)
class PairDifferences:
    """The evidence of all cells on each slice that a table shows."""

    evidence: Mapping[str, Evidence]  # by slice
    seeds: Mapping[str, int]  # by cell, in the order of the evidence's members

    @classmethod
    def of(
        cls,
        plan: GridPlan,
        pivot: Pivot,
        measure: ScoreFilter,
        cache: Path | None = None,
    ) -> "PairDifferences | None":
        """The evidence behind a table; None unless its numbers are correlations of pairs whose
        similarities are all stored.

        What is known of their sentences is kept in the folder CACHE; where they give a cell
        another score than its evaluation has, they are not the ones it was scored on.
        """
        shown = [name for name in pivot.shown if name != DEV_SCORE]
        places = list(pivot.spreads.values())
        if not (_is_of_pairs(measure) and shown and {*shown} <= _SLICES):
            return None
        if any(len(spread.cells) != len(spread.values) for spread in places):
            return None  # averaged over an axis
        cells = {
            cell.id: cell
            for cell in plan.cells
            if any(cell.id in spread.cells for spread in places)
        }
        outcomes = _outcomes(plan, cells, measure.task, shown, cache)
        if outcomes is None:
            return None
        found_of = outcome_evidence(outcomes, list(cells), aggregate=_aggregate(measure))
        evidence = {evidence.key: evidence for evidence in found_of if evidence.key in shown}
        made = cls(evidence=evidence, seeds={name: cell.seed for name, cell in cells.items()})
        return made if {*evidence} == {*shown} and made._gives(pivot) else None

    def marked(self, pivot: Pivot) -> Pivot:
        """A table with the ties that pairs and seeds give; dev scores, whose pairs are not stored,
        have those of seeds alone.
        """
        return replace(with_ties(pivot, self.apart), is_by_pairs=True)

    def apart(self, name: str, first: Spread, second: Spread) -> Apart:
        """How far apart two places are on the slice NAME, in the units of the table."""
        if name == DEV_SCORE:
            return apart_over_seeds(first, second)
        members = [*first.cells, *second.cells]
        order = list(self.seeds)
        models = [self._model("first", first), self._model("second", second)]
        weighed = Weighed(
            self.evidence[name].of_members([order.index(member) for member in members]), models
        )
        pair = ("first", "second")
        uncertainty = weighed.of_pair[pair]
        return Apart(
            p=weighed.p[pair],
            variance=100**2
            * (uncertainty.variance_of_rows + uncertainty.seeds + uncertainty.other),
        )

    def _model(self, name: str, spread: Spread) -> ModelColumns:
        return ModelColumns(
            name=name, members=spread.cells, seeds=tuple(self.seeds[cell] for cell in spread.cells)
        )

    def _gives(self, pivot: Pivot) -> bool:
        """Whether the pairs give every cell the score that the table has."""
        order = list(self.seeds)
        for (_, column), spread in pivot.spreads.items():
            name = column if column in pivot.shown else pivot.shown[0]
            if name == DEV_SCORE:
                continue
            points = 100 * self.evidence[name].points[[order.index(cell) for cell in spread.cells]]
            if any(
                abs(point - value) > EXACT
                for point, value in zip(points, spread.values, strict=True)
            ):
                return False
        return True


def _is_of_pairs(measure: ScoreFilter) -> bool:
    return measure.metric == "spearman" and measure.setting in get_args(Aggregate)


def _aggregate(measure: ScoreFilter) -> Aggregate:
    return next(argument for argument in get_args(Aggregate) if argument == measure.setting)


def _outcomes(
    plan: GridPlan,
    cells: Mapping[str, Cell],
    task: str,
    shown: Sequence[str],
    cache: Path | None,
) -> Outcomes | None:
    """Return what is stored of CELLS on the datasets that a table SHOWS; None where one lacks a
    pair.
    """
    names = {dataset for name in shown for dataset in STS_AVERAGES.get(name, (name,))}
    folders = {name: plan.run(cell).evaluations for name, cell in cells.items()}
    outcomes = open_outcomes(folders, [task], names, cache)
    if outcomes is None or {block.dataset for block in outcomes.blocks} != names:
        return None
    if any(outcomes.predictions.null_count().row(0)):
        return None
    return replace(outcomes, averages={task: STS_AVERAGES})
