"""What members answered to the items of a task, or scored on it, gathered without loading a model
or a task.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.evidence import Evidence
from embedlab.core.errors import MissingError
from embedlab.data.shared_text import Overlap
from embedlab.outcomes.frame import ROWS, SENTENCES, TEXT_IDS, Block, Outcomes
from embedlab.outcomes.pairs import KEYS
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, values_of
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


Answers = Mapping[str, MemberOutcomes]  # by member


Measures = Callable[
    [str, StoredOutcomes], tuple[str, ...]
]  # of a dataset with these outcomes, the one that enters averages first


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


def answered_items(
    task: str, suite: str, answers: Answers, members: Sequence[str], measures: Measures
) -> Outcomes | None:
    """Return the items that MEMBERS answered, None where there are none; their sentences are
    unknown, and nothing is averaged.
    """
    stored = first_of_each(answers)
    if not stored:
        return None
    blocks, rows, predictions = [], [], []
    for index, (name, first) in enumerate(stored.items()):
        there = {
            member: answer.outcomes[name]
            for member, answer in answers.items()
            if name in answer.outcomes
        }
        texts = first.texts
        block = Block(
            task=task,
            suite=suite,
            dataset=name,
            measures=measures(name, first),
            classes=first.classes,
            is_of_pairs=texts is not None and bool((texts[:, 0] != texts[:, 1]).any()),
        )
        blocks.append(block)
        gold, *predicted = (values.astype(np.float64) for values in values_of(list(there.values())))
        known = dict(zip(there, predicted, strict=True))
        lacking = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(gold))
        rows.append(_rows(index, list(there.values()), gold))
        predictions.append(pl.DataFrame({member: known.get(member, lacking) for member in members}))
    items = pl.concat(rows)
    keys = items.select(pl.col(name).alias(key) for name, key in zip(TEXT_IDS, KEYS, strict=True))
    unknown = pl.DataFrame(schema=dict.fromkeys(SENTENCES, pl.String())).clear(items.height)
    return Outcomes(
        rows=items,
        predictions=pl.concat(predictions),
        blocks=tuple(blocks),
        texts=lambda: unknown,
        keys=lambda: keys,
    )


def on_common_items(answers: Answers) -> Answers:
    """Return ANSWERS to the items of each dataset that all members have: what one of them cannot
    read is left out for all.
    """
    items: dict[str, pl.Series] = {}
    for answer in answers.values():
        for name, outcomes in answer.outcomes.items():
            own = outcomes.items["item"]
            known = items.setdefault(name, own)
            items[name] = known if own.equals(known) else known.filter(known.is_in(own.implode()))
    return {
        member: replace(
            answer,
            outcomes={
                name: outcomes
                if outcomes.items["item"].equals(items[name])
                else replace(
                    outcomes,
                    items=outcomes.items.filter(pl.col("item").is_in(items[name].implode())),
                )
                for name, outcomes in answer.outcomes.items()
            },
        )
        for member, answer in answers.items()
    }


def first_of_each(answers: Answers) -> dict[str, StoredOutcomes]:
    """Return the outcomes of one member on each dataset."""
    by_dataset: dict[str, StoredOutcomes] = {}
    for answer in answers.values():
        for name, outcomes in answer.outcomes.items():
            by_dataset.setdefault(name, outcomes)
    return by_dataset


def _rows(index: int, stored: Sequence[StoredOutcomes], gold: NDArray[np.float64]) -> pl.DataFrame:
    texts = next((outcomes.texts for outcomes in stored if outcomes.texts is not None), None)
    nothing = [None] * len(gold)
    columns = {
        "block": [index] * len(gold),
        "item": stored[0].items["item"],
        "gold": gold,
        "source": nothing,
    }
    columns |= {
        name: texts[:, side] if texts is not None else nothing for side, name in enumerate(TEXT_IDS)
    }
    return pl.DataFrame({name: columns[name] for name in ROWS}, schema=ROWS)
