"""Evaluations of tasks beside a file of scores, as `evaluate` and `compare` store them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, items_frame


def write_answers(
    scores: Path, *, task: str, gold: Sequence[str], predicted: Sequence[str], fingerprint: str, dataset: str = "mr", split: str = "test"
) -> float:
    """Store a classification of items beside the file of SCORES, and return its accuracy."""
    accuracy = float(np.mean(np.array(gold) == np.array(predicted)))
    score = StoredScore(by="dataset", slice=dataset, metric="accuracy", setting="", value=accuracy, items=len(gold), split=split)
    evaluation = evaluation_with([score], task=task, fingerprint=fingerprint)
    evaluation.save(scores.parent / "evaluations")
    classes, rows = sorted({*gold, *predicted}), np.arange(len(gold))
    items = items_frame(rows, gold, predicted)
    outcomes = StoredOutcomes.of(evaluation, dataset=dataset, split=split, states=[], classes=classes, items=items)
    outcomes.save(scores.parent / "evaluations")
    return accuracy


def write_figure(scores: Path, *, task: str, value: float, fingerprint: str, metric: str = "spread", dataset: str = "sts12") -> None:
    """Store a number without items, in a unit of its own, beside the file of SCORES."""
    score = StoredScore(by="dataset", slice=dataset, metric=metric, setting="", value=value, items=9, scale=1)
    evaluation_with([score], task=task, fingerprint=fingerprint).save(scores.parent / "evaluations")


def evaluation_with(scores: Sequence[StoredScore], *, task: str, fingerprint: str) -> Evaluation:
    """Return an evaluation of a made task."""
    return Evaluation(
        task=task,
        model="m",
        fingerprint=fingerprint,
        precision="float32",
        pooling=None,
        max_tokens=None,
        truncated=0,
        data=(),
        marks=(),
        scores=tuple(scores),
    )
