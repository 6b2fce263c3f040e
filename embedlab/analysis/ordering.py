"""The certainty of an order: the probability that one score exceeds another, and Kendall's tau of a
ranking with its interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from embedlab.analysis.dependence import ContributionSums, Variances
from embedlab.analysis.evidence import SliceRows, stack_members
from embedlab.analysis.influence import Floats
from embedlab.analysis.sign_flips import FEWEST_TOPICS, TopicSums
from embedlab.analysis.uncertainty import (
    FEWEST_ROWS,
    SeedSpread,
    Uncertainty,
    share_runs,
    spread_of,
    with_seeds,
)

DRAWS = 2_000  # of a ranking: an interval of tau to about one step of it


@dataclass(frozen=True, kw_only=True)
class Order:
    """Whether one of two scores exceeds the other."""

    difference: float  # of the means over the seeds
    low: float  # 95% interval
    high: float
    # that the first exceeds the second: one minus the one-sided p; nan without known variance
    probability: float

    @property
    def p(self) -> float:
        """The two-sided p of "no difference"."""
        return 2 * min(self.probability, 1 - self.probability)


@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """Kendall's tau-b between two rankings of the same things, −1 to 1; nan where one of them is
    constant.
    """

    tau: float
    low: float  # 95% interval over draws of the second
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A score that is put in order, in any units."""

    members: Floats  # (members,) the score of each seed
    # contributions of each member's rows; None where no items are stored
    rows: SliceRows | None = None
    other: float = 0.0  # variance from other sources, as of an accuracy whose items are not stored
    is_recipe: bool = True  # whether the members are draws of a recipe
    runs_behind: tuple[
        frozenset[str], ...
    ] = ()  # the runs behind each member; empty where none are named

    @property
    def value(self) -> float:
        """The mean over the members."""
        return float(self.members.mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Joint:
    """Estimates over the same rows, and the sums of the contributions of all their members."""

    sums: ContributionSums
    topics: TopicSums
    members: Mapping[int, slice]  # the members of an estimate, by its place

    def units(self, index: int) -> Floats:
        """Return the weights that select each member of an estimate; (its members, all members)."""
        return np.eye(max(member.stop for member in self.members.values()))[self.members[index]]

    def mean(self, index: int) -> Floats:
        """Return the weights of an estimate's mean; (all members,)."""
        average: Floats = self.units(index).mean(axis=0)
        return average


class Ordering:
    """Several estimates of the same kind, to be ordered; those over the same rows are compared row
    by row.
    """

    def __init__(self, estimates: Sequence[Estimate]) -> None:
        self._estimates = estimates
        self._joints = {member: joint for joint in _joints(estimates) for member in joint.members}
        self._spreads = [self._spread(index) for index in range(len(estimates))]

    def order(self, first: int, second: int) -> Order:
        """Return whether estimate FIRST exceeds estimate SECOND."""
        difference = self._estimates[first].value - self._estimates[second].value
        uncertainty = self._difference_uncertainty(first, second)
        low, high = uncertainty.interval(difference)
        is_known = uncertainty.rows + uncertainty.seeds + uncertainty.other_variance > 0
        return Order(
            difference=difference,
            low=low,
            high=high,
            probability=1 - uncertainty.tail(difference) if is_known else nan,
        )

    def agreement(self, indices: Sequence[int], printed: Sequence[float]) -> RankAgreement:
        """Return the agreement of the order of estimates at INDICES with that of PRINTED; the
        interval is over draws of the estimates.
        """
        values = np.array([self._estimates[index].value for index in indices])
        tau = float(kendall(printed, values[:, None])[0])
        covariance, freedom = self._covariance(indices)
        if not covariance.any() or np.isnan(covariance).any():
            return RankAgreement(tau=tau, low=nan, high=nan)
        rng = np.random.default_rng(0)
        roots, vectors = np.linalg.eigh(covariance)
        normal = rng.standard_normal((len(values), DRAWS))
        scale = (
            np.sqrt(freedom / rng.chisquare(freedom, DRAWS))
            if np.isfinite(freedom)
            else np.ones(DRAWS)
        )
        draws = values[:, None] + (vectors * np.sqrt(np.maximum(roots, 0))) @ normal * scale
        agreements = kendall(printed, draws)
        low, high = (
            np.quantile(agreements[~np.isnan(agreements)], [0.025, 0.975])
            if not np.isnan(agreements).all()
            else (nan, nan)
        )
        return RankAgreement(tau=tau, low=float(low), high=float(high))

    def _joint(self, first: int, second: int) -> _Joint | None:
        """Return the rows that two estimates share, or None if they are over different rows."""
        joint = self._joints.get(first)
        return joint if joint is not None and joint is self._joints.get(second) else None

    def _spread(self, index: int) -> SeedSpread:
        estimate, sums = self._estimates[index], None
        if (joint := self._joints.get(index)) is not None:
            sums = joint.sums.combine(joint.units(index))
        elif estimate.rows is not None:
            sums = estimate.rows.shared.sums(estimate.rows.contributions)
        return spread_of(estimate.members, sums, is_recipe=estimate.is_recipe)

    def _pair_spreads(self, first: int, second: int) -> list[SeedSpread]:
        """The spread of each estimate, or of estimates that share runs that of their differences
        seed by seed.
        """
        estimates, joint = (
            [self._estimates[index] for index in (first, second)],
            self._joint(first, second),
        )
        if joint is None or not share_runs(*(estimate.runs_behind for estimate in estimates)):
            return [self._spreads[first], self._spreads[second]]
        sums = joint.sums.combine(joint.units(first) - joint.units(second))
        return [spread_of(estimates[0].members - estimates[1].members, sums)]

    def _difference_uncertainty(self, first: int, second: int) -> Uncertainty:
        spreads = self._pair_spreads(first, second)
        other_variance = self._estimates[first].other + self._estimates[second].other
        if (joint := self._joint(first, second)) is not None:
            mean_difference = (joint.mean(first) - joint.mean(second))[None]
            uncertainty = with_seeds(
                joint.sums.combine(mean_difference).variances(),
                spreads,
                joint.topics.combine(mean_difference),
            )
        else:
            uncertainty = with_seeds(
                _sum_variances([self._single_variances(first), self._single_variances(second)]),
                spreads,
            )
        return replace(uncertainty, other_variance=other_variance)

    def _single_variances(self, index: int) -> Variances:
        """The variances of one estimate whose rows are not those of the others; 0 without rows, nan
        with too few of them.
        """
        estimate = self._estimates[index]
        if estimate.rows is None or not _is_enough(estimate.rows):
            variance = np.full(1, 0.0 if estimate.rows is None else np.nan)
            return Variances(value=variance, independent=variance, freedom=np.full(1, np.inf))
        variances = estimate.rows.shared.sums(
            estimate.rows.contributions.mean(axis=0, keepdims=True)
        ).variances()
        by_topics = estimate.rows.topics.combine(
            np.full((1, len(estimate.members)), 1 / len(estimate.members))
        ).variance
        return replace(variances, value=np.maximum(variances.value, by_topics))

    def _covariance(self, indices: Sequence[int]) -> tuple[Floats, float]:
        """Covariances of the estimates over rows and seeds, and the smaller degrees of freedom of
        the two.
        """
        uncertain = [self._difference_uncertainty(a, b) for a, b in combinations(indices, 2)]
        freedom = min(
            min(uncertainty.rows_freedom, uncertainty.seeds_freedom) for uncertainty in uncertain
        )
        seeds = np.diag(
            [
                with_seeds(self._single_variances(index), [self._spreads[index]]).seeds
                + self._estimates[index].other
                for index in indices
            ]
        )
        row_covariance = np.diag(
            [float(self._single_variances(index).value[0]) for index in indices]
        )
        for joint in {id(joint): joint for joint in self._joints.values()}.values():
            numbers = [number for number, index in enumerate(indices) if index in joint.members]
            means = np.array([joint.mean(indices[number]) for number in numbers])
            if numbers:
                row_covariance[np.ix_(numbers, numbers)] = _covariances(
                    joint.topics.combine(means), row_covariance[numbers, numbers]
                )
        return row_covariance + seeds, freedom


def _joints(estimates: Sequence[Estimate]) -> Iterator[_Joint]:
    """Yield the estimates that are over the same rows, which are enough for a variance,
    together.
    """
    groups: list[list[int]] = []
    for index, estimate in enumerate(estimates):
        if estimate.rows is None or not _is_enough(estimate.rows):
            continue
        texts = estimate.rows.texts
        matching = (
            indices
            for indices in groups
            if (group_rows := estimates[indices[0]].rows) is not None
            and np.array_equal(group_rows.texts, texts)
        )
        if (group := next(matching, None)) is not None:
            group.append(index)
        else:
            groups.append([index])
    for group in groups:
        rows = [slice_rows for index in group if (slice_rows := estimates[index].rows) is not None]
        offsets = np.cumsum([0, *(len(row.contributions) for row in rows)]).tolist()
        joined_rows = stack_members(rows)
        yield _Joint(
            sums=joined_rows.shared.sums(joined_rows.contributions),
            topics=joined_rows.topics,
            members={
                index: slice(*bounds)
                for index, bounds in zip(group, pairwise(offsets), strict=True)
            },
        )


def _is_enough(rows: SliceRows) -> bool:
    """Return whether a variance is known from these rows."""
    return len(rows.texts) >= FEWEST_ROWS and rows.topic_count >= FEWEST_TOPICS


def _covariances(topics: TopicSums, variances: Floats) -> Floats:
    """Return the covariances of estimates by their topics, scaled to VARIANCES where these are
    larger.
    """
    topic_covariances = topics.sums @ topics.sums.T
    diagonal = np.diag(topic_covariances)
    scale = np.sqrt(
        np.divide(
            np.maximum(variances, diagonal),
            diagonal,
            out=np.ones_like(diagonal),
            where=diagonal > 0,
        )
    )
    covariances: Floats = topic_covariances * np.outer(scale, scale)
    return covariances


def kendall(first: ArrayLike, second: ArrayLike) -> Floats:
    """Kendall's tau-b of FIRST (things,) with each column of SECOND (things, draws); nan where
    either is constant.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    row, column = np.triu_indices(len(a), 1)
    first_signs, second_signs = np.sign(a[row] - a[column]), np.sign(b[row] - b[column])
    untied = np.sqrt(
        np.count_nonzero(first_signs) * np.count_nonzero(second_signs, axis=0).astype(np.float64)
    )
    tau: Floats = np.divide(
        first_signs @ second_signs, untied, out=np.full(b.shape[1], np.nan), where=untied > 0
    )
    return tau


def _sum_variances(terms: Sequence[Variances]) -> Variances:
    """The variances of a difference of independent estimates; degrees of freedom by Welch and
    Satterthwaite.
    """
    value = np.sum([term.value for term in terms], axis=0)
    weights = np.sum([term.value**2 / term.freedom for term in terms], axis=0)
    freedom = np.divide(value**2, weights, out=np.full_like(value, np.inf), where=weights > 0)
    return Variances(
        value=value,
        independent=np.sum([term.independent for term in terms], axis=0),
        freedom=freedom,
    )
