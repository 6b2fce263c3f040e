"""One slice with the uncertainty of each model's score and of the difference between each two
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.dependence import ContributionSums, combine_estimates, independent_variances
from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.sign_flips import FEWEST_TOPICS, TopicSums
from embedlab.analysis.uncertainty import (
    FEWEST_ROWS,
    UNKNOWN,
    SeedSpread,
    Uncertainty,
    correlations_skew,
    p_of_zero,
    seed_noise,
    share_runs,
    with_intervals,
)

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns, SliceRows
    from embedlab.analysis.influence import Floats

Pair = tuple[str, str]

_VALUES_AT_ONCE = 2_000_000  # of combinations: 16 MB
LARGE_TOPIC = 0.5  # of the variance over topics: from here one carries most of it
DECIDING = 0.8  # from here it is more than two standard errors of all others


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The topic that carries most of the variance of a score or of a difference."""

    rows: int
    share: float  # of the variance over topics, 0–1
    # the score or the difference on the rows of all other topics; nan where it is unknown, or the
    # share is small
    score_without: float = nan

    def is_large(self, rows: int) -> bool:
        """Return whether it carries most of the variance; one or two rows do not count, nor do all
        of the ROWS.
        """
        return self.share >= LARGE_TOPIC and 2 < self.rows < rows

    def decides(self, difference: float, rows: int) -> bool:
        """Return whether a DIFFERENCE hangs on it: without it the order is the other one, or moves
        by more than all others explain.

        That is where its square is more than four fifths of the variance: then it is more than two
        standard errors of all others.
        """
        return (
            self.is_large(rows)
            and not isnan(self.score_without)
            and (self.share >= DECIDING or self.score_without * difference < 0)
        )


class Weighed:
    """A slice whose models are known by name; uncertainties are unknown where no rows are behind
    the scores.

    Compared are the PAIRS of models, or each two of them. What is estimated is named by its models:
    a score by one, a difference by two.
    """

    def __init__(
        self,
        evidence: Evidence,
        models: Sequence[ModelColumns],
        pairs: Sequence[Pair] | None = None,
    ) -> None:
        columns = member_columns(models)
        self.evidence = evidence
        self.models = {model.name: model for model in models}
        self.places = {
            model.name: [columns.index(member) for member in model.members] for model in models
        }
        self.means = {
            name: float(evidence.points[places].mean()) for name, places in self.places.items()
        }
        self.scored = [name for name, mean in self.means.items() if not isnan(mean)]
        self.pairs = list(combinations(self.means, 2) if pairs is None else pairs)
        self.score_uncertainties = dict.fromkeys(self.means, UNKNOWN)
        self.pair_uncertainties = dict.fromkeys(self.pairs, UNKNOWN)
        self.p = dict.fromkeys(self.pairs, nan)  # of "no difference"
        self._spreads: dict[tuple[str, ...], SeedSpread] = {}
        self.lack = self._lack()
        self.rows = evidence.rows if not self.lack else None
        self.topics: TopicSums | None = None
        if self.rows is not None:
            self.topics = self.rows.topics
            self._fill_uncertainties(self.rows, self.topics)

    @property
    def sentences(self) -> int:
        """How many sentences the pairs have; 0 where nothing is tested."""
        return self.rows.shared.sentences if self.rows is not None else 0

    def _lack(self) -> str:
        """Return why the slice has no interval; empty if it has one, or no rows are known."""
        rows = self.evidence.rows
        if rows is None:
            return ""
        if len(rows.texts) < FEWEST_ROWS:
            return f"fewer than {FEWEST_ROWS} rows: no interval, not tested"
        if rows.rarer is not None and rows.rarer < FEWEST_ROWS:
            which = self.evidence.rarer_text
            return f"fewer than {FEWEST_ROWS} rows {which}: no interval, not tested"
        topics = len(rows.topics.shares)
        if topics >= FEWEST_TOPICS:
            return ""
        count = "one topic" if topics == 1 else f"{topics} topics"
        return (
            f"its rows form only {count}: no interval, not tested (rows with other sentences would "
            "help)"
        )

    def compare(self, first: str, second: str) -> tuple[float, Uncertainty, float]:
        """Return by how much FIRST is above SECOND, how sure that is, and the p of "no
        difference".
        """
        delta = self.means[first] - self.means[second]
        if (first, second) in self.p:
            pair = (first, second)
            return delta, self.pair_uncertainties[pair], self.p[pair]
        return delta, self.pair_uncertainties[second, first].reversed, self.p[second, first]

    def topic_of(self, first: str, second: str | None = None) -> Topic | None:
        """Return the largest topic of the difference of FIRST from SECOND, or of the score of
        FIRST; None where it is unknown.
        """
        names = [first] if second is None else [first, second]
        if self.topics is None or self.rows is None or not {*names} <= {*self.scored}:
            return None
        weights = self._weights(*names)
        squares = (weights @ self.topics.sums) ** 2
        largest = int(squares.argmax())
        total = float(squares.sum())
        in_topic = self.rows.row_topics == largest
        share = float(squares[largest]) / total if total > 0 else 0.0
        topic = Topic(rows=int(in_topic.sum()), share=share)
        if self.rows.leave_out is None or not topic.is_large(len(self.rows.texts)):
            return topic
        has_weight = weights != 0
        scores, _ = self.rows.leave_out(in_topic)
        return replace(topic, score_without=float(weights[has_weight] @ scores[has_weight]))

    def deciding_topic(self, first: str, second: str) -> Topic | None:
        """Return the topic that the difference of FIRST from SECOND hangs on; None without one."""
        topic = self.topic_of(first, second)
        difference = self.means[first] - self.means[second]
        decides = topic is not None and topic.decides(difference, self.evidence.items)
        return topic if decides else None

    def largest_topic(self, reference: str) -> Topic | None:
        """Return the topic that carries most of the variance of a difference from REFERENCE, or of
        the only score.
        """
        others = [name for name in self.scored if name != reference]
        topics = [self.topic_of(name, reference) for name in others]
        if reference not in self.scored or not others:
            topics = [self.topic_of(name) for name in self.scored]
        return max(filter(None, topics), key=lambda topic: topic.share, default=None)

    def _fill_uncertainties(self, rows: SliceRows, topics: TopicSums) -> None:
        """Fill in the uncertainties, and each p."""
        pairs = [pair for pair in self.pairs if {*pair} <= {*self.scored}]
        estimates = [*((name,) for name in self.scored), *pairs]
        if not estimates:
            return
        weights = np.array([self._weights(*names) for names in estimates])
        by_topic = topics.combine(weights)
        independent = self._independent_variances(rows, weights)
        uncertainties: dict[tuple[str, ...], Uncertainty] = {}
        for index, names in enumerate(estimates):
            seeds, freedom = seed_noise(self.spreads(*names))
            uncertainties[names] = Uncertainty(
                topics=by_topic.of([index]),
                independent=float(independent[index]),
                seeds=seeds,
                seeds_freedom=freedom,
                # Wilson's interval of an accuracy counts unseen items itself.
                other_variance=rows.unseen_variance / 2 if self.evidence.scale != "share" else 0.0,
            )
        for first, second in pairs:
            difference = uncertainties[first, second]
            # As if one more item were right for each model alone, after Bonett & Price (2012): few
            # discordant items understate the variance. With it three items against none do not
            # differ significantly, and no interval of an accuracy has a width of zero.
            if rows.unseen_variance:
                uncertainties[first, second] = replace(
                    difference, other_variance=rows.unseen_variance
                )
            # Of correlations over the same rows, as skewed as they are; of an average of several
            # they hardly are.
            if self.evidence.scale == "correlation" and not rows.groups.any():
                variances = [
                    uncertainties[names].variance_of_rows
                    for names in ((first,), (second,), (first, second))
                ]
                skew = correlations_skew(self.means[first], self.means[second], *variances)
                uncertainties[first, second] = replace(difference, skew=skew)
        solved = with_intervals([*uncertainties.values()])
        self.score_uncertainties |= zip(self.scored, solved, strict=False)
        if pairs:
            differences = [self.means[first] - self.means[second] for first, second in pairs]
            of_pairs = solved[len(self.scored) :]
            self.pair_uncertainties |= zip(pairs, of_pairs, strict=True)
            self.p |= zip(pairs, p_of_zero(of_pairs, differences), strict=True)

    @staticmethod
    def _independent_variances(rows: SliceRows, weights: Floats) -> Floats:
        """Return the variance of each of some contrasts as if rows were independent."""
        contributions = rows.contributions
        size = max(1, _VALUES_AT_ONCE // (contributions.shape[1] + 1))
        variances = [
            independent_variances(combine_estimates(chunk, contributions), rows.shared.group)
            for chunk in np.split(weights, range(size, len(weights), size))
        ]
        return np.concatenate(variances)

    def _weights(self, *names: str) -> Floats:
        """Return the weight of each member in the mean of a model, or in the difference of two."""
        weights = np.zeros(len(self.evidence.points))
        for sign, name in zip((1, -1), names, strict=False):
            places = self.places[name]
            np.add.at(weights, places, sign / len(places))
        return weights

    def spreads(self, *names: str) -> list[SeedSpread]:
        """Return how the seeds of one or two models that are recipes differ, or of two that share
        runs their differences, seed by seed: they rise and fall together.
        """
        models = [self.models[name] for name in names]
        if len(models) > 1 and share_runs(*models):
            return [self._spread(*names)]
        return [self._spread(model.name) for model in models if model.is_recipe]

    def _spread(self, *names: str) -> SeedSpread:
        if names not in self._spreads:
            scores = self.evidence.points
            weights = np.eye(len(self.evidence.points))
            places, *others = [self.places[name] for name in names]
            own_scores = scores[places]
            own_weights = weights[places]
            for other_places in others:
                own_scores = own_scores - scores[other_places]
                own_weights = own_weights - weights[other_places]
            noise = 0.0
            if len(places) > 1 and self._sums is not None:
                noise = float(self._sums.combine(own_weights).centred().variances().sum())
            scatter = float(((own_scores - own_scores.mean()) ** 2).sum())
            spread = SeedSpread(members=len(places), scatter=scatter, noise=noise)
            self._spreads[names] = spread
        return self._spreads[names]

    @cached_property
    def _sums(self) -> ContributionSums | None:
        """The sums that the spread of seeds needs; None where no rows are known."""
        rows = self.rows
        return rows.shared.sums(rows.contributions) if rows is not None else None
