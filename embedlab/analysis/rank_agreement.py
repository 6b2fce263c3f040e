"""Kendall's tau between two rankings of the same models, with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan

import numpy as np
from numpy.typing import ArrayLike

from embedlab.analysis.influence import Floats, quotient
from embedlab.analysis.weighing import Weighed

DRAWS = 2_000  # of a ranking: an interval of tau to about one step of it


@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """Kendall's tau-b between two rankings, −1 to 1; nan where one of them is constant."""

    tau: float
    low: float = nan  # 95% interval over draws of the scores; nan where their errors are unknown
    high: float = nan


def rank_agreement(weighed: Weighed, other_scores: Sequence[float]) -> RankAgreement:
    """Return the agreement of the order of WEIGHED's models with that of OTHER SCORES of them.

    The interval is over draws of the models' scores: normal ones with the covariance that topics
    give them and the variance of their seeds, which few seeds widen as Student's t does.
    """
    scores = np.array([*weighed.means.values()])
    tau = float(kendall(other_scores, scores[:, None])[0])
    uncertainties = [*weighed.score_uncertainties.values()]
    seeds = np.diag([uncertainty.seeds for uncertainty in uncertainties])
    if any(uncertainty.is_unknown for uncertainty in uncertainties):
        return RankAgreement(tau=tau)
    sums = np.concatenate([uncertainty.topics.sums for uncertainty in uncertainties])
    covariance = sums @ sums.T / uncertainties[0].topics.free_share + seeds
    if not covariance.any():
        return RankAgreement(tau=tau)
    freedom = min((pair.seeds_freedom for pair in weighed.pair_uncertainties.values()), default=inf)
    rng = np.random.default_rng(0)
    roots, vectors = np.linalg.eigh(covariance)
    normal = rng.standard_normal((len(scores), DRAWS))
    if isfinite(freedom):
        normal *= np.sqrt(freedom / rng.chisquare(freedom, DRAWS))
    draws = scores[:, None] + (vectors * np.sqrt(np.maximum(roots, 0))) @ normal
    agreements = kendall(other_scores, draws)
    if np.isnan(agreements).all():
        return RankAgreement(tau=tau)
    low, high = np.nanquantile(agreements, [0.025, 0.975]).tolist()
    return RankAgreement(tau=tau, low=low, high=high)


def kendall(first: ArrayLike, second: ArrayLike) -> Floats:
    """Kendall's tau-b of FIRST (things,) with each column of SECOND (things, draws); nan where
    either is constant.
    """
    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    row, column = np.triu_indices(len(a), 1)
    first_signs = np.sign(a[row] - a[column])
    second_signs = np.sign(b[row] - b[column])
    untied = np.sqrt(
        np.count_nonzero(first_signs) * np.count_nonzero(second_signs, axis=0).astype(np.float64)
    )
    return quotient(first_signs @ second_signs, untied, where=untied > 0, otherwise=nan)
