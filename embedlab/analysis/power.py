"""Power: the smallest difference that a dataset and a number of seeds detect, how sure that is, and
the seeds that a difference needs.

A pilot of few seeds estimates their spread poorly, and what is planned from its variance s² is
found less often than planned. So plans are from c s², where c is such that pilots like this one (s²
χ² / ν with Welch's degrees of freedom) would on average plan differences that are found with 80%
power. The interval has the differences that would be detected if the variance over seeds were at
either end of its own 95% interval. Rows are as they are: the planned comparison is on the same
items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import Evidence, ModelColumns
from embedlab.analysis.influence import Floats
from embedlab.analysis.uncertainty import (
    LEVEL,
    SeedSpread,
    Uncertainty,
    flip_reaches,
    normal_noise,
    shares_spread,
)
from embedlab.analysis.weighing import Topic, Weighed

POWER = 0.8
MOST_SEEDS = 1_000  # larger numbers are not reported, as impractical
# of the spread that planned seeds show: points of a sequence that fills a square evenly
_DRAWS = 256
_RATIO = 1.32471795724474602596  # the root of x³ = x + 1, whose powers make such a sequence
_PILOTS = 64  # as the present one
_STEPS = 40  # of bisections
_FACTORS = np.geomspace(1e-3, 1e4, 36)  # of the variance over seeds
_NOISES = np.concatenate(
    [[0.0], np.geomspace(1e-3, 1e5, 48)]
)  # of seeds, as multiples of the variance over rows


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A detectable difference with its 95% interval, which the spread over few seeds leaves; nan
    where unknown.
    """

    value: float
    low: float = nan
    high: float = nan


UNKNOWN_FIGURE = Figure(value=nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Detectable(Evidence):
    """The detectable difference of two models on one slice, in units of the scores."""

    sentences: int
    difference: float  # second minus first, as measured
    uncertainty: Uncertainty
    # difference that is detected at 5% with 80% power by the present seeds; unknown where nothing
    # is tested
    smallest: Figure
    # the same with the planned number of seeds; unknown where no spread is known
    planned: Figure | None = None
    # for the wanted difference: inf where the pairs do not suffice, nan where no spread is known
    seeds_needed: float | None = None
    # for the wanted difference, or for one as large as the measured one; nan where seeds vary too
    items_needed: float = nan
    # the one that the difference hangs on: of such topics there is one, which does not show how
    # they vary
    topic: Topic | None = None

    @property
    def effective_pairs(self) -> float:
        """The number of independent pairs that would give as narrow an interval."""
        return self.items / self.uncertainty.design_effect


def detectable(
    evidence: Sequence[Evidence],
    first: ModelColumns,
    second: ModelColumns,
    *,
    detect: float | None = None,
    seeds: int | None = None,
) -> list[Detectable]:
    """Return the detectable differences of two models on each slice of the EVIDENCE on both.

    DETECT is a wanted difference in units of the scores, SEEDS a planned number of seeds of each
    model that is a recipe.
    """
    results = []
    for slice_evidence in evidence:
        weighed = Weighed(slice_evidence, [first, second])
        uncertainty = weighed.pair_uncertainties[first.name, second.name]
        difference = weighed.means[second.name] - weighed.means[first.name]
        upwards = uncertainty if difference < 0 else uncertainty.reversed
        plan = Plan(upwards, weighed.spreads(first.name, second.name))
        smallest = plan.present()
        target = detect or abs(difference)
        items_needed = nan
        if plan.known == 0 and target > 0:
            items_needed = float(np.ceil(slice_evidence.items * (smallest.value / target) ** 2))
        found = Detectable(
            **vars(slice_evidence),
            sentences=weighed.sentences,
            difference=difference,
            uncertainty=uncertainty,
            smallest=smallest,
            planned=plan.with_seeds(seeds) if seeds is not None else None,
            seeds_needed=plan.seeds_needed(detect) if detect is not None else None,
            items_needed=items_needed,
            topic=weighed.deciding_topic(second.name, first.name),
        )
        results.append(found)
    return results


def smallest_difference(uncertainty: Uncertainty, alpha: float = SIGNIFICANT) -> float:
    """Return the true difference that a two-sided test at the level ALPHA finds with the
    probability POWER.

    The test finds what is farther from zero than its interval reaches, and the estimate is farther
    below the truth than an interval of level 2 POWER − 1 reaches in one of 1 / (1 − POWER) cases.
    """
    return uncertainty.half_width(1 - alpha) + uncertainty.half_width(2 * POWER - 1)


def smallest_margin(uncertainty: Uncertainty, alpha: float = SIGNIFICANT) -> float:
    """Return the margin within which two one-sided tests at the level ALPHA show equal scores to be
    with the probability POWER.

    The estimate is then within POWER of both of its sides, and each test must exclude the margin
    from there.
    """
    return uncertainty.half_width(1 - 2 * alpha) + uncertainty.half_width(POWER)


class Plan:
    """What a comparison of two models would detect with other numbers of seeds.

    UNCERTAINTY is of the difference in the direction in which it is positive, SPREADS are those of
    the recipes that it is of.
    """

    def __init__(self, uncertainty: Uncertainty, spreads: Sequence[SeedSpread]) -> None:
        self.uncertainty = uncertainty
        self.rows = uncertainty.variance_of_rows
        self.members = [spread.members for spread in spreads]
        self.known = sum(self.members) - len(spreads)
        self.is_pooled = shares_spread(self.members)
        pooled = SeedSpread(
            members=self.known + 1,
            scatter=sum(spread.scatter for spread in spreads),
            noise=sum(spread.noise for spread in spreads),
        )
        own = [spread if spread.members > 1 else pooled for spread in spreads]
        freedom = np.array([max(spread.members - 1, 1) for spread in own])
        # of single seeds of each recipe: how they vary, and the part of it that rows explain
        self.variances = np.array([spread.scatter for spread in own]) / freedom
        self.noise = np.array([spread.noise for spread in own]) / freedom
        if self.is_pooled:
            self.variances = np.full(len(own), pooled.scatter / self.known)

    def present(self) -> Figure:
        """Return what the present seeds detect; where none of them has a spread, what these
        checkpoints do.
        """
        if self.known or isnan(self.rows):
            return self._figure(self.members)
        half = self._half_widths(np.zeros((1, 1)), 1.0)
        (value,) = _found_with_power(half, np.full((1, 1), sqrt(self.rows))).tolist()
        return Figure(value=value)

    def with_seeds(self, members: int) -> Figure:
        """Return what MEMBERS seeds of each recipe would detect; unknown where no spread of any is
        known.
        """
        return self._figure([members] * len(self.members))

    def seeds_needed(self, difference: float) -> float:
        """Return the fewest seeds of each recipe that detect DIFFERENCE; inf if no number does, nan
        if no spread is known.
        """
        if isnan(self.rows) or self.known == 0:
            return nan

        def smallest(members: int) -> float:
            return self._planned([members] * len(self.members))[0]

        low = 2
        high = MOST_SEEDS
        if smallest(high) > difference:
            return inf
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if smallest(middle) <= difference else (middle + 1, high)
        return low

    def _figure(self, members: Sequence[int]) -> Figure:
        if isnan(self.rows) or self.known == 0:
            return UNKNOWN_FIGURE
        value, curve = self._planned(members)
        mean_squares = _mean_square(np.array([(1 + LEVEL) / 2, (1 - LEVEL) / 2]), self._freedom)
        low, high = np.interp(-np.log(mean_squares), np.log(_FACTORS), curve).tolist()
        return Figure(value=value, low=low, high=high)

    def _planned(self, members: Sequence[int]) -> tuple[float, Floats]:
        """Return what MEMBERS of each recipe detect, and what they would if the variance were each
        of _FACTORS times the pilot's.
        """
        curve = _found_with_power(*self._widths_and_errors(members, _FACTORS))
        if not np.isfinite(curve).all():
            return inf, curve
        half_widths, error = self._widths_and_errors(members, np.ones(1))
        pilots = np.log(_mean_square((np.arange(_PILOTS) + 0.5) / _PILOTS, self._freedom))
        low = 0.0
        high = float(np.log(_FACTORS[-1]))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            planned = np.interp(pilots + middle, np.log(_FACTORS), curve)
            if _power(planned[:, None], half_widths, error).mean() > POWER:
                high = middle
            else:
                low = middle
        return float(np.interp(low, np.log(_FACTORS), curve)), curve

    @cached_property
    def _freedom(self) -> float:
        """Welch's degrees of freedom of the variance over seeds, without the bias that estimates of
        few have (Welch 1947).
        """
        known = float(self.known)
        if self.is_pooled or not self.variances.any():
            return known
        counts = np.array(self.members)
        shares = self.variances / counts
        return min(known, float(shares.sum() ** 2 / (shares**2 / (counts + 1)).sum() - 2))

    def _widths_and_errors(self, members: Sequence[int], factors: Floats) -> tuple[Floats, Floats]:
        """Return how far below estimates their intervals reach, (factors, draws), and the normal
        error of the estimates, (factors, 1), where the variance over seeds is FACTORS times that of
        the pilot.
        """
        counts = np.array(members)
        true_variance = factors[:, None] * self.variances
        # of the difference, by seeds
        noise = np.maximum((true_variance - self.noise) @ (1 / counts), 0.0)
        noise_change = float(self.noise @ (1 / counts) - self.noise @ (1 / np.array(self.members)))
        # how many times as far as now the rows' own error reaches
        scale = sqrt(max(1 + noise_change / self.rows, 0.0)) if self.rows > 0 else 1.0
        error: Floats = np.sqrt(scale**2 * self.rows + noise)[:, None]
        # what the seeds will show: points that fill a square evenly
        points = (0.5 + np.arange(1, _DRAWS + 1)[:, None] / _RATIO ** np.arange(1, 3)) % 1
        mean_squares = _mean_square(points[:, : len(counts)], np.maximum(counts - 1, 1))
        shown = self._normal_variance(counts, true_variance[:, None] * mean_squares)
        return self._half_widths(shown, scale), error

    def _normal_variance(self, counts: NDArray[np.integer], shown: Floats) -> Floats:
        """Return the normal variance that COUNTS of seeds with the variances SHOWN, (…, recipes),
        add.
        """
        if shares_spread(counts.tolist()):
            explained = self.noise @ (counts - 1) if counts.max() > 2 else 0.0
            freedom = float(counts.sum() - len(counts))
            estimated = (shown @ (counts - 1) - explained) / freedom * (1 / counts).sum()
            return normal_noise(1 - LEVEL, np.maximum(estimated, 0.0), freedom)
        shares = shown / counts
        estimated = shares.sum(axis=2) - float((self.noise / counts) @ (counts > 2))
        weights = (shares**2 / (counts - 1)).sum(axis=2)
        freedoms = shares.sum(axis=2) ** 2 / np.maximum(weights, 1e-300)
        return normal_noise(1 - LEVEL, np.maximum(estimated, 0.0), np.maximum(freedoms, 0.5))

    def _half_widths(self, shown_variance: Floats, scale: float) -> Floats:
        """Return how far below an estimate its interval reaches with these normal variances beside
        the rows.
        """
        from scipy.special import ndtri

        other_variance = shown_variance + self.uncertainty.other_variance
        skew, _ = self.uncertainty.skew
        if self.rows <= 0:
            return -float(ndtri((1 - LEVEL) / 2)) * np.sqrt(other_variance) * skew
        ratio = other_variance / (scale**2 * self.rows)
        errors = scale * np.sqrt(self.rows) * np.sqrt(1 + ratio)
        half_widths: Floats = errors * np.interp(np.log1p(ratio), np.log1p(_NOISES), self._curve)
        return half_widths * skew

    @cached_property
    def _curve(self) -> Floats:
        """The interval's reach below in standard errors, beside normal variances of _NOISES times
        that of the rows.
        """
        alone = replace(self.uncertainty, seeds_freedom=inf, other_variance=0.0)
        uncertainties = [replace(alone, seeds=float(noise) * self.rows) for noise in _NOISES]
        return flip_reaches(uncertainties, 1 - LEVEL)[:, 0] / np.sqrt(self.rows * (1 + _NOISES))


def _power(differences: Floats, half: Floats, error: Floats) -> Floats:
    """Return how often true DIFFERENCES are found by intervals that reach HALF below estimates with
    this normal ERROR.
    """
    from scipy.special import ndtr

    power: Floats = ndtr((differences - half) / error)
    return power


def _found_with_power(half_widths: Floats, error: Floats) -> Floats:
    """Return the differences that are found with the probability POWER, over draws of HALF
    WIDTHS, (differences, draws); inf where none is.
    """
    error = np.maximum(error, 1e-12 * np.maximum(half_widths.max(), 1e-300))
    low = np.zeros(len(half_widths))
    high = half_widths.max(axis=1) + 10 * error[:, 0]
    if not np.isfinite(high).all():
        return np.full(len(half_widths), inf)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_found = _power(middle[:, None], half_widths, error).mean(axis=1) > POWER
        low = np.where(is_found, low, middle)
        high = np.where(is_found, middle, high)
    differences: Floats = (low + high) / 2
    return differences


def _mean_square(levels: Floats, freedom: Floats | float) -> Floats:
    """Return the quantiles at LEVELS of a χ² divided by its degrees of FREEDOM."""
    from scipy.special import chdtri

    mean_squares: Floats = chdtri(freedom, 1 - levels) / freedom
    return mean_squares
