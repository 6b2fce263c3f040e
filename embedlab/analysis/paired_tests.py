"""Tests of two models on the same items in closed form: McNemar of accuracies, Williams and Steiger
of correlations with a gold score.
"""

from collections.abc import Callable, Mapping
from itertools import combinations
from math import atanh, erfc, isnan, sqrt
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from embedlab.analysis.correlations import pearson, spearman
from embedlab.analysis.influence import Floats
from embedlab.choices import Correlation

CorrelationTest = Literal["williams", "steiger"]

EXACT_BELOW = 25  # discordant items: fewer are tested exactly, as is customary


def mcnemar(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p of "both models are right equally often", from the items that only one of them
    gets right; 1 where there is none.

    first, second: whether each item is right. Under the null each discordant item is a fair coin.
    Exact binomial below 25 of them; from there its mid-p version, which Fagerland, Lydersen & Laake
    (2013) recommend: the exact one is too cautious.
    """
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    return mcnemar_of_counts(int((a & ~b).sum()), int((~a & b).sum()))


def mcnemar_of_counts(first_only: int, second_only: int) -> float:
    """The same from the number of items that only the first, and only the second, gets right."""
    from scipy.special import (
        bdtr,
    )  # slow to load, and a comparison of correlations needs none of it

    discordant, fewer = first_only + second_only, min(first_only, second_only)
    if not discordant:
        return 1.0
    below = float(bdtr(fewer, discordant, 0.5))
    if discordant < EXACT_BELOW:
        return min(1.0, 2 * below)
    at = below - (float(bdtr(fewer - 1, discordant, 0.5)) if fewer else 0.0)
    return min(1.0, 2 * below - at)


def mcnemar_table(correct: ArrayLike) -> Floats:
    """The p of each two rows of CORRECT (models, items); (models, models), symmetric, nan on the
    diagonal.
    """
    rows = np.asarray(correct, dtype=bool)
    p = np.full((len(rows), len(rows)), np.nan)
    for a, b in combinations(range(len(rows)), 2):
        p[a, b] = p[b, a] = mcnemar(rows[a], rows[b])
    return p


def williams(first_gold: float, second_gold: float, between: float, pairs: int) -> float:
    """Two-sided p of "both correlations with the gold score are equal": Williams' T2, Student's t
    with n − 3 degrees of freedom.

    Takes the two correlations, the one between the models, and the number of pairs. Steiger (1980),
    eq. 7, after Williams (1959). Exact for normal variables and Pearson's r; for ranks it is an
    approximation. nan for fewer than four pairs.
    """
    from scipy.special import stdtr

    if pairs < 4 or isnan(first_gold + second_gold + between):
        return float("nan")
    if first_gold == second_gold:
        return 1.0
    determinant = (
        1 - first_gold**2 - second_gold**2 - between**2 + 2 * first_gold * second_gold * between
    )
    mean = (first_gold + second_gold) / 2
    spread = 2 * (pairs - 1) / (pairs - 3) * max(determinant, 0.0) + mean**2 * (1 - between) ** 3
    t = (
        (first_gold - second_gold) * sqrt((pairs - 1) * (1 + between) / spread)
        if spread > 0
        else float("inf")
    )
    return float(2 * stdtr(pairs - 3, -abs(t)))


def steiger(first_gold: float, second_gold: float, between: float, pairs: int) -> float:
    """Two-sided p of the same by Steiger's Z: Fisher's z of both, their covariance at the pooled
    correlation.

    Steiger (1980), eq. 14: a large-sample normal approximation, for ranks too. nan for fewer than
    four pairs, or a correlation of 1.
    """
    if (
        pairs < 4
        or isnan(first_gold + second_gold + between)
        or max(abs(first_gold), abs(second_gold)) >= 1
    ):
        return float("nan")
    square = ((first_gold + second_gold) / 2) ** 2
    covariance = (between * (1 - 2 * square) - square * (1 - 2 * square - between**2) / 2) / (
        1 - square
    ) ** 2
    if first_gold == second_gold:
        return 1.0
    z = (atanh(first_gold) - atanh(second_gold)) * sqrt(
        (pairs - 3) / max(2 - 2 * covariance, np.finfo(float).tiny)
    )
    return erfc(abs(z) / sqrt(2))


TESTS: Mapping[CorrelationTest, Callable[[float, float, float, int], float]] = MappingProxyType(
    {"williams": williams, "steiger": steiger}
)


def dependent_correlations(
    gold: ArrayLike, scores: ArrayLike, test: CorrelationTest, method: Correlation = "spearman"
) -> Floats:
    """The p of each two rows of SCORES (columns, pairs) as predictors of GOLD; (columns, columns),
    symmetric, nan on the diagonal.
    """
    correlation = spearman if method == "spearman" else pearson
    rows = np.asarray(scores, dtype=np.float64)
    with_gold = [correlation(gold, row) for row in rows]
    p = np.full((len(rows), len(rows)), np.nan)
    for a, b in combinations(range(len(rows)), 2):
        p[a, b] = p[b, a] = TESTS[test](
            with_gold[a], with_gold[b], correlation(rows[a], rows[b]), rows.shape[1]
        )
    return p


def design_corrected(p: float, design_effect: float) -> float:
    """Return the two-sided P of a test for independent rows, its normal deviate divided by the root
    of the design effect.
    """
    from scipy.special import ndtr, ndtri

    if isnan(p) or isnan(design_effect) or design_effect <= 1:
        return p
    return float(2 * ndtr(ndtri(max(p, 1e-300) / 2) / np.sqrt(design_effect)))
