"""What choosing the best of many does: which others may be the best as well, and how far its number
is too high.

The best of m cells was compared with all others when it was chosen, and a test of it against one of
them must count that. A cell is denied to be as good as the best where some cell is above it. The p
of that is of all pairs of any of the m cells and one of the a cells that are not denied yet: of
equal normal values, P(max − min of those a ≤ r) = ∫ a φ(u) (Φ(u + r) − Φ(u))^(a−1) Φ(u + r)^(m−a)
du. With a = m this is Tukey's range, and with fewer it falls to Hsu's comparison with the best
(1984). Stepping down keeps the error of the whole table at its level (Romano & Wolf 2005). Cells
that are not independent, as they share items, make it cautious (Hayter 1984).

In plain floats, as importing numpy takes longer than making a table.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist, fmean

from embedlab.analysis.seed_tests import variance

_NORMAL = NormalDist()
_ROOT = math.sqrt(2)
# of integrals of normal densities by the trapezoid rule, whose error is then below 1e-12
_STEP = 0.1
_FARTHEST = 8.0
_SMALLEST = 1e-300


def chosen_p(p: Sequence[float]) -> list[float]:
    """Return the p of "as good as the best" of each other cell, given its two-sided P against the
    best of all of them; at most 1.

    A nan stays nan, and counts as a cell that could have been chosen.
    """
    cells = len(p) + 1
    corrected = [math.nan] * len(p)
    largest = 0.0
    undenied = cells  # the best, and the cells that are not denied yet
    for index in sorted(
        (index for index, value in enumerate(p) if not math.isnan(value)),
        key=lambda index: p[index],
    ):
        largest = max(
            largest, range_tail(-_NORMAL.inv_cdf(max(p[index], _SMALLEST) / 2), cells, undenied)
        )
        corrected[index] = largest
        undenied -= 1
    return corrected


def range_tail(deviate: float, cells: int, undenied: int) -> float:
    """Return the probability that some of CELLS equal cells is above some of the first UNDENIED by
    more than DEVIATE standard errors.
    """
    distance = _ROOT * deviate
    probability = 0.0
    for u, share_below, density in _points():
        share_above = _below(u + distance)
        probability += (
            density
            * (share_above - share_below) ** (undenied - 1)
            * share_above ** (cells - undenied)
        )
    return min(max(1 - undenied * _STEP * probability, 0.0), 1.0)


def optimism(means: Sequence[float], noise: float) -> float:
    """Return how far the largest of MEANS is expected to be above what it estimates, because it was
    chosen.

    MEANS are of the cells that may be the best, NOISE is the variance of each that they do not
    share. The true values are taken to be as far from their mean as the variance beyond noise
    allows, and the expected error of the largest of such values with such noise is computed: a
    parametric bootstrap of shrunken values (Efron 2011 has the choice as shrinkage), without its
    draws. 0 of one cell.
    """
    if len(means) < 2 or not noise > 0:
        return 0.0 if len(means) < 2 or noise == 0 else math.nan
    middle = fmean(means)
    spread = variance(means)
    shrinkage = math.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else 0.0
    return math.sqrt(noise) * _expected_error(
        [shrinkage * (mean - middle) / math.sqrt(noise) for mean in means]
    )


def _expected_error(truths: Sequence[float]) -> float:
    """Return the mean error of the largest of values that are TRUTHS with standard normal
    errors.
    """
    low = max(truths) - _FARTHEST
    high = max(truths) + _FARTHEST
    total = 0.0
    for step in range(round((high - low) / _STEP) + 1):
        point = low + step * _STEP
        log_cdfs = [math.log(max(_below(point - truth), _SMALLEST)) for truth in truths]
        log_joint = math.fsum(log_cdfs)
        total += sum(
            (point - truth) * _density(point - truth) * math.exp(log_joint - log_cdf)
            for truth, log_cdf in zip(truths, log_cdfs, strict=True)
        )
    return _STEP * total


def _below(z: float) -> float:
    """Return the normal probability below Z, as `NormalDist.cdf` does with three times the time."""
    return 0.5 * (1 + math.erf(z / _ROOT))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@cache
def _points() -> list[tuple[float, float, float]]:
    """Return the points of integrals, the probability below each, and its density."""
    points = [step * _STEP - _FARTHEST for step in range(round(2 * _FARTHEST / _STEP) + 1)]
    return [(point, _below(point), _density(point)) for point in points]
