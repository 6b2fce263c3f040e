"""Intervals and p-values of a score or a difference that varies over dependent rows and over seeds.

A half-width adds both parts in squares, each with its own quantile of Student's t: h² = t²(df of rows)·V + t²(df of seeds)·N. The
p-value is the level at which the interval just reaches zero, so that interval and p never contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, exp, inf, isnan, log, nan, sqrt, tanh

import numpy as np

from embedlab.analysis.dependence import ContributionSums, Variances
from embedlab.analysis.influence import Floats

FEWEST_ROWS = 10  # with fewer, intervals do not cover: simulated, 43–84% of four pairs and 76–96% of six
LEVEL = 0.95
METHOD = "dyadic-t"  # how signatures name these intervals
_SMALLEST = 1e-300
_PRECISE = 1e-11  # relative, of a distance
_MOST_STEPS = 100  # three are usual


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """The variances of an estimate, in squared units of the estimate; nan where undefined."""

    rows: float  # variance over rows, those that share a sentence counted as dependent
    rows_freedom: float
    independent: float  # the same as if rows were independent
    seeds: float = 0.0  # variance over seeds; 0 where no spread is known
    seeds_freedom: float = inf

    @property
    def design_effect(self) -> float:
        """How many times as large the variance over rows is as that of independent rows, at least 1; nan where it is unknown."""
        return self.rows / self.independent if self.independent != 0 else 1.0

    def half_width(self, level: float = LEVEL) -> float:
        """Half of the interval of this LEVEL."""
        return self._reach((1 - level) / 2)

    def interval(self, estimate: float, level: float = LEVEL) -> tuple[float, float]:
        """The interval around ESTIMATE."""
        half = self.half_width(level)
        return estimate - half, estimate + half

    def p(self, difference: float) -> float:
        """Two-sided p of "no difference": the level of the interval that just reaches zero, subtracted from one."""
        return 2 * self.tail(abs(difference)) if not isnan(difference) else nan

    def tail(self, distance: float) -> float:
        """The probability that an estimate lies more than DISTANCE above what it estimates; more than a half for negative ones."""
        from scipy.special import stdtr

        if isnan(self.rows + self.seeds + distance):
            return nan
        if distance < 0:
            return 1 - self.tail(-distance)
        parts = self._parts()
        if distance == 0 or not parts:
            return 0.5 if distance == 0 else 0.0
        # Either part alone reaches less far; both with the fewer degrees of freedom reach farther. Between these tails scipy's quantiles
        # are exact; far below them (1e-150 with 2.5 degrees of freedom) it returns 0, from which a search would run to p near 1e-300.
        least = max(float(stdtr(freedom, -distance / sqrt(variance))) for variance, freedom in parts)
        whole = sum(variance for variance, _ in parts)
        most = float(stdtr(min(freedom for _, freedom in parts), -distance / sqrt(whole)))
        if most <= max(least, _SMALLEST):
            return most
        return self._tail_between(log(max(least, _SMALLEST)), log(most), distance)

    def _tail_between(self, least: float, most: float, distance: float) -> float:
        """The tail beyond DISTANCE, whose logarithm is between LEAST and MOST: false position with the Illinois rule.

        scipy.optimize has the like, but its import took a quarter of the time of a comparison of stored scores.
        """

        def excess(logarithm: float) -> float:
            return log(self._reach(exp(logarithm)) / distance)  # falls, and is nearly straight

        above, below = excess(least), excess(most)
        if above <= 0 or below >= 0:  # by rounding: the tail is at the limit
            return exp(least if above <= 0 else most)
        side = 0
        for _ in range(_MOST_STEPS):
            place = (least * below - most * above) / (below - above)
            found = excess(place)
            if abs(found) < _PRECISE:
                break
            if found > 0:
                least, above, below = place, found, below / 2 if side > 0 else below
            else:
                most, below, above = place, found, above / 2 if side < 0 else above
            side = 1 if found > 0 else -1
        return exp(place)

    def _parts(self) -> list[tuple[float, float]]:
        """The variances above zero, each with its degrees of freedom."""
        parts = ((self.rows, self.rows_freedom), (self.seeds, self.seeds_freedom))
        return [(variance, freedom) for variance, freedom in parts if variance > 0]

    def _reach(self, tail: float) -> float:
        """How far the upper limit of an interval is from the estimate that leaves out TAIL at either end."""
        from scipy.special import stdtrit

        if isnan(self.rows + self.seeds):
            return nan
        return sqrt(sum(variance * stdtrit(freedom, tail) ** 2 for variance, freedom in self._parts()))


UNKNOWN = Uncertainty(rows=nan, rows_freedom=nan, independent=nan)


@dataclass(frozen=True, kw_only=True)
class SeedSpread:
    """How the members (seeds) of a model differ on the same rows."""

    members: int
    scatter: float  # sum over members of (score − mean)²
    noise: float  # the part of it that the rows' own noise explains: sum over members of the variance of (member − mean)
    is_recipe: bool = True  # whether the members are draws of a recipe; a single fixed model has no spread to know


def spread_of(scores: Floats, sums: ContributionSums, *, is_recipe: bool) -> SeedSpread:
    """The spread of members by their SCORES, (members,), and the sums of their contributions."""
    count = len(scores)
    if count < 2:
        return SeedSpread(members=count, scatter=0.0, noise=0.0, is_recipe=is_recipe)
    apart = sums.combined(np.eye(count) - 1 / count)
    return SeedSpread(
        members=count,
        scatter=float(((scores - scores.mean()) ** 2).sum()),
        noise=float(apart.variances().value.sum()),
        is_recipe=is_recipe,
    )


def share_runs(first: Sequence[frozenset[str]], second: Sequence[frozenset[str]]) -> bool:
    """Whether two models have as many members and some run is behind the same member of both, as of a combination and its part."""
    return len(first) == len(second) > 1 and any(own & other for own, other in zip(first, second, strict=True))


def with_seeds(rows: Variances, place: int, spreads: Sequence[SeedSpread]) -> Uncertainty:
    """The uncertainty of estimate PLACE of ROWS, a score or a difference, with what the seeds of its models add.

    Where each model that is a draw of a recipe has three seeds or more, each has its own spread and the degrees of freedom are Welch's;
    with fewer they share one spread, pooled, and with two at most the part that the rows explain is not subtracted. A recipe of a
    single seed takes the spread of the other model; where none has two seeds, the spread is unknown, and the interval is about
    these checkpoints.
    """
    noise, freedom = seed_noise([spread for spread in spreads if spread.is_recipe])
    return Uncertainty(
        rows=float(rows.value[place]),
        rows_freedom=float(rows.freedom[place]),
        independent=float(rows.independent[place]),
        seeds=noise,
        seeds_freedom=freedom,
    )


def seed_noise(spreads: Sequence[SeedSpread]) -> tuple[float, float]:
    """The variance that seeds add to the difference of means, and its degrees of freedom."""
    known = sum(spread.members - 1 for spread in spreads)
    if known == 0:
        return 0.0, inf
    # Two seeds that happen to agree would leave nothing after the subtraction, and so an interval over rows alone.
    explained = 1.0 if max(spread.members for spread in spreads) > 2 else 0.0
    if all(spread.members > 2 for spread in spreads) or len(spreads) == 1:
        parts = [(spread.members * (spread.members - 1), spread) for spread in spreads]
        shares = [spread.scatter / scale for scale, spread in parts]
        noise = sum(shares) - explained * sum(spread.noise / scale for scale, spread in parts)
        weights = sum(share**2 / (spread.members - 1) for share, spread in zip(shares, spreads, strict=True))
        freedom = sum(shares) ** 2 / weights if weights > 0 else float(known)
    else:
        variance = sum(spread.scatter - explained * spread.noise for spread in spreads) / known
        noise, freedom = variance * sum(1 / spread.members for spread in spreads), float(known)
    return max(0.0, noise), freedom


def correlation_interval(value: float, uncertainty: Uncertainty) -> tuple[float, float]:
    """The interval of a correlation, made on Fisher's scale, so that it stays within −1 and 1 and is as skewed as correlations are."""
    half_width = uncertainty.half_width()
    if isnan(value + half_width):
        return nan, nan
    if abs(value) >= 1:
        return value, value
    half = half_width / (1 - value**2)
    return tanh(atanh(value) - half), tanh(atanh(value) + half)


def share_interval(value: float, uncertainty: Uncertainty, rows: int) -> tuple[float, float]:
    """The interval of an accuracy by Wilson's formula, with as many rows as would give this variance if they were independent."""
    from scipy.special import stdtrit

    variance = uncertainty.rows + uncertainty.seeds
    if isnan(value + variance):
        return nan, nan
    count = value * (1 - value) / variance if variance > 0 else float(rows)
    count = min(count, float(rows))
    square = (uncertainty.half_width() ** 2 / variance) if variance > 0 else float(stdtrit(max(rows - 1, 1), 0.975)) ** 2
    middle = (value + square / (2 * count)) / (1 + square / count)
    half = sqrt(square) / (1 + square / count) * sqrt(value * (1 - value) / count + square / (4 * count**2))
    return middle - half, middle + half
