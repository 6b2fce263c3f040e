"""The items behind the numbers of papers and grids, and whether two places of a grid's table differ
by what their cells got on each item: the items count, not the seeds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np

from embedlab.analysis.evidence import Evidence, ModelColumns
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.weighing import Weighed
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence
from embedlab.experiments.paper_table import PaperMeasure
from embedlab.experiments.pivot import (
    DEV_SCORE,
    CellSpread,
    PairTest,
    Pivot,
    ScoreFilter,
    seed_test,
    with_ties,
)
from embedlab.experiments.plan import GridPlan
from embedlab.outcomes.frame import Outcomes, whole_blocks, with_measures
from embedlab.outcomes.stored import join_members, open_outcomes
from embedlab.runs.outcomes import StoredOutcomes, outcomes_name

AnswersByCell = Mapping[tuple[str, str], Sequence[StoredOutcomes]]  # by member and task


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredItems:
    """The items that models were scored on."""

    tasks: Mapping[str, Outcomes] = field(default_factory=dict)  # by task, as evaluations name it
    published: frozenset[str] = frozenset()  # members that are checkpoints others can name
    _evidence_by_measure: dict[PaperMeasure, Evidence | None] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, answers: AnswersByCell, cache: Path | None = None) -> "ScoredItems":
        """Return the items of stored ANSWERS; a member that answered other items of a dataset than
        the first member has none there.
        """
        tasks: dict[str, dict[str, list[StoredOutcomes]]] = {}
        first_outcomes: dict[tuple[str, str], StoredOutcomes] = {}
        for (member, task), stored in answers.items():
            for outcomes in stored:
                reference = first_outcomes.setdefault((task, outcomes.name), outcomes)
                if outcomes.items.select("item", "gold").equals(
                    reference.items.select("item", "gold")
                ):
                    tasks.setdefault(task, {}).setdefault(member, []).append(outcomes)
        items_by_task = {
            task: join_members(by_member, [*by_member], cache=cache)
            for task, by_member in tasks.items()
        }
        return cls(
            tasks={task: items for task, items in items_by_task.items() if items is not None}
        )

    def evidence(self, measure: PaperMeasure, members: Sequence[str]) -> Evidence | None:
        """Return the evidence of MEMBERS on the items behind the number that MEASURE names; None
        where those of one of them are not there, or the number is not one of items.
        """
        if measure not in self._evidence_by_measure:
            self._evidence_by_measure[measure] = self._of_all(measure)
        evidence = self._evidence_by_measure[measure]
        positions = self.places(measure.task)
        if evidence is None or not {*members} <= positions.keys():
            return None
        member_evidence = evidence.select_members([positions[name] for name in members])
        return None if np.isnan(member_evidence.points).any() else member_evidence

    def places(self, task: str) -> dict[str, int]:
        """Return the place of each member in the evidence of a task."""
        names = self.tasks[task].predictions.columns if task in self.tasks else []
        return {name: index for index, name in enumerate(names)}

    def _of_all(self, measure: PaperMeasure) -> Evidence | None:
        outcomes, definition = self.tasks.get(measure.task), MEASURES.get(measure.metric)
        if outcomes is None or definition is None:
            return None
        averages = {
            name: names for each in outcomes.averages.values() for name, names in each.items()
        }
        datasets = averages.get(measure.slice, (measure.slice,))
        chosen, blocks, split = [], list(whole_blocks(outcomes)), measure.split
        for dataset in datasets:
            key = outcomes_name(dataset, split) if split else dataset
            other_splits = () if split else (f"{dataset}:",)
            fitting = (
                each for each in blocks if each.key == key or each.key.startswith(other_splits)
            )
            block = next(fitting, None)
            if block is None or definition.is_of_classes != bool(
                outcomes.blocks[block.block].classes
            ):
                return None
            chosen.append(block)
        is_aggregate = measure.setting in get_args(Aggregate)
        evidence = outcome_evidence(
            with_measures(outcomes, measure.metric),
            outcomes.predictions.columns,
            chosen,
            aggregate=cast("Aggregate", measure.setting) if is_aggregate else "all",
        )
        for dataset, each in zip(datasets, evidence, strict=False):
            number = replace(measure, slice=dataset)
            self._evidence_by_measure[number] = replace(
                each, key=dataset, title=dataset, task=measure.task
            )
        if measure in self._evidence_by_measure:
            return self._evidence_by_measure[measure]
        return next((each for each in evidence if each.key == measure.slice), None)


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
        spreads = list(pivot.spreads.values())
        if any(len(spread.cells) != len(spread.values) for spread in spreads):
            return None  # averaged over an axis
        shown_cells = {name for spread in spreads for name in spread.cells}
        seeds = {cell.id: cell.seed for cell in plan.cells if cell.id in shown_cells}
        folders = {cell.id: cell.run.evaluations for cell in plan.cells if cell.id in shown_cells}
        whole_task = measure.task.rpartition("/")[0]  # some datasets of a task are in its folder
        outcomes = open_outcomes(
            folders, [measure.task, *([whole_task] if whole_task else [])], cache=cache
        )
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
            slice_evidence = items.evidence(number, list(seeds))
            if slice_evidence is None:
                return None
            evidence[name] = slice_evidence
        ties = cls(evidence=evidence, seeds=seeds)
        return ties if evidence and ties._reproduces(pivot) else None

    def marked(self, pivot: Pivot) -> Pivot:
        """A table with the ties that items and seeds give; dev scores, whose items are not stored,
        have those of seeds alone.
        """
        return replace(with_ties(pivot, self.test_pair), is_by_items=True)

    def test_pair(self, name: str, first: CellSpread, second: CellSpread) -> PairTest:
        """How far apart two places are on the slice NAME, in the units of the table."""
        if name == DEV_SCORE:
            return seed_test(first, second)
        order = list(self.seeds)
        positions = [order.index(member) for member in (*first.cells, *second.cells)]
        models = [
            ModelColumns(
                name=side,
                members=spread.cells,
                seeds=tuple(self.seeds[cell] for cell in spread.cells),
            )
            for side, spread in (("first", first), ("second", second))
        ]
        weighed, pair = (
            Weighed(self.evidence[name].select_members(positions), models),
            ("first", "second"),
        )
        uncertainty = weighed.pair_uncertainties[pair]
        variance = uncertainty.variance_of_rows + uncertainty.seeds + uncertainty.other_variance
        return PairTest(p=weighed.p[pair], variance=100**2 * variance)

    def _reproduces(self, pivot: Pivot) -> bool:
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
