"""The items behind the numbers of papers and grids, with what each member got on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

import numpy as np

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.measures import MEASURES
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence
from embedlab.experiments.paper_table import PaperMeasure
from embedlab.outcomes.frame import Outcomes, measured_by, whole_blocks
from embedlab.outcomes.stored import joined_members
from embedlab.runs.outcomes import StoredOutcomes, outcomes_name

AnswersByCell = Mapping[tuple[str, str], Sequence[StoredOutcomes]]  # by member and task


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredItems:
    """The items that models were scored on."""

    tasks: Mapping[str, Outcomes] = field(default_factory=dict)  # by task, as evaluations name it
    published: frozenset[str] = frozenset()  # members that are checkpoints others can name
    _known: dict[PaperMeasure, Evidence | None] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, answers: AnswersByCell, cache: Path | None = None) -> "ScoredItems":
        """Return the items of stored ANSWERS; a member that answered other items of a dataset than
        the first member has none there.
        """
        tasks: dict[str, dict[str, dict[str, StoredOutcomes]]] = {}
        firsts: dict[tuple[str, str], StoredOutcomes] = {}
        for (member, task), stored in answers.items():
            for each in stored:
                first = firsts.setdefault((task, each.name), each)
                if each.items.select("item", "gold").equals(first.items.select("item", "gold")):
                    tasks.setdefault(task, {}).setdefault(member, {})[each.name] = each
        joined = {task: joined_members(own, [*own], cache=cache) for task, own in tasks.items()}
        return cls(tasks={task: items for task, items in joined.items() if items is not None})

    def evidence(self, measure: PaperMeasure, members: Sequence[str]) -> Evidence | None:
        """Return the evidence of MEMBERS on the items behind the number that MEASURE names; None
        where those of one of them are not there, or the number is not one of items.
        """
        if measure not in self._known:
            self._known[measure] = self._of_all(measure)
        evidence = self._known[measure]
        places = self.places(measure.task)
        if evidence is None or not {*members} <= places.keys():
            return None
        own = evidence.of_members([places[name] for name in members])
        return None if np.isnan(own.points).any() else own

    def places(self, task: str) -> dict[str, int]:
        """Return the place of each member in the evidence of a task."""
        names = self.tasks[task].predictions.columns if task in self.tasks else []
        return {name: index for index, name in enumerate(names)}

    def _of_all(self, measure: PaperMeasure) -> Evidence | None:
        outcomes, known = self.tasks.get(measure.task), MEASURES.get(measure.metric)
        if outcomes is None or known is None:
            return None
        averages = {name: of for each in outcomes.averages.values() for name, of in each.items()}
        datasets = averages.get(measure.slice, (measure.slice,))
        parts, every, split = [], list(whole_blocks(outcomes)), measure.split
        for dataset in datasets:
            key = outcomes_name(dataset, split) if split else dataset
            other_splits = () if split else (f"{dataset}:",)
            fitting = (
                each for each in every if each.key == key or each.key.startswith(other_splits)
            )
            part = next(fitting, None)
            if part is None or known.is_of_classes != bool(outcomes.blocks[part.block].classes):
                return None
            parts.append(part)
        is_aggregate = measure.setting in get_args(Aggregate)
        evidence = outcome_evidence(
            measured_by(outcomes, measure.metric),
            outcomes.predictions.columns,
            parts,
            aggregate=cast("Aggregate", measure.setting) if is_aggregate else "all",
        )
        for dataset, each in zip(datasets, evidence, strict=False):
            number = replace(measure, slice=dataset)
            self._known[number] = replace(each, key=dataset, title=dataset, task=measure.task)
        if measure in self._known:
            return self._known[measure]
        return next((each for each in evidence if each.key == measure.slice), None)
