"""What members answered to the items of a task, or scored on it, gathered without loading a model
or a task.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from embedlab.analysis.evidence import Evidence
from embedlab.core.errors import MissingError
from embedlab.data.shared_text import Overlap
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import PREDICTED, StoredOutcomes
from embedlab.runs.parts import StoredPart


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberOutcomes:
    """The outcomes, scores and notes of one member model on one task."""

    outcomes: Mapping[str, StoredOutcomes]  # by dataset, for datasets that are tested item by item
    scores: tuple[StoredScore, ...]  # for the other datasets
    overlaps: Mapping[str, Overlap]  # by dataset, where text is shared with the training data
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    missing: tuple[MissingError, ...] = ()
    data: tuple[StoredPart, ...] = ()  # the state of every part that was read, without repeats
    settings: tuple[
        str, ...
    ] = ()  # how the scores of the outcomes were made, as far as their evaluation says it
    refused: tuple[str, ...] = ()  # texts that the model has no vector of

    def without_texts(self, datasets: Collection[str]) -> "MemberOutcomes":
        """The same without the sentences of DATASETS, which another member's outcomes have."""
        outcomes = {
            name: replace(found, items=found.items.select("item", "gold", PREDICTED))
            if name in datasets
            else found
            for name, found in self.outcomes.items()
        }
        return replace(self, outcomes=outcomes)


Answers = Mapping[str, MemberOutcomes]  # by member


def answers_of(
    outcomes: Mapping[str, StoredOutcomes],
    evaluation: Evaluation | None,
    missing: tuple[MissingError, ...] = (),
) -> MemberOutcomes:
    """Return a member's OUTCOMES by dataset together with the scores, overlaps and marks of its
    EVALUATION, where there is one.
    """
    stored_scores = (
        [score for score in evaluation.scores if score.by == "dataset"]
        if evaluation is not None
        else []
    )
    # A score that chose a setting is not a result where a test score exists; some test splits have
    # no labels.
    tested = {score.slice for score in stored_scores if score.split != "dev"}
    stored_scores = [
        score for score in stored_scores if score.split != "dev" or score.slice not in tested
    ]
    scores = tuple(
        score
        for score in stored_scores
        if score.slice not in {outcome.dataset for outcome in outcomes.values()}
    )
    overlaps = {name: outcome.overlap for name, outcome in outcomes.items() if outcome.overlap}
    marks, notes = (
        {mark for outcome in outcomes.values() for mark in outcome.marks},
        [note for outcome in outcomes.values() for note in outcome.notes],
    )
    if evaluation is not None and scores:
        slices = {score.slice for score in scores}
        overlaps |= {name: shared for name, shared in evaluation.overlaps.items() if name in slices}
        marks |= {*evaluation.marks} - {"overlap"}
    return MemberOutcomes(
        outcomes=outcomes,
        scores=scores,
        overlaps=overlaps,
        marks=tuple(sorted(marks | ({"overlap"} if overlaps else set()))),
        notes=tuple(dict.fromkeys(notes)),
        missing=missing,
        data=each_once(
            [
                *(outcome.data for outcome in outcomes.values()),
                *([evaluation.data] if evaluation is not None else []),
            ]
        ),
        settings=tuple(
            dict.fromkeys(
                score.setting for score in stored_scores if score not in scores and score.setting
            )
        ),
        refused=evaluation.refused if evaluation is not None else (),
    )


def each_once(data: Iterable[Iterable[StoredPart]]) -> tuple[StoredPart, ...]:
    """Return the parts of the data that several results were read from, each once."""
    distinct = {(part["name"], part.get("split")): part for parts in data for part in parts}
    return tuple(distinct.values())


def figure_evidence(task: str, answers: Answers, members: Sequence[str]) -> list[Evidence]:
    """Return the numbers of MEMBERS on a task that have no items: they are shown next to each
    other, not tested.
    """
    evidence = []
    keys = dict.fromkeys(
        (score.slice, score.metric, score.items)
        for answer in answers.values()
        for score in answer.scores
    )
    for dataset, metric, items in keys:
        points = np.full(len(members), np.nan)
        for index, member in enumerate(members):
            scores = answers[member].scores if member in answers else ()
            values = [
                score.value for score in scores if (score.slice, score.metric) == (dataset, metric)
            ]
            points[index] = values[0] if values else np.nan
        name = f"{dataset} {metric}"
        evidence.append(
            Evidence(
                key=name,
                title=name,
                pairs=items,
                points=points,
                task=task,
                metric=metric,
                dataset=dataset,
            )
        )
    return evidence
