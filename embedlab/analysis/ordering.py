"""The certainty of an order: the probability that one score exceeds another, and Kendall's tau of a ranking with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from embedlab.analysis.dependence import ContributionSums, Variances
from embedlab.analysis.evidence import SliceRows
from embedlab.analysis.influence import Floats
from embedlab.analysis.uncertainty import FEWEST_ROWS, SeedSpread, Uncertainty, share_runs, spread_of, with_seeds

DRAWS = 2_000  # of a ranking: an interval of tau to about one step of it


@dataclass(frozen=True, kw_only=True)
class Order:
    """Whether one of two scores exceeds the other."""

    difference: float  # of the means over the seeds
    low: float  # 95% interval
    high: float
    probability: float  # that the first exceeds the second: one minus the one-sided p; nan without known variance


@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """Kendall's tau-b between two rankings of the same things, −1 to 1; nan where one of them is constant."""

    tau: float
    low: float  # 95% interval over draws of the second
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A score that is put in order, in any units."""

    members: Floats  # (members,) the score of each seed
    rows: SliceRows | None = None  # contributions of each member's rows; None where no items are stored
    other: float = 0.0  # variance from other sources, as of an accuracy whose items are not stored
    is_recipe: bool = True  # whether the members are draws of a recipe
    behind: tuple[frozenset[str], ...] = ()  # the runs behind each member; empty where none are named

    @property
    def value(self) -> float:
        """The mean over the members."""
        return float(self.members.mean())


class Ordering:
    """Several estimates of the same kind, to be ordered; those over the same rows are compared row by row."""

    def __init__(self, estimates: Sequence[Estimate]) -> None:
        self._estimates = estimates
        self._members = np.cumsum([0, *(len(one.members) for one in estimates)])
        self._sums = self._joint_sums()
        self._spreads = [self._spread(place) for place in range(len(estimates))]

    def order(self, first: int, second: int) -> Order:
        """Return whether estimate FIRST exceeds estimate SECOND."""
        difference = self._estimates[first].value - self._estimates[second].value
        uncertainty = self._of_difference(first, second)
        low, high = uncertainty.interval(difference)
        is_known = uncertainty.rows + uncertainty.seeds > 0
        return Order(difference=difference, low=low, high=high, probability=1 - uncertainty.tail(difference) if is_known else nan)

    def agreement(self, places: Sequence[int], printed: Sequence[float]) -> RankAgreement:
        """Return the agreement of the order of estimates at PLACES with that of PRINTED; the interval is over draws of the estimates."""
        values = np.array([self._estimates[place].value for place in places])
        tau = float(kendall(printed, values[:, None])[0])
        covariance, freedom = self._covariance(places)
        if not covariance.any() or np.isnan(covariance).any():
            return RankAgreement(tau=tau, low=nan, high=nan)
        rng = np.random.default_rng(0)
        roots, vectors = np.linalg.eigh(covariance)
        normal = rng.standard_normal((len(values), DRAWS))
        scale = np.sqrt(freedom / rng.chisquare(freedom, DRAWS)) if np.isfinite(freedom) else np.ones(DRAWS)
        drawn = values[:, None] + (vectors * np.sqrt(np.maximum(roots, 0))) @ normal * scale
        found = kendall(printed, drawn)
        low, high = np.quantile(found[~np.isnan(found)], [0.025, 0.975]) if not np.isnan(found).all() else (nan, nan)
        return RankAgreement(tau=tau, low=float(low), high=float(high))

    def _joint_sums(self) -> ContributionSums | None:
        """The sums of all members, where every estimate is over the same rows."""
        rows = [one.rows for one in self._estimates if one.rows is not None]
        if len(rows) < len(self._estimates) or not rows or len(rows[0].texts) < FEWEST_ROWS:
            return None
        if any(not np.array_equal(one.texts, rows[0].texts) for one in rows):
            return None
        return rows[0].shared.sums(np.concatenate([one.contributions for one in rows]))

    def _spread(self, place: int) -> SeedSpread:
        one = self._estimates[place]
        if self._sums is not None:
            own = np.eye(self._members[-1])[self._members[place] : self._members[place + 1]]
            return spread_of(one.members, self._sums.combined(own), is_recipe=one.is_recipe)
        if one.rows is not None:
            return spread_of(one.members, one.rows.shared.sums(one.rows.contributions), is_recipe=one.is_recipe)
        scatter = float(((one.members - one.value) ** 2).sum())
        return SeedSpread(members=len(one.members), scatter=scatter, noise=0.0, is_recipe=one.is_recipe)

    def _pair_spreads(self, first: int, second: int) -> list[SeedSpread]:
        """The spread of each estimate, or of estimates that share runs that of their differences seed by seed."""
        one, other = self._estimates[first], self._estimates[second]
        if self._sums is None or not share_runs(one.behind, other.behind):
            return [self._spreads[first], self._spreads[second]]
        unit = np.eye(self._members[-1])
        own, others = (unit[self._members[place] : self._members[place + 1]] for place in (first, second))
        return [spread_of(one.members - other.members, self._sums.combined(own - others), is_recipe=True)]

    def _of_difference(self, first: int, second: int) -> Uncertainty:
        own = self._pair_spreads(first, second)
        other = self._estimates[first].other + self._estimates[second].other
        if self._sums is not None:
            weights = np.zeros(self._members[-1])
            for place, sign in ((first, 1), (second, -1)):
                weights[self._members[place] : self._members[place + 1]] = sign / len(self._estimates[place].members)
            variances = self._sums.combined(weights[None]).variances()
        else:
            variances = _added([self._alone(first), self._alone(second)])
        found = with_seeds(variances, 0, own)
        return replace(found, rows=found.rows + other, independent=found.independent + other)

    def _alone(self, place: int) -> Variances:
        """The variances of one estimate whose rows are not those of the others; 0 without rows, nan with too few of them."""
        one = self._estimates[place]
        if one.rows is None or len(one.rows.texts) < FEWEST_ROWS:
            variance = np.full(1, 0.0 if one.rows is None else np.nan)
            return Variances(value=variance, independent=variance, freedom=np.full(1, np.inf))
        return one.rows.shared.sums(one.rows.contributions.mean(axis=0, keepdims=True)).variances()

    def _covariance(self, places: Sequence[int]) -> tuple[Floats, float]:
        """Covariances of the estimates over rows and seeds, and the smaller degrees of freedom of the two."""
        uncertain = [self._of_difference(a, b) for a, b in combinations(places, 2)]
        freedom = min(min(one.rows_freedom, one.seeds_freedom) for one in uncertain)
        seeds = np.diag(
            [with_seeds(self._alone(place), 0, [self._spreads[place]]).seeds + self._estimates[place].other for place in places]
        )
        if self._sums is None:
            return np.diag([float(self._alone(place).value[0]) for place in places]) + seeds, freedom
        means = np.zeros((len(places), self._members[-1]))
        for row, place in enumerate(places):
            means[row, self._members[place] : self._members[place + 1]] = 1 / len(self._estimates[place].members)
        return self._sums.combined(means).covariances() + seeds, freedom


def kendall(first: ArrayLike, second: ArrayLike) -> Floats:
    """Kendall's tau-b of FIRST (things,) with each column of SECOND (things, draws); nan where either is constant."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    above, below = np.triu_indices(len(a), 1)
    known, ours = np.sign(a[above] - a[below]), np.sign(b[above] - b[below])
    untied = np.sqrt(np.count_nonzero(known) * np.count_nonzero(ours, axis=0).astype(np.float64))
    tau: Floats = np.divide(known @ ours, untied, out=np.full(b.shape[1], np.nan), where=untied > 0)
    return tau


def _added(parts: Sequence[Variances]) -> Variances:
    """The variances of a difference of independent estimates; degrees of freedom by Welch and Satterthwaite."""
    value = np.sum([part.value for part in parts], axis=0)
    weights = np.sum([part.value**2 / part.freedom for part in parts], axis=0)
    freedom = np.divide(value**2, weights, out=np.full_like(value, np.inf), where=weights > 0)
    return Variances(value=value, independent=np.sum([part.independent for part in parts], axis=0), freedom=freedom)
