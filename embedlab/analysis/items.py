"""Items as evidence: accuracy, F1 and Matthews correlation of classified ones, Spearman of scored ones, resampled over the items.

Items on which every model has the same say are alike: a resample draws how often each such pattern occurs, which is the bootstrap
over items, without drawing items.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.comparison import Evidence, generator
from embedlab.analysis.correlations import spearman
from embedlab.analysis.paired_tests import mcnemar
from embedlab.analysis.significance import CHUNK, Floats, resampled_spearman

Metric = Literal["accuracy", "f1", "matthews"]
Labels = NDArray[np.int64]


def metric_of_counts(gold: Labels, predicted: Labels, counts: NDArray[np.int64], metric: Metric) -> Floats:
    """The metric of each row of PREDICTED where item i occurs counts[…, i] times; (rows, …).

    gold: (items,) class indices; predicted: (rows, items). F1 is that of the second of two classes; Matthews is 0 where a column
    is constant, F1 where the class is neither there nor predicted.
    """
    weighted = counts.astype(np.float64)
    if metric == "accuracy":
        right: Floats = weighted @ (predicted == gold).T.astype(np.float64)
        shares: Floats = np.moveaxis(right, -1, 0) / weighted.sum(-1)
        return shares
    hits, found, real, total = _binary_counts(gold, predicted, weighted)
    if metric == "f1":
        return 2 * hits / np.maximum(1, found + real)
    spread = np.sqrt(found * (total - found) * real * (total - real))
    result: Floats = np.divide(hits * total - found * real, spread, out=np.zeros_like(hits), where=spread > 0)
    return result


def resampled_metric(gold: Labels, predicted: Labels, metric: Metric, resamples: int, rng: np.random.Generator) -> Floats:
    """The metric of each row of PREDICTED in each resample of the items, the same resample for every row; (rows, resamples)."""
    says = np.vstack([gold, predicted]) if metric != "accuracy" else (predicted == gold).astype(np.int64)
    _, first, counts = np.unique(says, axis=1, return_index=True, return_counts=True)
    items, chunk = int(counts.sum()), max(1, CHUNK // len(counts))
    draws = [
        metric_of_counts(
            gold[first], predicted[:, first], rng.multinomial(items, counts / items, size=min(chunk, resamples - start)), metric
        )
        for start in range(0, resamples, chunk)
    ]
    return np.concatenate([np.empty((len(predicted), 0)), *draws], axis=1)


def item_evidence(
    task: str, name: str, gold: Labels, predicted: Mapping[int, Labels], members: int, *, metric: Metric, resamples: int, seed: int
) -> Evidence:
    """The evidence of one dataset: PREDICTED holds class indices by member number; members of MEMBERS without any have no score.

    Accuracies are tested by McNemar, other metrics by the bootstrap.
    """
    there = list(predicted)
    rows = np.array([predicted[member] for member in there])
    points, draws = np.full(members, np.nan), np.full((members, resamples), np.nan)
    points[there] = metric_of_counts(gold, rows, np.ones(len(gold), np.int64), metric)
    draws[there] = resampled_metric(gold, rows, metric, resamples, generator(seed, f"{task} {name}"))
    return Evidence(
        key=name,
        title=name,
        pairs=len(gold),
        points=points,
        draws=draws,
        task=task,
        metric=metric,
        p=_mcnemar(rows == gold, there, members) if metric == "accuracy" else None,
        test="mcnemar" if metric == "accuracy" else "bootstrap",
    )


def score_evidence(
    task: str, name: str, gold: Floats, predicted: Mapping[int, Floats], members: int, *, resamples: int, seed: int
) -> Evidence:
    """The evidence of one dataset whose items have scores: PREDICTED holds them by member number; Spearman, tested by the bootstrap."""
    there = list(predicted)
    points, draws = np.full(members, np.nan), np.full((members, resamples), np.nan)
    points[there] = [spearman(gold, scores) for scores in predicted.values()]
    draws[there] = resampled_spearman(gold, np.array([predicted[member] for member in there]), resamples, generator(seed, f"{task} {name}"))
    return Evidence(key=name, title=name, pairs=len(gold), points=points, draws=draws, task=task, metric="spearman")


def average_evidence(name: str, parts: Sequence[Evidence]) -> Evidence:
    """The plain mean of several datasets, each resampled on its own."""
    return Evidence(
        key=name,
        title=name,
        pairs=sum(part.pairs for part in parts),
        points=np.mean([part.points for part in parts], axis=0),
        draws=np.mean([part.draws for part in parts], axis=0),
        average_of=tuple(part.key for part in parts),
        task=parts[0].task,
        metric=parts[0].metric,
    )


def _binary_counts(gold: Labels, predicted: Labels, weighted: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each row: hits, items found and items that are of the second class, and all items; (rows, …) or what broadcasts to it."""
    hits, found = (np.moveaxis(weighted @ part.T.astype(np.float64), -1, 0) for part in ((predicted == 1) & (gold == 1), predicted == 1))
    return hits, found, weighted @ (gold == 1).astype(np.float64), weighted.sum(-1)


def _mcnemar(correct: NDArray[np.bool_], there: Sequence[int], members: int) -> Floats:
    p = np.full((members, members), np.nan)
    for a, b in combinations(range(len(there)), 2):
        p[there[a], there[b]] = p[there[b], there[a]] = mcnemar(correct[a], correct[b])
    return p
