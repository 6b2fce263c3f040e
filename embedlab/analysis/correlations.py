"""Rank and linear correlation with the gold score, and the three ways papers aggregate it over a
dataset's sources.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

SAME_SIMILARITY = "all its pairs have the same similarity"


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1; equal values share the average of their ranks."""
    _, group, sizes = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    mean_ranks: NDArray[np.float64] = np.cumsum(sizes) - (sizes - 1) / 2
    return mean_ranks[group]


def scale_within_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return finite VALUES divided by a power of two, which is exact, so that the largest is below
    1: no square overflows or vanishes.
    """
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    scaled: NDArray[np.float64] = np.ldexp(values, -exponent)
    return scaled


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Return the linear correlation, −1 to 1; nan for fewer than two values, a constant column, or
    any nan.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("nan")
    a = scale_within_one(a)
    b = scale_within_one(b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    a = a - a.mean()
    b = b - b.mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Return the rank correlation with average ranks for ties, −1 to 1; nan where `pearson` gives
    nan.
    """
    return spearman_of_columns(first, [second])[0]


def spearman_of_columns(gold: ArrayLike, columns: Sequence[ArrayLike]) -> list[float]:
    """Return the rank correlation of GOLD with each of some columns, as `spearman`; gold is ranked
    once.
    """
    values = np.asarray(gold, dtype=np.float64)
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if np.isnan(values).any():
        return [float("nan")] * len(arrays)
    ranks = average_ranks(values)
    return [
        float("nan") if np.isnan(column).any() else pearson(ranks, average_ranks(column))
        for column in arrays
    ]


def why_undefined_gold(gold: NDArray[np.float64]) -> str:
    """Return why nothing correlates with GOLD scores; empty if something can."""
    if len(gold) < 2:
        return f"a correlation needs two pairs, and it has {len(gold)}"
    return f"all gold scores are {gold[0]:g}" if np.ptp(gold) == 0 else ""


def rows_by_source(pairs: pl.DataFrame) -> list[NDArray[np.intp]]:
    """Return the rows of each source, which are correlated together; none if a pair has no
    source.
    """
    if pairs["source"].null_count():
        return []
    # Years share source names (headlines is in four of them), so a source is identified with its
    # dataset.
    keys = pairs.select(pl.struct("dataset", "source").rank("dense")).to_series().to_numpy()
    return [np.flatnonzero(keys == key) for key in np.unique(keys)]
