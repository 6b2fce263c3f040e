"""Intervals and p-values of a score or a difference that varies over dependent rows and over seeds.

Rows are counted by sign flips of their topics (`sign_flips`), beside which the seeds' variance N is
a normal one of N (t / z)², with the quantiles of Student's t at the seeds' degrees of freedom and
of the normal distribution. The p-value is the level at which the interval just reaches zero, so
that interval and p never contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import atanh, inf, isnan, nan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.sign_flips import TopicSums

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.influence import Floats
    from embedlab.analysis.measures import Scale

# with fewer, intervals do not cover: simulated, 43–84% of four pairs and 76–96% of six
FEWEST_ROWS = 10
LEVEL = 0.95
METHOD = "topic-flips"  # how signatures name these intervals
_SMALLEST = 1e-300
_PRECISE = 1e-11  # relative, of a distance
_MOST_STEPS = 100  # three are usual
_WIDEST = 1e12  # times as wide as a normal distribution
_FARTHEST = 37.0  # a normal quantile whose tail is still a float


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """The topics and the variances of an estimate, in squared units of the estimate."""

    topics: TopicSums = field(compare=False, repr=False)  # of this one estimate
    independent: float  # the variance over rows as if they were independent
    seeds: float = 0.0  # variance over seeds; 0 where no spread is known
    seeds_freedom: float = inf
    # a normal variance beside both, as of a score whose items are unknown
    other_variance: float = 0.0
    # how many times as far an interval reaches below and above, as correlations are skewed
    skew: tuple[float, float] = (1.0, 1.0)
    # how far the interval at the usual level reaches without skew, where it was found with others
    usual_reach: tuple[float, float] | None = field(default=None, compare=False, repr=False)

    @property
    def variance_of_rows(self) -> float:
        """The variance over rows, those of one topic counted as dependent; nan where unknown."""
        return float(self.topics.variance[0])

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of its rows or seeds."""
        return isnan(self.variance_of_rows + self.seeds)

    @property
    def design_effect(self) -> float:
        """How many times as large the variance over rows is as that of independent rows, at least
        1; nan where it is unknown.
        """
        independent = self.independent + self.other_variance
        if independent == 0:
            return 1.0
        effect = (self.variance_of_rows + self.other_variance) / independent
        return 1.0 if effect < 1 else effect

    @property
    def reversed(self) -> Uncertainty:
        """The uncertainty of the estimate with the other sign."""
        return replace(
            self,
            topics=self.topics.reversed,
            skew=self.skew[::-1],
            usual_reach=self.usual_reach and self.usual_reach[::-1],
        )

    def half_width(self, level: float = LEVEL) -> float:
        """The larger distance from an estimate to an end of its interval of this LEVEL."""
        return max(self.reach(level))

    def reach(self, level: float = LEVEL) -> tuple[float, float]:
        """The distances from an estimate to the lower and to the upper end of its interval of this
        LEVEL.
        """
        if self.is_unknown:
            return nan, nan
        distances = self.usual_reach if level == LEVEL else None
        below, above = distances or flip_reaches([self], 1 - level)[0].tolist()
        return below * self.skew[0], above * self.skew[1]

    def interval(self, estimate: float, level: float = LEVEL) -> tuple[float, float]:
        """The interval around ESTIMATE."""
        below, above = self.reach(level)
        return estimate - below, estimate + above

    def p(self, difference: float) -> float:
        """Two-sided p of "no difference": the level of the interval that just reaches zero,
        subtracted from one.
        """
        return 2 * (self.tail(difference) if difference >= 0 else self.reversed.tail(-difference))

    def tail(self, distance: float) -> float:
        """The probability that an estimate lies more than DISTANCE above what it estimates; more
        than a half for negative ones.
        """
        if self.is_unknown or isnan(distance):
            return nan
        if distance < 0:
            return 1 - self.reversed.tail(-distance)
        return p_of_zero([self], [distance])[0] / 2

    def equivalence(self, difference: float, margin: float) -> float:
        """Return the p of "differs by MARGIN or more": the larger of both one-sided ones."""
        return max(self.tail(difference + margin), self.reversed.tail(margin - difference))


UNKNOWN = Uncertainty(
    topics=TopicSums(sums=np.full((1, 1), nan), shares=np.ones(1)), independent=nan
)


def with_intervals(uncertain: Sequence[Uncertainty]) -> list[Uncertainty]:
    """Return uncertainties of estimates over the same topics whose intervals at the usual level are
    known: many at once are quick.
    """
    reaches = flip_reaches(uncertain, 1 - LEVEL).tolist()
    return [
        replace(each, usual_reach=(below, above))
        for each, (below, above) in zip(uncertain, reaches, strict=True)
    ]


def flip_reaches(uncertain: Sequence[Uncertainty], alpha: float) -> Floats:
    """Return how far the intervals by sign flips that leave out ALPHA reach below and above;
    (estimates, 2).
    """
    topics, seeds, freedom, other_variance = _stack_estimates(uncertain)
    return topics.reach(alpha, normal_noise(alpha, seeds, freedom) + other_variance)


def p_of_zero(uncertain: Sequence[Uncertainty], differences: Sequence[float]) -> list[float]:
    """Return the p of "no difference" of each of several differences over the same topics.

    The seeds' normal variance depends on the level. So p is the one that gives itself, found by
    false position on normal quantiles.
    """
    from scipy.special import ndtr, ndtri

    topics, seeds, freedom, other_variance = _stack_estimates(uncertain)
    skew = [each.skew[d < 0] for each, d in zip(uncertain, differences, strict=True)]
    aim = np.asarray(differences) / skew
    if not seeds.any():
        return list(map(float, topics.p(aim, other_variance)))

    def excess(z: Floats) -> Floats:
        p = topics.p(aim, normal_noise(2 * ndtr(-z), seeds, freedom) + other_variance)
        difference: Floats = -ndtri(np.maximum(p, _SMALLEST) / 2) - z
        return difference

    low = z = np.zeros_like(aim)
    high = np.full_like(aim, _FARTHEST)
    low_excess = excess(low)
    high_excess = excess(high)
    # an estimate that is there stays: its p does not hang on the others'
    is_moving = np.ones(len(aim), dtype=bool)
    for step in range(_MOST_STEPS):
        slope = low_excess - high_excess
        crossing = (low * -high_excess + high * low_excess) / np.where(slope > 0, slope, 1.0)
        middle = (low + high) / 2
        next_z = middle if step % 3 == 2 else np.where(slope > 0, crossing, low)
        z = np.where(is_moving, next_z, z)
        current_excess = excess(z)
        is_inside = current_excess > 0
        low = np.where(is_inside, z, low)
        low_excess = np.where(is_inside, current_excess, low_excess)
        high = np.where(is_inside, high, z)
        high_excess = np.where(is_inside, high_excess, current_excess)
        is_moving &= (np.abs(current_excess) >= _PRECISE * (1 + z)) & (high - low >= _PRECISE)
        if not is_moving.any():
            break
    return list(map(float, 2 * ndtr(-z)))


def normal_noise(alpha: Floats | float, seeds: Floats | float, freedom: Floats | float) -> Floats:
    """Return the normal variance that reaches as far at each two-sided level ALPHA as the variance
    of SEEDS does by Student's t.
    """
    from scipy.special import ndtri, stdtrit

    tail = np.clip(np.asarray(alpha) / 2, _SMALLEST, 0.5 - 1e-9)
    limited = np.isfinite(freedom) & (np.asarray(seeds) > 0)
    ratio = np.clip(stdtrit(np.where(limited, freedom, 1.0), tail) / ndtri(tail), 1.0, _WIDEST)
    return np.where(limited, seeds * ratio**2, seeds)


def _stack_estimates(uncertain: Sequence[Uncertainty]) -> tuple[TopicSums, Floats, Floats, Floats]:
    sums = np.concatenate([each.topics.sums for each in uncertain])
    facts = [(each.seeds, each.seeds_freedom, each.other_variance) for each in uncertain]
    seeds, freedom, other_variance = np.array(facts).T
    return replace(uncertain[0].topics, sums=sums), seeds, freedom, other_variance


@dataclass(frozen=True, kw_only=True)
class SeedSpread:
    """How the members (seeds) of a recipe differ on the same rows."""

    members: int
    scatter: float  # sum over members of (score − mean)²
    # the part of it that the rows' own noise explains: sum over members of the variance of (member
    # − mean)
    noise: float

    @property
    def pairs(self) -> int:
        """The number of ordered pairs of members: the mean varies by the scatter over it."""
        return self.members * (self.members - 1)


def share_runs(first: ModelColumns, second: ModelColumns) -> bool:
    """Whether two models have as many members and some run is behind the same member of both, as of
    a combination and its part.
    """
    return len(first.members) == len(second.members) > 1 and any(
        own & others for own, others in zip(first.runs_behind, second.runs_behind, strict=True)
    )


def seed_noise(spreads: Sequence[SeedSpread]) -> tuple[float, float]:
    """The variance that seeds add to the difference of means, and its degrees of freedom.

    Each recipe has its own spread, and the degrees of freedom are Welch's. Where one has a single
    seed, or both have two, they share one spread, pooled; where none has two seeds, the spread is
    unknown, and the interval is about these checkpoints.
    """
    members = [spread.members for spread in spreads]
    freedom = float(sum(members) - len(members))
    if freedom == 0:
        return 0.0, inf
    if shares_spread(members):
        scatter = sum(spread.scatter for spread in spreads)
        if max(members) > 2:
            scatter = sum(spread.scatter - spread.noise for spread in spreads)
        noise = scatter / freedom * sum(1 / count for count in members)
        return max(0.0, noise), freedom
    shares = [spread.scatter / spread.pairs for spread in spreads]
    # of two seeds rows explain nothing: they may agree by chance, which would leave rows alone
    explained = [spread.noise / spread.pairs for spread in spreads if spread.members > 2]
    weights = [
        share**2 / (spread.members - 1) for share, spread in zip(shares, spreads, strict=True)
    ]
    if sum(weights) > 0:
        freedom = sum(shares) ** 2 / sum(weights)
    return max(0.0, sum(shares) - sum(explained)), freedom


def shares_spread(members: Sequence[int]) -> bool:
    """Return whether recipes of so many MEMBERS are taken to spread alike: one has a single seed,
    or both have two, which are too few for Welch's width.
    """
    return len(members) > 1 and (min(members) < 2 or max(members) < 3) and max(members) > 1


def correlations_skew(
    first: float, second: float, first_variance: float, second_variance: float, variance: float
) -> tuple[float, float]:
    """How many times as far the interval of a difference of two correlations reaches below and
    above, for correlations are skewed.

    The variances are those of both and of their difference. The ends of an interval are where both
    correlations moved in the most probable way that gives such a difference; on Fisher's scale this
    is a step, and back on their own scale one end is farther than the other. Unlike limits of both
    that are put together (Zou 2007) it does not widen the difference of models that err alike. At
    least 1.
    """
    from scipy.special import ndtri

    if isnan(first + second + variance) or variance <= 0 or max(abs(first), abs(second)) >= 1:
        return 1.0, 1.0
    width = -float(ndtri((1 - LEVEL) / 2)) * sqrt(variance)
    covariance = (first_variance + second_variance - variance) / 2
    first_step = (first_variance - covariance) / variance * width
    second_step = (covariance - second_variance) / variance * width

    def factor(sign: int) -> float:
        first_end = tanh(atanh(first) + sign * first_step / (1 - first**2))
        second_end = tanh(atanh(second) + sign * second_step / (1 - second**2))
        return max(1.0, sign * (first_end - second_end - (first - second)) / width)

    return factor(-1), factor(1)


def difference_interval(
    delta: float, uncertainty: Uncertainty, scale: Scale
) -> tuple[float, float]:
    """The interval of a difference, within what differences of such scores can be."""
    low, high = uncertainty.interval(delta)
    limit = {"correlation": 2.0, "share": 1.0, "bounded": 1.0, "signed": 2.0, "plain": inf}[scale]
    return max(low, -limit), min(high, limit)


def score_interval(
    value: float, uncertainty: Uncertainty, scale: Scale, rows: int
) -> tuple[float, float]:
    """The interval of a score of so many ROWS, within what such scores can be.

    Of a score between 0 and 1 that no row would change, the variance is 0 and says nothing: its
    interval is that of a share of as many rows.
    """
    variance = uncertainty.variance_of_rows + uncertainty.seeds
    if isnan(value + variance):
        return nan, nan
    if scale == "correlation":
        return _correlation_interval(value, uncertainty)
    if scale == "share" or (scale == "bounded" and variance == 0):
        return _share_interval(value, uncertainty, variance, rows)
    low, high = uncertainty.interval(value)
    least, most = {"bounded": (0.0, 1.0), "signed": (-1.0, 1.0)}.get(scale, (-inf, inf))
    return max(low, least), min(high, most)


def _correlation_interval(value: float, uncertainty: Uncertainty) -> tuple[float, float]:
    """The interval of a correlation, made on Fisher's scale, so that it stays within −1 and 1 and
    is as skewed as correlations are.
    """
    if abs(value) >= 1:
        return value, value
    below, above = uncertainty.reach()
    scale = 1 - value**2
    return tanh(atanh(value) - below / scale), tanh(atanh(value) + above / scale)


def _share_interval(
    value: float, uncertainty: Uncertainty, variance: float, rows: int
) -> tuple[float, float]:
    """The interval of an accuracy by Wilson's formula, with as many rows as would give this
    VARIANCE if they were independent.
    """
    from scipy.special import stdtrit

    count = float(rows)
    squares = [float(stdtrit(max(rows - 1, 1), 0.975)) ** 2] * 2
    if variance > 0:
        count = min(value * (1 - value) / variance, count)
        # Wilson's formula is skewed itself
        squares = [uncertainty.half_width() ** 2 / variance] * 2
    bounds = []
    for sign, square in zip((-1, 1), squares, strict=True):
        middle = (value + square / (2 * count)) / (1 + square / count)
        spread = sqrt(value * (1 - value) / count + square / (4 * count**2))
        bounds.append(middle + sign * (sqrt(square) / (1 + square / count) * spread))
    return bounds[0], bounds[1]
