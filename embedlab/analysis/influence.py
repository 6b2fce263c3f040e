"""How much each row moves a score: influence values, whose mean is zero and whose mean square is n times the score's variance.

An influence value says by how much a score changes, to first order, when its row gets a little more weight. Sums of them over
rows give variances in closed form, also where rows depend on each other.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.correlations import average_ranks

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Metric = Literal["accuracy", "f1", "matthews"]


def spearman_influence(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """Influence of each pair on Spearman's correlation, ranks being estimated from the same pairs; nan where it is undefined.

    gold, scores: (pairs,). With f, g the centred ranks divided by n, σ² their mean squares and
    K_x[w](p) = mean over q of w_q (1[x_q > x_p] + ½·1[x_q = x_p]):
    ψ = (fg + K_x[g] + K_y[f]) / (σx σy) − (r/2) [(f² + 2 K_x[f]) / σx² + (g² + 2 K_y[g]) / σy²], centred.
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    n = len(x)
    if n < 2 or np.isnan(x).any() or np.isnan(y).any() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.full(n, np.nan)
    f, g = (average_ranks(values) / n - 0.5 - 0.5 / n for values in (x, y))
    spread_x, spread_y = f @ f / n, g @ g / n
    above_x, above_y = _Above(x), _Above(y)
    scale = np.sqrt(spread_x * spread_y)
    r = f @ g / n / scale
    product = (f * g + above_x.mean(g) + above_y.mean(f)) / scale
    squares = (f**2 + 2 * above_x.mean(f)) / spread_x + (g**2 + 2 * above_y.mean(g)) / spread_y
    psi: Floats = product - r / 2 * squares
    return _centred(psi)


class _Above:
    """Averages of weights over the rows with a larger value, rows of an equal value counted half."""

    def __init__(self, values: Floats) -> None:
        _, self._group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        self._order = np.argsort(self._group, kind="stable")
        self._starts = np.cumsum(sizes) - sizes

    def mean(self, weights: Floats) -> Floats:
        """Sum of the WEIGHTS of larger values and half of those of equal ones, divided by all rows; (rows,)."""
        own = np.add.reduceat(weights[self._order], self._starts)
        larger = np.cumsum(own[::-1])[::-1] - own / 2
        result: Floats = larger[self._group] / len(weights)
        return result


def metric_influence(gold: Labels, predicted: Labels, metric: Metric) -> Floats:
    """Influence of each item on a classifier's metric; gold, predicted: (items,) class indices.

    F1 is that of the second of two classes. F1 and Matthews correlation are smooth functions of three means (hits, items predicted
    and items that are of the second class): their gradient times each item's part in these means.
    """
    if metric == "accuracy":
        return _centred((predicted == gold).astype(np.float64))
    found, real = (predicted == 1).astype(np.float64), (gold == 1).astype(np.float64)
    hits = found * real
    h, p, r = hits.mean(), found.mean(), real.mean()
    if metric == "f1":
        if p + r == 0:
            return np.zeros(len(gold))
        return _centred((2 * hits - 2 * h / (p + r) * (found + real)) / (p + r))
    spread = np.sqrt(p * (1 - p) * r * (1 - r))
    if spread == 0:
        return np.zeros(len(gold))
    phi = (h - p * r) / spread
    by_found = -r / spread - phi * (1 - 2 * p) / (2 * p * (1 - p))
    by_real = -p / spread - phi * (1 - 2 * r) / (2 * r * (1 - r))
    return _centred(hits / spread + by_found * found + by_real * real)


def metric_value(gold: Labels, predicted: Labels, metric: Metric) -> float:
    """The metric itself; Matthews correlation is 0 where a column is constant, F1 where the class is neither there nor predicted."""
    if metric == "accuracy":
        return float((predicted == gold).mean())
    found, real = (predicted == 1).astype(np.float64), (gold == 1).astype(np.float64)
    h, p, r = (found * real).mean(), found.mean(), real.mean()
    if metric == "f1":
        return float(2 * h / (p + r)) if p + r else 0.0
    spread = np.sqrt(p * (1 - p) * r * (1 - r))
    return float((h - p * r) / spread) if spread else 0.0


def _centred(values: Floats) -> Floats:
    centred: Floats = values - values.mean()
    return centred
