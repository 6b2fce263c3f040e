"""Intervals and p-values of a score or a difference that varies over dependent rows and over seeds.

Rows are counted by sign flips of their topics (`sign_flips`), beside which the seeds' variance N is
a normal one of N (t / z)², with the quantiles of Student's t at the seeds' degrees of freedom and
of the normal distribution. The p-value is the level at which the interval just reaches zero, so
that interval and p never contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import atanh, inf, isnan, nan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.sign_flips import TopicSums

if TYPE_CHECKING:
    from embedlab.analysis.dependence import ContributionSums
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

    # of this one estimate; None where nothing is known of its rows
    topics: TopicSums | None = field(compare=False, repr=False)
    independent: float  # the variance over rows as if they were independent
    seeds: float = 0.0  # variance over seeds; 0 where no spread is known
    seeds_freedom: float = inf
    other_variance: float = (
        0.0  # a normal variance beside both, as of a score whose items are unknown
    )
    skew: tuple[float, float] = (
        1.0,
        1.0,
    )  # how many times as far an interval reaches below and above, as correlations are skewed

    @property
    def variance_of_rows(self) -> float:
        """The variance over rows, those of one topic counted as dependent; nan where unknown."""
        return float(self.topics.variance[0]) if self.topics is not None else nan

    @property
    def design_effect(self) -> float:
        """How many times as large the variance over rows is as that of independent rows, at least
        1; nan where it is unknown.
        """
        independent = self.independent + self.other_variance
        effect = (
            (self.variance_of_rows + self.other_variance) / independent if independent != 0 else 1.0
        )
        return 1.0 if effect < 1 else effect

    @property
    def reversed(self) -> Uncertainty:
        """The uncertainty of the estimate with the other sign."""
        topics = self.topics.scaled(-1) if self.topics is not None else None
        uncertainty = replace(self, topics=topics, skew=(self.skew[1], self.skew[0]))
        if (cached := self.__dict__.get("_at_level")) is not None:
            uncertainty.__dict__["_at_level"] = (cached[1], cached[0])
        return uncertainty

    def half_width(self, level: float = LEVEL) -> float:
        """The larger distance from an estimate to an end of its interval of this LEVEL."""
        return max(self.reach(level))

    def reach(self, level: float = LEVEL) -> tuple[float, float]:
        """The distances from an estimate to the lower and to the upper end of its interval of this
        LEVEL.
        """
        below, above = self._at_level if level == LEVEL else self._reach_without_skew(level)
        return below * self.skew[0], above * self.skew[1]

    @cached_property
    def _at_level(self) -> tuple[float, float]:
        return self._reach_without_skew(LEVEL)

    def _reach_without_skew(self, level: float) -> tuple[float, float]:
        """The distances without skew."""
        if isnan(self.variance_of_rows + self.seeds):
            return nan, nan
        below, above = flip_reaches([self], 1 - level)[0].tolist()
        return below, above

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
        if isnan(self.variance_of_rows + self.seeds + distance):
            return nan
        if distance < 0:
            return 1 - self.reversed.tail(-distance)
        return float(flip_p([self], [distance / self.skew[0]])[0]) / 2

    def equivalence(self, difference: float, margin: float) -> float:
        """Return the p of "differs by MARGIN or more": the larger of both one-sided ones."""
        return max(self.tail(difference + margin), self.reversed.tail(margin - difference))


def with_intervals(uncertain: Sequence[Uncertainty]) -> list[Uncertainty]:
    """Return uncertainties of estimates over the same topics whose intervals at the usual level are
    known: many at once are quick.
    """
    if not uncertain:
        return []
    uncertainties = [replace(uncertainty) for uncertainty in uncertain]
    for uncertainty, reach in zip(
        uncertainties, flip_reaches(uncertainties, 1 - LEVEL).tolist(), strict=True
    ):
        uncertainty.__dict__["_at_level"] = tuple(reach)  # where the cached property puts it
    return uncertainties


def p_of_zero(uncertain: Sequence[Uncertainty], differences: Sequence[float]) -> list[float]:
    """Return the p of "no difference" of each of several differences over the same topics."""
    if not uncertain:
        return []
    distances = [
        d / uncertainty.skew[0 if d >= 0 else 1]
        for uncertainty, d in zip(uncertain, differences, strict=True)
    ]
    p: list[float] = flip_p(uncertain, distances).tolist()
    return p


def flip_reaches(uncertain: Sequence[Uncertainty], alpha: float) -> Floats:
    """Return how far the intervals by sign flips that leave out ALPHA reach below and above;
    (estimates, 2).
    """
    topics, seeds, freedom, other_variance = _stack_estimates(uncertain)
    return topics.reach(
        alpha, _normal_noise(np.full(len(seeds), alpha), seeds, freedom) + other_variance
    )


def flip_p(uncertain: Sequence[Uncertainty], distances: Sequence[float]) -> Floats:
    """Return the two-sided p by sign flips of truths that are DISTANCES below the estimates;
    (estimates,).

    The seeds' normal variance depends on the level. So p is the one that gives itself, found by
    false position on normal quantiles.
    """
    from scipy.special import ndtr, ndtri

    topics, seeds, freedom, other_variance = _stack_estimates(uncertain)
    aim = np.asarray(distances, dtype=np.float64)
    if not seeds.any():
        return topics.p(aim, other_variance)

    def excess(z: Floats) -> Floats:
        p = topics.p(aim, _normal_noise(2 * ndtr(-z), seeds, freedom) + other_variance)
        difference: Floats = -ndtri(np.maximum(p, _SMALLEST) / 2) - z
        return difference

    low, high = np.zeros_like(aim), np.full_like(aim, _FARTHEST)
    low_excess, high_excess = excess(low), excess(high)
    z, is_moving = (
        low,
        np.ones(len(aim), dtype=bool),
    )  # an estimate that is there stays: its p does not hang on the others'
    for step in range(_MOST_STEPS):
        slope = low_excess - high_excess
        crossing = (low * -high_excess + high * low_excess) / np.where(slope > 0, slope, 1.0)
        z = np.where(
            is_moving, (low + high) / 2 if step % 3 == 2 else np.where(slope > 0, crossing, low), z
        )
        current_excess = excess(z)
        is_inside = current_excess > 0
        low, low_excess = (
            np.where(is_inside, z, low),
            np.where(is_inside, current_excess, low_excess),
        )
        high, high_excess = (
            np.where(is_inside, high, z),
            np.where(is_inside, high_excess, current_excess),
        )
        is_moving &= (np.abs(current_excess) >= _PRECISE * (1 + z)) & (high - low >= _PRECISE)
        if not is_moving.any():
            break
    p: Floats = 2 * ndtr(-z)
    return p


def _normal_noise(alpha: Floats, seeds: Floats, freedom: Floats) -> Floats:
    """Return the normal variance that reaches as far at each two-sided level ALPHA as the variance
    of SEEDS does by Student's t.
    """
    from scipy.special import ndtri, stdtrit

    tail = np.clip(alpha / 2, _SMALLEST, 0.5 - 1e-9)
    limited = np.isfinite(freedom) & (seeds > 0)
    ratio = np.clip(stdtrit(np.where(limited, freedom, 1.0), tail) / ndtri(tail), 1.0, _WIDEST)
    return np.where(limited, seeds * ratio**2, seeds)


def _stack_estimates(uncertain: Sequence[Uncertainty]) -> tuple[TopicSums, Floats, Floats, Floats]:
    topics = [uncertainty.topics for uncertainty in uncertain if uncertainty.topics is not None]
    seeds, freedom, other_variance = (
        np.array([getattr(uncertainty, name) for uncertainty in uncertain])
        for name in ("seeds", "seeds_freedom", "other_variance")
    )
    return (
        TopicSums(sums=np.concatenate([topic.sums for topic in topics]), shares=topics[0].shares),
        seeds,
        freedom,
        other_variance,
    )


UNKNOWN = Uncertainty(topics=None, independent=nan)


@dataclass(frozen=True, kw_only=True)
class SeedSpread:
    """How the members (seeds) of a model differ on the same rows."""

    members: int
    scatter: float  # sum over members of (score − mean)²
    # the part of it that the rows' own noise explains: sum over members of the variance of (member
    # − mean)
    noise: float
    # whether the members are draws of a recipe; a single fixed model has no spread to know
    is_recipe: bool = True


def spread_of(
    scores: Floats, sums: ContributionSums | None = None, *, is_recipe: bool = True
) -> SeedSpread:
    """The spread of members by their SCORES, (members,), and the sums of their contributions, where
    rows are known.
    """
    noise = 0.0
    if sums is not None and len(scores) > 1:
        noise = float(sums.centred().variances().sum())
    return SeedSpread(
        members=len(scores),
        scatter=float(((scores - scores.mean()) ** 2).sum()),
        noise=noise,
        is_recipe=is_recipe,
    )


def share_runs(first: Sequence[frozenset[str]], second: Sequence[frozenset[str]]) -> bool:
    """Whether two models have as many members and some run is behind the same member of both, as of
    a combination and its part.
    """
    return len(first) == len(second) > 1 and any(
        first_runs & second_runs for first_runs, second_runs in zip(first, second, strict=True)
    )


def seed_noise(spreads: Sequence[SeedSpread]) -> tuple[float, float]:
    """The variance that seeds add to the difference of means, and its degrees of freedom.

    Each recipe has its own spread, and the degrees of freedom are Welch's. Where one has a single
    seed, or both have two, they share one spread, pooled; where none has two seeds, the spread is
    unknown, and the interval is about these checkpoints.
    """
    total_freedom = sum(spread.members - 1 for spread in spreads)
    if total_freedom == 0:
        return 0.0, inf
    if not shares_spread(spreads):
        shares = [spread.scatter / (spread.members * (spread.members - 1)) for spread in spreads]
        noise = sum(shares) - sum(
            _row_noise(spread) / (spread.members * (spread.members - 1)) for spread in spreads
        )
        weights = sum(
            share**2 / (spread.members - 1) for share, spread in zip(shares, spreads, strict=True)
        )
        freedom = sum(shares) ** 2 / weights if weights > 0 else float(total_freedom)
    else:
        has_three_seeds = max(spread.members for spread in spreads) > 2
        variance = (
            sum(spread.scatter - (spread.noise if has_three_seeds else 0.0) for spread in spreads)
            / total_freedom
        )
        noise, freedom = (
            variance * sum(1 / spread.members for spread in spreads),
            float(total_freedom),
        )
    return max(0.0, noise), freedom


def shares_spread(spreads: Sequence[SeedSpread]) -> bool:
    """Return whether recipes are taken to spread alike: one has a single seed, or both have two,
    which are too few for Welch's width.
    """
    members = [spread.members for spread in spreads if spread.is_recipe]
    return len(members) > 1 and (min(members) < 2 or max(members) < 3) and max(members) > 1


def _row_noise(spread: SeedSpread) -> float:
    """Return what rows explain of a recipe's own scatter: nothing of two seeds, which may agree by
    chance and would leave rows alone.
    """
    return spread.noise if spread.members > 2 else 0.0


def correlations_skew(
    first: float, second: float, variances: tuple[float, float, float]
) -> tuple[float, float]:
    """How many times as far the interval of a difference of two correlations reaches below and
    above, for correlations are skewed.

    VARIANCES are those of both and of their difference. The ends of an interval are where both
    correlations moved in the most probable way that gives such a difference; on Fisher's scale this
    is a step, and back on their own scale one end is farther than the other. Unlike limits of both
    that are put together (Zou 2007) it does not widen the difference of models that err alike. At
    least 1.
    """
    from scipy.special import ndtri

    difference_variance = variances[2]
    if (
        isnan(first + second + difference_variance)
        or difference_variance <= 0
        or max(abs(first), abs(second)) >= 1
    ):
        return 1.0, 1.0
    width = -float(ndtri((1 - LEVEL) / 2)) * sqrt(difference_variance)
    covariance = (variances[0] + variances[1] - difference_variance) / 2
    steps = (
        (variances[0] - covariance) / difference_variance * width,
        (covariance - variances[1]) / difference_variance * width,
    )
    middle, sides = first - second, []
    for sign in (-1, 1):
        first_end, second_end = (
            tanh(atanh(r) + sign * step / (1 - r**2))
            for r, step in zip((first, second), steps, strict=True)
        )
        sides.append(max(1.0, sign * (first_end - second_end - middle) / width))
    return sides[0], sides[1]


def difference_interval(
    delta: float, uncertainty: Uncertainty, scale: Scale
) -> tuple[float, float]:
    """The interval of a difference, within what differences of such scores can be."""
    low, high = uncertainty.interval(delta)
    limit = {"correlation": 2.0, "share": 1.0, "bounded": 1.0, "plain": inf}[scale]
    return max(low, -limit), min(high, limit)


def score_interval(
    value: float, uncertainty: Uncertainty, scale: Scale, rows: int
) -> tuple[float, float]:
    """The interval of a score of so many ROWS, within what such scores can be.

    Of a score between 0 and 1 that no row would change, the variance is 0 and says nothing: its
    interval is that of a share of as many rows.
    """
    if scale == "correlation":
        return _correlation_interval(value, uncertainty)
    is_fixed = scale == "bounded" and uncertainty.variance_of_rows + uncertainty.seeds == 0
    if scale == "share" or is_fixed:
        return _share_interval(value, uncertainty, rows)
    low, high = uncertainty.interval(value)
    return (max(low, 0.0), min(high, 1.0)) if scale == "bounded" else (low, high)


def _correlation_interval(value: float, uncertainty: Uncertainty) -> tuple[float, float]:
    """The interval of a correlation, made on Fisher's scale, so that it stays within −1 and 1 and
    is as skewed as correlations are.
    """
    below, above = uncertainty.reach()
    if isnan(value + below):
        return nan, nan
    if abs(value) >= 1:
        return value, value
    scale = 1 - value**2
    return tanh(atanh(value) - below / scale), tanh(atanh(value) + above / scale)


def _share_interval(value: float, uncertainty: Uncertainty, rows: int) -> tuple[float, float]:
    """The interval of an accuracy by Wilson's formula, with as many rows as would give this
    variance if they were independent.
    """
    from scipy.special import stdtrit

    variance = uncertainty.variance_of_rows + uncertainty.seeds
    if isnan(value + variance):
        return nan, nan
    count = value * (1 - value) / variance if variance > 0 else float(rows)
    count = min(count, float(rows))
    bounds = []
    for sign, reach in zip((-1, 1), uncertainty.reach(), strict=True):
        square = (
            (reach**2 / variance) if variance > 0 else float(stdtrit(max(rows - 1, 1), 0.975)) ** 2
        )
        middle = (value + square / (2 * count)) / (1 + square / count)
        half = (
            sqrt(square)
            / (1 + square / count)
            * sqrt(value * (1 - value) / count + square / (4 * count**2))
        )
        bounds.append(middle + sign * half)
    return bounds[0], bounds[1]
