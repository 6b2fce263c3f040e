"""The items behind the numbers of papers and grids, and whether two places of a grid's table differ
by what their cells got on each item: the items count, not the seeds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import cast, get_args

import numpy as np
import polars as pl

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
        first_items: dict[tuple[str, str], pl.DataFrame] = {}
        for (member, task), stored in answers.items():
            for outcomes in stored:
                items = outcomes.items.select("item", "gold")
                if items.equals(first_items.setdefault((task, outcomes.name), items)):
                    tasks.setdefault(task, {}).setdefault(member, []).append(outcomes)
        joined = {}
        for task, by_member in tasks.items():
            outcomes_of_all = join_members(by_member, [*by_member], cache=cache)
            if outcomes_of_all is not None:
                joined[task] = outcomes_of_all
        return cls(tasks=joined)

    def evidence(self, measure: PaperMeasure, members: Sequence[str]) -> Evidence | None:
        """Return the evidence of MEMBERS on the items behind the number that MEASURE names; None if
        a member has no such items, or the number has none.
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
        averages = dict(chain(*(names.items() for names in outcomes.averages.values())))
        datasets = averages.get(measure.slice, (measure.slice,))
        chosen, blocks, split = [], list(whole_blocks(outcomes)), measure.split
        for dataset in datasets:
            key = outcomes_name(dataset, split) if split else dataset
            splits = () if split else (f"{dataset}:",)
            fitting = [row for row in blocks if row.key == key or row.key.startswith(splits)]
            if not fitting:
                return None
            has_classes = bool(outcomes.blocks[fitting[0].block].classes)
            if definition.is_of_classes != has_classes:
                return None
            chosen.append(fitting[0])
        is_aggregate = measure.setting in get_args(Aggregate)
        evidence = outcome_evidence(
            with_measures(outcomes, measure.metric),
            outcomes.predictions.columns,
            chosen,
            aggregate=cast("Aggregate", measure.setting) if is_aggregate else "all",
        )
        for dataset, row in zip(datasets, evidence, strict=False):
            named_row = replace(row, key=dataset, title=dataset, task=measure.task)
            self._evidence_by_measure[replace(measure, slice=dataset)] = named_row
        if measure in self._evidence_by_measure:
            return self._evidence_by_measure[measure]
        return next((row for row in evidence if row.key == measure.slice), None)


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
        """Return the evidence behind a table, AVERAGES with the datasets of each; None unless the
        items of every cell are stored and give the score of its evaluation.

        Facts about the sentences are cached in the folder CACHE.
        """
        spreads = list(pivot.spreads.values())
        if any(len(spread.cells) != len(spread.values) for spread in spreads):
            return None  # averaged over an axis
        shown_cells = {name for spread in spreads for name in spread.cells}
        seeds = {cell.id: cell.seed for cell in plan.cells if cell.id in shown_cells}
        folders = {cell.id: cell.run.evaluations for cell in plan.cells if cell.id in shown_cells}
        whole_task = measure.task.rpartition("/")[0]  # some datasets of a task are in its folder
        task_names = [*filter(None, [measure.task, whole_task])]
        outcomes = open_outcomes(folders, task_names, cache=cache)
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
        """Return a table with the ties that items and seeds give; dev scores, whose items are not
        stored, have the ties that seeds alone give.
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
