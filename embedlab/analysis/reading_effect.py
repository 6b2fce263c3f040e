"""What a score owes to test items that a model has read in training.

With z the standardised ranks of scores and of gold, Spearman's correlation is 1 − mean (z_x −
z_gold)²/2: each item has a rank error, and the errors of two models differ by a number of points an
item. Items that were read are compared with those that were not: how much more is the model ahead
of a reference that has read neither, at the same source, gold, word overlap and length? These are
held by a least-squares fit on the items that were not read.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from embedlab.analysis.sign_flips import FEWEST_TOPICS, TopicSums

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FEWEST_OF_SOURCE = 8  # items of a source, read and not read, with fewer of either it is left out
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class ReadingEffect:
    """How far a model's lead over a reference is greater on items that it has read."""

    read_items: int  # items that were read, and have others of their source beside them
    unread_items: int
    effect: float  # points of Spearman an item that was read; nan where nothing can be compared
    low: float
    high: float
    p: float

    def effect_on_score(self, items: int) -> tuple[float, float, float]:
        """Return what the score over ITEMS owes to those that were read, and its interval."""
        share = self.read_items / items
        return share * self.effect, share * self.low, share * self.high


def reading_effect(
    gold: Floats,
    model: Floats,
    reference: Floats,
    is_read: Flags,
    *,
    topics: NDArray[np.intp],
    sources: NDArray[np.intp],
    covariates: Floats,
) -> ReadingEffect:
    """Return the effect of having read some items on the lead of a MODEL over a REFERENCE.

    gold, is_read, topics, sources: (items,) of one dataset, sources numbered from 0; model,
    reference: (items,), or (members, items) of several seeds; covariates: (items, any), such as
    word overlap and length. Errors of one topic depend on each other.
    """
    counts = np.stack(
        [np.bincount(sources[flags], minlength=sources.max() + 1) for flags in (is_read, ~is_read)]
    )
    is_mixed: Flags = np.all(counts >= FEWEST_OF_SOURCE, axis=0)
    is_kept = is_mixed[sources]
    read_rows = is_kept & is_read
    unread_rows = is_kept & ~is_read
    if not is_kept.any():
        nan = float("nan")
        return ReadingEffect(read_items=0, unread_items=0, effect=nan, low=nan, high=nan, p=nan)
    errors = [
        np.mean(
            [rank_errors_among(gold, scores, ~is_read) for scores in np.atleast_2d(members)], axis=0
        )
        for members in (reference, model)
    ]
    lead = 100 * (errors[0] - errors[1]) / 2
    design = _design(gold, sources, covariates, is_kept)
    inverse = np.linalg.pinv(design[unread_rows].T @ design[unread_rows])
    fit = inverse @ design[unread_rows].T @ lead[unread_rows]
    excess = lead - design @ fit  # of what items that were not read have at the same place
    effect = float(excess[read_rows].mean())

    # The effect is a mean over read items less a weighted sum over the others. Residuals of a topic
    # are as large as if the fits had not followed them.
    weights = design[unread_rows] @ (inverse @ design[read_rows].mean(axis=0))
    contributions = np.zeros(len(gold))
    contributions[read_rows] = (
        _unfitted(excess[read_rows], design[read_rows], topics[read_rows]) / read_rows.sum()
    )
    contributions[unread_rows] = -weights * _unfitted(
        lead[unread_rows], design[unread_rows], topics[unread_rows]
    )
    _, topic = np.unique(topics[is_kept], return_inverse=True)
    sums = np.bincount(topic, contributions[is_kept])
    shares = np.bincount(topic, read_rows[is_kept] / read_rows.sum()).astype(np.float64)
    by_topic = TopicSums(sums=(sums - shares * sums.sum())[None], shares=shares)
    low = float("-inf")
    high = float("inf")
    p = float("nan")
    if by_topic.count >= FEWEST_TOPICS:
        reach_below, reach_above = by_topic.reach(ALPHA)[0]
        low = effect - float(reach_below)
        high = effect + float(reach_above)
        if isfinite(reach_below + reach_above):  # p and interval never contradict each other
            p = float(by_topic.p(np.array([effect]))[0])
    return ReadingEffect(
        read_items=int(read_rows.sum()),
        unread_items=int(unread_rows.sum()),
        effect=effect,
        low=low,
        high=high,
        p=p if isfinite(p) else float("nan"),
    )


def rank_errors_among(gold: Floats, scores: Floats, among: Flags) -> Floats:
    """Return the squared distance of each item's standardised ranks AMONG some of the items, whose
    ranks those of the others so do not change; (items,).
    """
    rank_lists = [_ranks_among(values, values[among]) for values in (gold, scores)]
    first, second = ((ranks - ranks[among].mean()) / ranks[among].std() for ranks in rank_lists)
    errors: Floats = (first - second) ** 2
    return errors


def _ranks_among(values: Floats, reference: Floats) -> Floats:
    """Return how many of REFERENCE are below each of VALUES, equal ones as halves."""
    ordered = np.sort(reference)
    sides: list[Floats] = [
        np.searchsorted(ordered, values, side).astype(np.float64) for side in ("left", "right")
    ]
    return (sides[0] + sides[1]) / 2


def _standardised(values: Floats) -> Floats:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _design(gold: Floats, sources: NDArray[np.intp], covariates: Floats, is_kept: Flags) -> Floats:
    """Return what items are compared at: a column a source, gold as ranks with its square, and the
    covariates.
    """
    ranks = _standardised(rankdata(gold))
    columns = [(sources == source).astype(np.float64) for source in np.unique(sources[is_kept])]
    standard = [_standardised(column) for column in np.atleast_2d(covariates.T)]
    return np.stack([*columns, ranks, ranks**2, *standard], axis=1)


def _unfitted(values: Floats, design: Floats, topics: NDArray[np.intp]) -> Floats:
    """Return the residuals of a fit of VALUES on DESIGN, those of each topic multiplied by (I −
    H)^-½ of its part of the hat matrix (Bell & McCaffrey 2002): the fit follows large topics.
    """
    inverse = np.linalg.pinv(design.T @ design)
    residuals: Floats = values - design @ (inverse @ (design.T @ values))
    leverage = np.einsum("nk,kl,nl->n", design, inverse, design)
    sizes = np.unique(topics, return_inverse=True, return_counts=True)
    order = np.argsort(topics, kind="stable")
    is_alone = sizes[2][sizes[1]] == 1
    residuals[is_alone] /= np.sqrt(np.maximum(1 - leverage[is_alone], 0.05))
    for rows in np.split(order, np.flatnonzero(np.diff(topics[order])) + 1):
        if len(rows) == 1:
            continue
        hat = design[rows] @ inverse @ design[rows].T
        roots, vectors = np.linalg.eigh(np.eye(len(rows)) - hat)
        scale = 1 / np.sqrt(np.maximum(roots, 0.05))
        residuals[rows] = vectors @ (scale * (vectors.T @ residuals[rows]))
    return residuals
