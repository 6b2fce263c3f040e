"""Points, values and scores in bins: what plots draw of many thousand pairs."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FEWEST_IN_BIN = 5  # values; quantiles of fewer say nothing

Values = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The range LOW…HIGH cut into equal bins; HIGH belongs to the last one."""

    low: float
    high: float
    bins: int

    def places(self, values: Values) -> Places:
        """The bin of each of VALUES, never smaller for a larger value; −1 outside the range and for
        nan.
        """
        with np.errstate(invalid="ignore"):
            shares = (values - self.low) / (self.high - self.low)
            inside = (shares >= 0) & (shares <= 1)
        places: Places = np.minimum(
            (np.where(inside, shares, 0.0) * self.bins).astype(np.intp), self.bins - 1
        )
        places[~inside] = -1
        return places

    def edge(self, number: int) -> float:
        """The lower edge of a bin."""
        return self.low + (self.high - self.low) * number / self.bins


def span(*columns: Values) -> tuple[float, float]:
    """The range of all finite values of COLUMNS, never empty: half a unit around a single value,
    0…1 without any.
    """
    finite_columns = [finite for values in columns if len(finite := values[np.isfinite(values)])]
    if not finite_columns:
        return 0.0, 1.0
    low, high = (
        min(float(values.min()) for values in finite_columns),
        max(float(values.max()) for values in finite_columns),
    )
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def cell_counts(columns: Places, rows: Places, shape: tuple[int, int]) -> Places:
    """The points in each cell of SHAPE (rows, columns); points outside, with a place of −1, are not
    counted.
    """
    inside = (columns >= 0) & (rows >= 0)
    counts: Places = np.bincount(
        rows[inside] * shape[1] + columns[inside], minlength=shape[0] * shape[1]
    ).reshape(shape)
    return counts


def density_steps(most: int, levels: int) -> tuple[int, ...]:
    """The least count of each density level, in equal ratios from 1 to near MOST: at most LEVELS,
    all different.
    """
    ratio = max(most, 1) ** (1 / levels)
    return tuple(sorted({int(np.ceil(ratio**level - 1e-9)) for level in range(levels)}))


@dataclass(frozen=True, kw_only=True)
class BinnedQuantiles:
    """Quantiles of one value in bins of another."""

    centres: Values  # the mean of the binning value in each bin
    quantiles: Values  # (probabilities, bins)
    counts: Places


def binned_quantiles(
    x: Values, y: Values, axis: Axis, probabilities: tuple[float, ...]
) -> BinnedQuantiles:
    """The quantiles of Y in the bins of X, with linear interpolation; bins of fewer than
    FEWEST_IN_BIN pairs are left out.
    """
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    places = axis.places(x)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(axis.bins + 1))
    groups = [
        order[start:end] for start, end in pairwise(starts.tolist()) if end - start >= FEWEST_IN_BIN
    ]
    quantiles = [np.quantile(y[group], probabilities) for group in groups]
    return BinnedQuantiles(
        centres=np.array([x[group].mean() for group in groups]),
        quantiles=np.array(quantiles).T.reshape(len(probabilities), len(groups)),
        counts=np.array([len(group) for group in groups], dtype=np.intp),
    )


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Predicted and observed means in bins of the predicted value."""

    predicted: Values
    observed: Values
    counts: Places

    @property
    def error(self) -> float:
        """The mean absolute difference of both, weighted by the pairs of each bin; nan without
        any.
        """
        total = int(self.counts.sum())
        return (
            float(np.sum(self.counts * np.abs(self.predicted - self.observed)) / total)
            if total
            else float("nan")
        )


def calibration_curve(predicted: Values, observed: Values, bins: int) -> Calibration:
    """Means of PREDICTED and OBSERVED in BINS of equally many predicted values; a value is in the
    bin below the edge that it equals.

    For observed values of 0 and 1 it is the reliability curve of a classifier's probabilities.
    """
    known = np.isfinite(predicted) & np.isfinite(observed)
    predicted, observed = predicted[known], observed[known]
    if not len(predicted):
        return Calibration(
            predicted=predicted, observed=observed, counts=np.zeros(0, dtype=np.intp)
        )
    edges = np.percentile(predicted, np.linspace(0, 100, bins + 1))
    places = np.searchsorted(edges[1:-1], predicted)
    counts = np.bincount(places, minlength=bins)
    filled = counts > 0
    sums = [
        np.bincount(places, weights=values, minlength=bins)[filled]
        for values in (predicted, observed)
    ]
    return Calibration(
        predicted=sums[0] / counts[filled], observed=sums[1] / counts[filled], counts=counts[filled]
    )
