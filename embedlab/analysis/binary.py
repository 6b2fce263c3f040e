"""Measures of similarities where gold is one of two values, 0 and 1, such as duplicate or not.

Average precision and the area under the ROC curve rank; accuracy and F1 need a threshold, which is
chosen on other pairs than those that are scored.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def pair_average_precision(gold: Floats, scores: Floats) -> float:
    """Return the mean precision at the places of the positive pairs, equal scores as one place.

    gold, scores: (pairs,), gold 0 or 1; nan without a positive pair.
    """
    if not gold.any():
        return float("nan")
    hits, found, place = _cumulated(gold, scores)
    return float((gold * (hits / found)[place]).sum() / gold.sum())


def pair_average_precision_influence(gold: Floats, scores: Floats) -> Floats:
    """Return the influence of each pair on average precision; (pairs,), with mean zero.

    With h, p the shares of positive pairs and of all pairs that score at least s, and π the share
    of positive ones, the measure is E[y h(s)/p(s)]/π. A pair changes the outer mean at its own
    place, and h and p at the places of all pairs that score at most as much.
    """
    n, share = len(gold), gold.mean()
    if share == 0:
        return np.full(n, np.nan)
    hits, found, place = _cumulated(gold, scores)
    precision = hits / found
    positives = np.bincount(place, gold)  # at each place
    # Places are in descending order of scores: what scores at most as much comes at or after them.
    by_hits = np.cumsum((positives / found)[::-1])[::-1]
    by_found = np.cumsum((positives * precision / found)[::-1])[::-1]
    mean = float((gold * precision[place]).sum() / gold.sum())
    moved = gold * (precision[place] + by_hits[place] - mean) - by_found[place]
    influence: Floats = (moved - moved.mean()) / share
    return influence


def area_under_roc(gold: Floats, scores: Floats) -> float:
    """Return how often a positive pair scores more than a negative one, equal scores as a half.

    gold, scores: (pairs,), gold 0 or 1; nan where one of both is lacking.
    """
    below, _ = _shares_beside(gold, scores)
    return float(below[gold == 1].mean()) if 0 < gold.sum() < len(gold) else float("nan")


def area_under_roc_influence(gold: Floats, scores: Floats) -> Floats:
    """Return the influence of each pair on the area under the ROC curve; (pairs,), mean zero."""
    share = gold.mean()
    if not 0 < share < 1:
        return np.full(len(gold), np.nan)
    below, above = _shares_beside(gold, scores)
    area = below[gold == 1].mean()
    moved = np.where(gold == 1, (below - area) / share, (above - area) / (1 - share))
    influence: Floats = moved - moved.mean()
    return influence


def best_threshold(gold: Floats, scores: Floats, *, by_f1: bool) -> float:
    """Return the threshold, half-way between two scores, above which calling a pair positive gives
    the highest accuracy, or F1; of equally good ones the highest.

    gold, scores: (pairs,), gold 0 or 1.
    """
    hits, found, _ = _cumulated(gold, scores)
    values = np.unique(scores)[::-1]
    hits, found = np.append(0, hits), np.append(0, found)  # nothing is called positive
    positives = gold.sum()
    good = 2 * hits / (found + positives) if by_f1 and positives else 2 * hits - found
    ends = np.concatenate([[values[0] + 1], (values[:-1] + values[1:]) / 2, [values[-1] - 1]])
    return float(ends[int(np.argmax(good))])


def classes_by_threshold(
    gold: Floats, scores: Floats, folds: Rows, *, by_f1: bool
) -> NDArray[np.int64]:
    """Return the class of each pair, 1 above the threshold that is best on the pairs of the other
    folds.

    gold, scores: (pairs,); folds: (pairs,), which of at least two folds a pair is in. Pairs of one
    topic must share a fold.
    """
    classes = np.zeros(len(gold), np.int64)
    for fold in np.unique(folds):
        inside = folds == fold
        threshold = best_threshold(gold[~inside], scores[~inside], by_f1=by_f1)
        classes[inside] = scores[inside] > threshold
    return classes


def two_folds(topics: Sequence[int] | NDArray[np.integer], seed: int = 0) -> Rows:
    """Return a fold, 0 or 1, for each pair, so that topics stay whole and both have about half of
    the pairs; topics are put in an order that SEED draws, the largest first.

    topics: (pairs,) the topic of each pair.
    """
    _, topic, sizes = np.unique(np.asarray(topics), return_inverse=True, return_counts=True)
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    order = drawn[np.argsort(-sizes[drawn], kind="stable")]
    filled, fold_of = [0, 0], np.zeros(len(sizes), np.intp)
    for number in order.tolist():
        fold_of[number] = int(filled[1] < filled[0])
        filled[fold_of[number]] += int(sizes[number])
    return fold_of[topic]


def _cumulated(gold: Floats, scores: Floats) -> tuple[Floats, Floats, Rows]:
    """Return how many positive pairs and how many pairs score at least each different score, the
    highest first, and the place of each pair among these scores.
    """
    _, ascending, counts = np.unique(scores, return_inverse=True, return_counts=True)
    place = len(counts) - 1 - ascending
    hits: Floats = np.cumsum(np.bincount(place, gold, minlength=len(counts)))
    return hits, np.cumsum(counts[::-1]).astype(np.float64), place


def _shares_beside(gold: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return of each pair the share of negative pairs that score less, and of positive pairs that
    score more, equal ones as halves.
    """
    hits, found, place = _cumulated(gold, scores)
    misses = found - hits
    at_hits, at_misses = np.diff(hits, prepend=0), np.diff(misses, prepend=0)
    negative, positive = max(len(gold) - gold.sum(), 1), max(gold.sum(), 1)
    below = (misses[-1] - misses + at_misses / 2)[place] / negative
    above = (hits - at_hits / 2)[place] / positive
    return below, above
