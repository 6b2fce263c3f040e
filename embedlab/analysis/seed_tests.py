"""Tests on a few values per side, such as seeds, and corrections of many p."""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

_SMALL = 1e-300
_PRECISE = 1e-14


def welch_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of Welch's t-test; nan where a side has one value, 1 where all values are
    equal.
    """
    if min(len(first), len(second)) < 2:
        return math.nan
    shares = [variance(first) / len(first), variance(second) / len(second)]
    if sum(shares) == 0:
        return 1.0 if fmean(first) == fmean(second) else 0.0
    t = (fmean(first) - fmean(second)) / math.sqrt(sum(shares))
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(side) - 1) for share, side in zip(shares, (first, second), strict=True)
    )
    return beta_share(
        freedom / (freedom + t * t), freedom / 2, 0.5
    )  # P(|T| > |t|) by Student's distribution


def variance(values: Sequence[float]) -> float:
    """Return the unbiased variance, in floats: that of `statistics` is exact, but takes half of a
    large table's time.
    """
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down corrected p-values, at most 1; a nan stays nan and does not count as a
    test.
    """
    corrected, order = _known_ones(p)
    steps = corrected[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return list(map(float, corrected))


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up corrected p-values, at most 1; a nan stays nan and does not
    count as a test.
    """
    corrected, order = _known_ones(p)
    steps = corrected[order] * len(order) / np.arange(1, len(order) + 1)
    corrected[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return list(map(float, corrected))


def _known_ones(p: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the numbers as an array, and the places of those that are no nan, the least first."""
    numbers = np.array(p, dtype=np.float64)
    return numbers, np.argsort(numbers, kind="stable")[: np.count_nonzero(~np.isnan(numbers))]


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 ≤ x ≤ 1, by its continued fraction
    (NIST DLMF 8.17.22).
    """
    if x in {0.0, 1.0}:
        return x
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, its mirror converges fast
        return 1.0 - beta_share(1.0 - x, b, a)
    factor = (
        math.exp(
            math.lgamma(a + b)
            - math.lgamma(a)
            - math.lgamma(b)
            + a * math.log(x)
            + b * math.log1p(-x)
        )
        / a
    )
    # Lentz's method from the first factor, with numerators d₁, d₂, …: even ones pull one way,
    # odd ones the other.
    upper_ratio, lower_ratio, fraction = 1.0, 0.0, 1.0
    for step in range(1, 1000):
        half = step // 2
        if step % 2:
            numerator = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            numerator = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower_ratio = 1.0 / ((1.0 + numerator * lower_ratio) or _SMALL)
        upper_ratio = (1.0 + numerator / upper_ratio) or _SMALL
        fraction *= upper_ratio * lower_ratio
        if abs(upper_ratio * lower_ratio - 1.0) < _PRECISE:
            break
    return factor / fraction
