"""Whether two places of a grid's table differ, by what their cells got on each item: the items
count, not the seeds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.weighing import Weighed
from embedlab.experiments.paper_table import PaperMeasure
from embedlab.experiments.pivot import (
    DEV_SCORE,
    Apart,
    Pivot,
    ScoreFilter,
    Spread,
    apart_over_seeds,
    with_ties,
)
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.scored_items import ScoredItems
from embedlab.outcomes.stored import open_outcomes

EXACT = 0.0005  # points x 100 that a score of the items at hand may differ from the evaluation's


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemTies:
    """The evidence of all cells on each slice that a table shows."""

    evidence: Mapping[str, Evidence]  # by slice
    seeds: Mapping[str, int]  # by cell, in the order of the evidence's members

    @classmethod
    def of(
        cls,
        plan: GridPlan,
        pivot: Pivot,
        measure: ScoreFilter,
        averages: Mapping[str, Sequence[str]],
        cache: Path | None = None,
    ) -> "ItemTies | None":
        """The evidence behind a table, AVERAGES with the datasets of each; None unless what every
        cell got on each item is stored.

        What is known of their sentences is kept in the folder CACHE; where they give a cell
        another score than its evaluation has, they are not the ones it was scored on.
        """
        places = list(pivot.spreads.values())
        if any(len(spread.cells) != len(spread.values) for spread in places):
            return None  # averaged over an axis
        shown = {name for spread in places for name in spread.cells}
        seeds = {cell.id: cell.seed for cell in plan.cells if cell.id in shown}
        folders = {cell.id: plan.run(cell).evaluations for cell in plan.cells if cell.id in shown}
        whole = measure.task.rpartition("/")[0]  # some datasets of a task are in its folder
        outcomes = open_outcomes(folders, [measure.task, *([whole] if whole else [])], cache=cache)
        if outcomes is None:
            return None
        items = ScoredItems(
            tasks={measure.task: replace(outcomes, averages={measure.task: averages})}
        )
        evidence = {}
        # averages first: what their datasets are is found with them
        for name in sorted({*pivot.shown} - {DEV_SCORE}, key=lambda name: name not in averages):
            number = PaperMeasure(
                task=measure.task, slice=name, metric=measure.metric, setting=measure.setting
            )
            known = items.evidence(number, list(seeds))
            if known is None:
                return None
            evidence[name] = known
        ties = cls(evidence=evidence, seeds=seeds)
        return ties if evidence and ties._gives(pivot) else None

    def marked(self, pivot: Pivot) -> Pivot:
        """A table with the ties that items and seeds give; dev scores, whose items are not stored,
        have those of seeds alone.
        """
        return replace(with_ties(pivot, self.apart), is_by_items=True)

    def apart(self, name: str, first: Spread, second: Spread) -> Apart:
        """How far apart two places are on the slice NAME, in the units of the table."""
        if name == DEV_SCORE:
            return apart_over_seeds(first, second)
        order = list(self.seeds)
        places = [order.index(member) for member in (*first.cells, *second.cells)]
        models = [
            ModelColumns(
                name=place,
                members=spread.cells,
                seeds=tuple(self.seeds[cell] for cell in spread.cells),
            )
            for place, spread in (("first", first), ("second", second))
        ]
        weighed, pair = Weighed(self.evidence[name].of_members(places), models), ("first", "second")
        uncertainty = weighed.of_pair[pair]
        variance = uncertainty.variance_of_rows + uncertainty.seeds + uncertainty.other
        return Apart(p=weighed.p[pair], variance=100**2 * variance)

    def _gives(self, pivot: Pivot) -> bool:
        """Whether the items give every cell the score that the table has."""
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
