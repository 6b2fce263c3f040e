"""Influence of each row on a score: values with mean zero, whose mean square is n times the score's
variance.

An influence value is the first-order change of a score when its row gets a little more weight. Sums
of them over rows give variances in closed form, also where rows depend on each other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.correlations import scale_within_one

Floats = NDArray[np.float64]
PairPositions = NDArray[np.intp]
Labels = NDArray[np.int64]


def quotient(
    above: Floats | float, below: NDArray[Any], *, where: NDArray[np.bool_], otherwise: float = 0.0
) -> Floats:
    """Return ABOVE / BELOW, and OTHERWISE but WHERE that is true."""
    quotients: Floats = np.divide(above, below, out=np.full(where.shape, otherwise), where=where)
    return quotients


def spearman_influences(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """Influence of each pair on Spearman's correlation, with ranks estimated from the same pairs;
    nan where it is undefined.

    gold: (pairs,); scores: (models, pairs); returns (models, pairs). With f, g the centred ranks
    divided by n, σ² their mean squares and K_x[w](p) = mean over q of w_q (1[x_q > x_p] + ½·1[x_q =
    x_p]): ψ = (fg + K_x[g] + K_y[f]) / (σx σy) − (r/2) [(f² + 2 K_x[f]) / σx² + (g² + 2 K_y[g]) /
    σy²], centred.
    """
    y = np.asarray(gold, dtype=np.float64)
    rows = np.asarray(scores, dtype=np.float64)
    influences = np.full(rows.shape, np.nan)
    if not _varies(y):
        return influences
    order_y = _Order.of(y)
    g = order_y.centred_ranks()
    spread_y = g @ g / len(y)
    squares_y = (g**2 + 2 * order_y.mean_above(g)) / spread_y
    for index, x in enumerate(rows):
        if not _varies(x):
            continue
        order_x = _Order.of(x)
        f = order_x.centred_ranks()
        spread_x = f @ f / len(x)
        scale = np.sqrt(spread_x * spread_y)
        product = (f * g + order_x.mean_above(g) + order_y.mean_above(f)) / scale
        squares = (f**2 + 2 * order_x.mean_above(f)) / spread_x + squares_y
        influences[index] = _centred(product - f @ g / len(x) / scale / 2 * squares)
    return influences


def pearson_influence(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """Influence of each pair on Pearson's correlation; nan where it is undefined.

    gold, scores: (pairs,); returns (pairs,). ψ = uv − (r/2)(u² + v²) of standardised u, v with
    correlation r.
    """
    y, x = (np.asarray(values, dtype=np.float64) for values in (gold, scores))
    if not (_varies(y) and _varies(x)):
        return np.full(len(x), np.nan)
    u = _standardised(x)
    v = _standardised(y)
    return _centred(u * v - (u @ v) / len(x) / 2 * (u**2 + v**2))


def _standardised(values: Floats) -> Floats:
    scaled = scale_within_one(values)
    standardised: Floats = (scaled - scaled.mean()) / scaled.std()
    return standardised


def _varies(values: Floats) -> bool:
    return len(values) > 1 and not np.isnan(values).any() and bool((values != values[0]).any())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Order:
    """Rows in the order of a value, rows of equal values as one group."""

    rows: PairPositions  # numbers of the rows, smallest value first
    starts: PairPositions  # (groups,) where in that order each group begins
    group: PairPositions  # (rows,) the group of each row

    @classmethod
    def of(cls, values: Floats) -> "_Order":
        rows = np.argsort(values)
        ordered = values[rows]
        begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        group = np.empty(len(values), np.intp)
        starts = np.flatnonzero(begins)
        group[rows] = np.cumsum(begins) - 1
        if len(starts) < len(
            rows
        ):  # equal values in the order of their rows: the same sums on every processor
            rows = np.argsort(
                group.astype(np.min_scalar_type(len(starts))), kind="stable"
            )  # of 16 bits this is quick
        return cls(rows=rows, starts=starts, group=group)

    def centred_ranks(self) -> Floats:
        """Average ranks divided by the number of rows, less their mean; (rows,)."""
        n = len(self.rows)
        ends = np.append(self.starts[1:], n)
        mean_ranks: Floats = (self.starts + 1 + ends) / 2 / n - 0.5 - 0.5 / n
        return mean_ranks[self.group]

    def mean_above(self, weights: Floats) -> Floats:
        """Sum of the WEIGHTS of larger values and half of those of equal ones, divided by all rows;
        (rows,).
        """
        group_sums = np.add.reduceat(weights[self.rows], self.starts)
        weight_above = np.cumsum(group_sums[::-1])[::-1] - group_sums / 2
        return weight_above[self.group] / len(weights)


def accuracy(gold: Labels, predicted: Labels) -> float:
    """Return the share of items whose predicted class is that of gold; gold, predicted: (items,)
    class indices, as below.
    """
    return float((predicted == gold).mean())


def accuracy_influence(gold: Labels, predicted: Labels) -> Floats:
    """Return the influence of each item on accuracy; (items,)."""
    return _centred((predicted == gold).astype(np.float64))


def _second_class(gold: Labels, predicted: Labels) -> tuple[Floats, Floats, Floats]:
    """Return which items are of the second of two classes and predicted to be, which are predicted
    to be, and which are, as 0 and 1; (items,) each.

    F1 and Matthews correlation are smooth functions of their means: the influence of an item is the
    gradient by these times the item's part in them.
    """
    called, positive = ((labels == 1).astype(np.float64) for labels in (predicted, gold))
    return called * positive, called, positive


def _means(parts: tuple[Floats, ...]) -> tuple[float, ...]:
    return tuple(float(part.mean()) for part in parts)


def f1(gold: Labels, predicted: Labels) -> float:
    """Return the harmonic mean of precision and recall of the second of two classes; 0 where it is
    neither present nor predicted.
    """
    h, p, r = _means(_second_class(gold, predicted))
    return 2 * h / (p + r) if p + r else 0.0


def f1_influence(gold: Labels, predicted: Labels) -> Floats:
    """Return the influence of each item on F1; (items,)."""
    hits, called, positive = parts = _second_class(gold, predicted)
    h, p, r = _means(parts)
    if p + r == 0:
        return np.zeros(len(gold))
    return _centred((2 * hits - 2 * h / (p + r) * (called + positive)) / (p + r))


def matthews(gold: Labels, predicted: Labels) -> float:
    """Return the correlation of two columns of two classes; 0 where one of them is constant."""
    h, p, r = _means(_second_class(gold, predicted))
    spread = float(np.sqrt(p * (1 - p) * r * (1 - r)))
    return (h - p * r) / spread if spread else 0.0


def matthews_influence(gold: Labels, predicted: Labels) -> Floats:
    """Return the influence of each item on Matthews correlation; (items,)."""
    hits, called, positive = parts = _second_class(gold, predicted)
    h, p, r = _means(parts)
    spread = np.sqrt(p * (1 - p) * r * (1 - r))
    if spread == 0:
        return np.zeros(len(gold))
    phi = (h - p * r) / spread
    predicted_slope = -r / spread - phi * (1 - 2 * p) / (2 * p * (1 - p))
    gold_slope = -p / spread - phi * (1 - 2 * r) / (2 * r * (1 - r))
    return _centred(hits / spread + predicted_slope * called + gold_slope * positive)


def _centred(values: Floats) -> Floats:
    centred: Floats = values - values.mean()
    return centred
