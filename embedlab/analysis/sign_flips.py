"""Sign flips by topic: the tail of an estimate whose error is a sum over independent topics.

Of an estimate d that is h above a supposed truth, topic c contributes U_c = Z_c + m_c h: Z_c is the
sum of its rows' contributions (the Z sum to 0), m_c its share of the score (the m sum to 1), and
the U sum to h. If the supposed truth is true and topics are independent with symmetric errors, each
U_c could as well have had the other sign: p(h) is the probability that |Σ ±U_c| reaches |h|. It is
a count over all signs of few topics, and Lugannani and Rice's formula otherwise: with K(t) = Σ log
cosh(t U_c) + N t²/2 and K'(t) = |h|, w = √(2 (t|h| − K)) and u = t √K'', p = 2 (1 − Φ(w) + φ(w)
(1/u − 1/w)). N is a normal variance beside the topics, as of seeds.

Canay, Romano & Shaikh (2017); Lugannani & Rice (1980); Daniels (1987).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf

import numpy as np

from embedlab.analysis.dependence import combine_estimates
from embedlab.analysis.influence import Floats, quotient

FEWEST_TOPICS = 6  # with five the smallest p of all signs is 1/16
MOST_COUNTED = 12  # topics whose signs are all tried
MOST_EXACT = 64  # largest topics of an estimate; the others together are nearly normal
_MOST_STEPS = 100
_MOST_SECANTS = 12
_PRECISE = 1e-8  # of a normal quantile
_SMALLEST = 1e-300
_ROUNDING = 1e-20  # of a sum of squares


@dataclass(frozen=True, kw_only=True, eq=False)
class TopicSums:
    """What the topics contribute to several estimates."""

    sums: Floats  # (estimates, topics) Z; each row's sum is 0
    shares: Floats  # (topics,) m; their sum is 1

    @property
    def count(self) -> int:
        """The number of topics."""
        return len(self.shares)

    @cached_property
    def variance(self) -> Floats:
        """The variance of each estimate by its topics, the bias by their sum of 0 removed;
        (estimates,).
        """
        variances: Floats = np.einsum("ec,ec->e", self.sums, self.sums) / self.free_share
        return variances

    @property
    def free_share(self) -> float:
        """The share of the topics' variance that is left where their contributions sum to 0."""
        return max(1 - float((self.shares**2).sum()), 0.5)

    @property
    def reversed(self) -> TopicSums:
        """What the topics contribute to the estimates with the other sign."""
        return replace(self, sums=-self.sums)

    def of(self, estimates: Sequence[int]) -> TopicSums:
        """Return what the topics contribute to some of the estimates."""
        return replace(self, sums=self.sums[list(estimates)])

    def combine(self, weights: Floats) -> TopicSums:
        """Return the contributions to linear combinations of the estimates; weights: (combinations,
        estimates).
        """
        return replace(self, sums=combine_estimates(weights, self.sums))

    def p(self, distance: Floats, noise: Floats | float = 0.0) -> Floats:
        """Return the two-sided p of truths that are DISTANCE, (estimates,), below each estimate
        (above it where negative).

        NOISE is a normal variance beside the topics; (estimates,) or one number. 1 where nothing
        varies and nothing differs.
        """
        distances = np.asarray(distance, dtype=np.float64)
        noises = np.broadcast_to(noise, len(self.sums)).astype(np.float64)
        return self._largest.solve(distances, noises, np.zeros_like(distances))[0]

    def reach(self, alpha: float, noise: Floats | float = 0.0) -> Floats:
        """Return how far the truths that p does not reject at ALPHA reach below and above each
        estimate; (estimates, 2).

        inf on a side where nothing is ever rejected.
        """
        noises = np.broadcast_to(noise, len(self.sums)).astype(np.float64)
        if self.count <= MOST_COUNTED and not noises.any():
            sides = [
                _reach_by_counting(sums, self.shares, alpha) for sums in (self.sums, -self.sums)
            ]
            return np.stack(sides, axis=1)
        spread = np.tile(np.sqrt(self.variance + noises), 2)
        distances = self._largest.both_sides.distances(alpha, np.tile(noises, 2), spread)
        return distances.reshape(2, -1).T

    @cached_property
    def _largest(self) -> _LargestTopics:
        topics = np.tile(np.arange(self.count), (len(self.sums), 1))
        if self.count > MOST_EXACT:  # the largest at a distance of two standard errors come first
            errors = np.sqrt(np.einsum("ec,ec->e", self.sums, self.sums))
            weight = np.abs(self.sums) + 2 * errors[:, None] * self.shares
            topics = np.argpartition(-weight, MOST_EXACT - 1, axis=1)
        large = topics[:, :MOST_EXACT]
        small = topics[:, MOST_EXACT:]
        z = np.take_along_axis(self.sums, small, axis=1)
        m = self.shares[small]
        squares = [np.einsum("ec,ec->e", *factors) for factors in ((z, z), (z, m), (m, m))]
        return _LargestTopics(
            sums=np.take_along_axis(self.sums, large, axis=1),
            shares=self.shares[large],
            rest=np.stack(squares, axis=1),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _LargestTopics:
    """The largest topics of each estimate one by one, and the others as a normal part."""

    sums: Floats  # (estimates, largest)
    shares: Floats  # (estimates, largest)
    rest: Floats  # (estimates, 3): sums over the others of Z², Zm and m²

    @property
    def both_sides(self) -> _LargestTopics:
        """The estimates, then those with the other sign."""
        return _LargestTopics(
            sums=np.concatenate([self.sums, -self.sums]),
            shares=np.concatenate([self.shares] * 2),
            rest=np.concatenate([self.rest, self.rest * [1, -1, 1]]),
        )

    def distances(self, alpha: float, noise: Floats, spread: Floats) -> Floats:
        """Return how far below each estimate p falls to ALPHA; inf where it never does, 0 where
        nothing varies. SPREAD has the standard errors.

        Found on normal quantiles, which are nearly straight, by secants. Where p jumps, or a secant
        leads outside, what is left is halved.
        """
        from scipy.special import ndtri

        aim = float(ndtri(alpha / 2))
        is_moving = spread > 0
        distances = np.where(is_moving, inf, 0.0)
        low = start = previous = np.zeros_like(spread)  # p is above ALPHA at low,
        high = np.full_like(spread, inf)  # and below it at high
        previous_excess = np.full_like(spread, -aim)
        point = -aim * spread
        for number in range(1, _MOST_STEPS):
            if not is_moving.any():
                break
            p, start = self.solve(point, noise, start)
            excess = ndtri(np.maximum(p, _SMALLEST) / 2) - aim  # positive inside, falls outwards
            low = np.where(excess > 0, point, low)
            high = np.where(excess > 0, high, point)
            ends_here = (np.abs(excess) < _PRECISE) | (low >= (1 - 1e-12) * high)
            distances = np.where(is_moving, np.where(ends_here, point, high), distances)
            is_moving &= ~ends_here
            step = point - previous
            slope = quotient(excess - previous_excess, step, where=step != 0)
            secant = point - quotient(excess, slope, where=slope < 0, otherwise=-inf)
            is_bracketed = np.isfinite(high)
            farthest = np.where(is_bracketed, high, 1.25 * point)
            is_inside = (secant > low) & (secant < farthest) & (number < _MOST_SECANTS)
            halved = np.where(is_bracketed, (low + farthest) / 2, farthest)
            previous = point
            previous_excess = excess
            point = np.where(is_moving, np.where(is_inside, secant, halved), point)
        return distances

    def solve(self, distance: Floats, noise: Floats, start: Floats) -> tuple[Floats, Floats]:
        """Return p, and the saddle points; START has points near them, or zeros."""
        flipped = self.sums + self.shares * distance[:, None]
        aim = np.abs(distance)
        if flipped.shape[1] <= MOST_COUNTED:
            return _p_by_counting(flipped, aim, noise), start
        squares, products, square_shares = self.rest.T
        rest = squares + distance * (2 * products + distance * square_shares)
        normal = np.maximum(rest, 0.0) + noise
        normal = np.where(normal > _ROUNDING * np.einsum("ec,ec->e", flipped, flipped), normal, 0.0)
        p, points = _saddlepoint(flipped, aim, normal, start)
        if not (normal > 0).all():
            p = np.where(normal > 0, p, _limit_to_counts(p, flipped, np.sign(distance)))
        return p, points


@lru_cache(maxsize=MOST_COUNTED)
def _signs(count: int) -> Floats:
    """Return all signs of COUNT topics but for the first, which stays; (2^(count − 1), count)."""
    bits = (np.arange(2 ** (count - 1))[:, None] >> np.arange(count - 1)) & 1
    return np.concatenate([np.ones((len(bits), 1)), 1.0 - 2.0 * bits], axis=1)


def _p_by_counting(flipped: Floats, aim: Floats, noise: Floats) -> Floats:
    """Return the share of all signs whose sum reaches AIM on either side, a normal variance of
    NOISE added.
    """
    from scipy.special import ndtr

    sums = np.abs(flipped @ _signs(flipped.shape[1]).T)
    reached_share: Floats = (sums >= aim[:, None] * (1 - 1e-10)).mean(axis=1)
    if not (noise > 0).any():
        return reached_share
    scale = np.sqrt(np.where(noise > 0, noise, 1.0))[:, None]
    smooth = (ndtr((sums - aim[:, None]) / scale) + ndtr((-sums - aim[:, None]) / scale)).mean(
        axis=1
    )
    return np.where(noise > 0, smooth, reached_share)


def _reach_by_counting(sums: Floats, shares: Floats, alpha: float) -> Floats:
    """Return the largest distance that all signs of few topics do not reject; (estimates,).

    Signs s reach h as long as Σ s (Z + m h) ≥ h, that is h ≤ Σ s Z / (1 − Σ s m): the end is a
    quantile of these over all signs.
    """
    signs = np.concatenate([_signs(len(shares)), -_signs(len(shares))])
    # signs on one side that reach the sum where it is rejected
    rejected_count = int(alpha * len(signs) / 2 + 1e-9)
    if rejected_count < 1:
        return np.full(len(sums), inf)
    # the first signs are the topics as they are, and always reach the sum
    reached = sums @ signs[1:].T
    room = np.broadcast_to(1 - signs[1:] @ shares, reached.shape)
    ends = quotient(reached, room, where=room > 1e-12, otherwise=inf)
    return np.maximum(-np.partition(-ends, rejected_count - 1, axis=1)[:, rejected_count - 1], 0.0)


def _saddlepoint(
    flipped: Floats, aim: Floats, normal: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Return Lugannani and Rice's p and the saddle points.

    K' is concave: Newton's steps from below never pass the root, and the first one from above ends
    below it; none ends below aim / K''(0).
    """
    from scipy.special import log_ndtr

    size = np.abs(flipped)
    squared = size**2
    squares = squared.sum(axis=1) + normal
    has_root = (aim > 0) & (squares > 0) & ((normal > 0) | (aim < size.sum(axis=1) * (1 - 1e-12)))
    lower_bound = quotient(aim, squares, where=has_root)
    t = np.maximum(lower_bound, np.where(has_root, start, 0.0))
    # an estimate that is there stays: its p does not hang on the others'
    is_moving = has_root.copy()
    for _ in range(_MOST_STEPS):
        tangents = np.tanh(t[:, None] * size)
        slope = np.einsum("ec,ec->e", size, tangents) + normal * t
        curve = np.einsum("ec,ec->e", squared, 1 - tangents**2) + normal
        step = quotient(aim - slope, curve, where=is_moving & (curve > 0))
        next_t = np.where(is_moving, np.maximum(t + step, lower_bound), t)
        is_moving &= np.abs(next_t - t) > 1e-9 * next_t
        t = next_t
        if not is_moving.any():
            break
    inner = t[:, None] * size
    curve = np.einsum("ec,ec->e", squared, 1 - np.tanh(inner) ** 2) + normal
    sums = (inner + np.log1p(np.exp(-2 * inner)) - np.log(2)).sum(axis=1) + normal * t**2 / 2
    w = np.sqrt(np.maximum(2 * (t * aim - sums), 0.0))
    u = t * np.sqrt(curve)
    is_regular = has_root & (w > 1e-3) & (u > 0)
    correction = quotient(1.0, u, where=is_regular) - quotient(1.0, w, where=is_regular)
    tail = np.exp(log_ndtr(-w)) + np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi) * correction
    return np.clip(np.where(has_root, 2 * tail, 1.0), 0.0, 1.0), t


def _limit_to_counts(p: Floats, flipped: Floats, sign: Floats) -> Floats:
    """Return P within what the number of topics allows where there is no normal part.

    The signs as they are, and all of them reversed, reach the sum. Other signs do so only where
    they turn topics that are against the sum, or topics whose sizes together are at most the sum of
    those: no more than 2 to the number of topics that small.
    """
    size = np.abs(flipped)
    against = np.where(flipped * sign[:, None] < 0, size, 0.0).sum(axis=1)
    small = (size <= np.maximum(against * (1 + 1e-10), 1e-12 * size.max(axis=1))[:, None]).sum(
        axis=1
    )
    topics = flipped.shape[1]
    return np.clip(p, 2.0 ** (1 - topics), np.minimum(2.0 ** (1.0 - topics + small), 1.0))
