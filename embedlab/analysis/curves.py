"""Curves of several seeds as one: their mean and range at every step, and smoothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SeedRange:
    """Mean, smallest and largest value of all seeds that have one at each x."""

    x: Values
    mean: Values
    low: Values
    high: Values


def smoothed(y: Values, weight: float) -> Values:
    """Return the exponential moving average of Y in which the value before has WEIGHT, from 0
    (none) to below 1.

    The first values are not drawn towards 0: each is divided by the sum of the weights so far.
    """
    if weight <= 0:
        return y
    smooth, average = np.empty_like(y), 0.0
    for index, value in enumerate(y.tolist()):
        average = weight * average + (1 - weight) * value
        smooth[index] = average / (1 - weight ** (index + 1))
    return smooth


def over_seeds(seeds: Sequence[tuple[Values, Values]]) -> SeedRange:
    """Return the mean and range of curves (x, y) with ascending x; between its points a curve is
    straight, beyond its ends it is absent.
    """
    x = np.unique(np.concatenate([seed[0] for seed in seeds])) if seeds else np.empty(0)
    values = np.full((len(seeds), len(x)), np.nan)
    for row, (seed_x, y) in zip(values, seeds, strict=True):
        if len(seed_x):
            inside = (x >= seed_x[0]) & (x <= seed_x[-1])
            row[inside] = np.interp(x[inside], seed_x, y)
    counts = np.isfinite(values).sum(axis=0)
    return SeedRange(
        x=x,
        mean=np.nansum(values, axis=0) / np.maximum(counts, 1),
        low=np.fmin.reduce(values, axis=0) if len(seeds) else x,
        high=np.fmax.reduce(values, axis=0) if len(seeds) else x,
    )
