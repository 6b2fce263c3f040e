"""One slice with the uncertainty of each model's score and of the difference between each two
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    spread_of,
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

    Compared are the PAIRS of models, or each two of them; intervals of scores are found with each
    two, or where they are asked for.
    """

    def __init__(
        self,
        evidence: Evidence,
        models: Sequence[ModelColumns],
        pairs: Sequence[Pair] | None = None,
        *,
        has_intervals: bool = False,
    ) -> None:
        columns = member_columns(models)
        self.evidence, self.models = evidence, {model.name: model for model in models}
        self.places = {
            model.name: [columns.index(member) for member in model.members] for model in models
        }
        self.means = {
            name: float(evidence.points[indices].mean()) for name, indices in self.places.items()
        }
        self.has_intervals = has_intervals or pairs is None
        self.pairs: list[Pair] = list(combinations(self.means, 2) if pairs is None else pairs)
        self.score_uncertainties: dict[str, Uncertainty] = dict.fromkeys(self.means, UNKNOWN)
        self.pair_uncertainties: dict[Pair, Uncertainty] = dict.fromkeys(self.pairs, UNKNOWN)
        self.spreads: dict[
            Pair, list[SeedSpread]
        ] = {}  # variance from the seeds of each two models
        self.p: dict[Pair, float] = dict.fromkeys(self.pairs, nan)  # of "no difference"
        self.sums: ContributionSums | None = None  # of models with several seeds
        self.topics: TopicSums | None = None
        self.lack = self._lack()
        self.rows = evidence.rows
        if evidence.rows is not None and not self.lack:
            self.topics = evidence.rows.topics
            self._fill_uncertainties(evidence.rows, self.topics)

    @property
    def sentences(self) -> int:
        """How many sentences the pairs have; 0 where nothing is tested."""
        rows = self.rows if self.topics is not None else None
        return rows.shared.sentences if rows is not None else 0

    def _lack(self) -> str:
        """Return why the slice has no interval; empty if it has one, or no rows are known."""
        rows = self.evidence.rows
        if rows is None:
            return ""
        if len(rows.texts) < FEWEST_ROWS:
            return f"fewer than {FEWEST_ROWS} rows: no interval, not tested"
        topics = rows.topic_count
        if topics >= FEWEST_TOPICS:
            return ""
        return (
            f"its rows form only {'one topic' if topics == 1 else f'{topics} topics'}: no interval, "
            "not tested (rows with other sentences would help)"
        )

    def compare(self, first: str, second: str) -> tuple[float, Uncertainty, float]:
        """Return by how much FIRST is above SECOND, how sure that is, and the p of "no
        difference".
        """
        is_turned = (first, second) not in self.p
        pair = (second, first) if is_turned else (first, second)
        uncertainty = self.pair_uncertainties[pair]
        delta = self.means[first] - self.means[second]
        return delta, uncertainty.reversed if is_turned else uncertainty, self.p[pair]

    def topic_of(self, first: str, second: str | None = None) -> Topic | None:
        """Return the largest topic of the difference of FIRST from SECOND, or of the score of
        FIRST; None where it is unknown.
        """
        if (
            self.topics is None
            or self.rows is None
            or isnan(self.means[first] + (self.means[second] if second else 0.0))
        ):
            return None
        weights = self._mean_weights(first) - (self._mean_weights(second) if second else 0.0)
        squares = (weights @ self.topics.sums) ** 2
        largest = int(squares.argmax())
        total = float(squares.sum())
        in_topic = self.rows.row_topics == largest
        topic = Topic(
            rows=int(in_topic.sum()),
            share=float(squares[largest]) / total if total > 0 else 0.0,
        )
        if self.rows.leave_out is None or not topic.is_large(len(self.rows.texts)):
            return topic
        has_weight = weights != 0
        score_without = weights[has_weight] @ self.rows.leave_out(in_topic)[0][has_weight]
        return replace(topic, score_without=float(score_without))

    def largest_topic(self, reference: str) -> Topic | None:
        """Return the topic that carries most of the variance of a difference from REFERENCE, or of
        the only score.
        """
        scored = [name for name, mean in self.means.items() if not isnan(mean)]
        pairs = (
            [(name, reference) for name in scored if name != reference]
            if reference in scored
            else []
        )
        topics = [self.topic_of(*pair) for pair in pairs] or [
            self.topic_of(name) for name in scored
        ]
        return max(
            (topic for topic in topics if topic is not None),
            key=lambda topic: topic.share,
            default=None,
        )

    def _fill_uncertainties(self, rows: SliceRows, topics: TopicSums) -> None:
        """Fill in the uncertainties, and each p."""
        scored = [name for name, mean in self.means.items() if not isnan(mean)]
        weights = {name: self._mean_weights(name) for name in scored}
        pairs = [pair for pair in self.pairs if {*pair} <= {*scored}]
        if not scored:
            return
        contrasts = np.array(
            [*weights.values(), *(weights[first] - weights[second] for first, second in pairs)]
        )
        spreads = {name: self._spread(rows, name) for name in scored}
        self.spreads = {
            (first, second): [self._spread(rows, first, second)]
            if share_runs(self.models[first].runs_behind, self.models[second].runs_behind)
            else [spreads[first], spreads[second]]
            for first, second in pairs
        }
        seeds = [*([spreads[name]] for name in scored), *self.spreads.values()]
        uncertainties = self._uncertainties(rows, topics, contrasts, seeds)
        single_uncertainties = uncertainties[: len(scored)]
        variances = dict(
            zip(scored, (single.variance_of_rows for single in single_uncertainties), strict=True)
        )
        pair_uncertainties = []
        for pair, uncertainty in zip(pairs, uncertainties[len(scored) :], strict=True):
            # Of accuracies, as if one more item were right for each model alone, after Bonett &
            # Price (2012): few discordant items understate the variance. With it three items
            # against none do not differ significantly, and no interval has a width of zero.
            if self.evidence.scale == "share":
                uncertainty = replace(uncertainty, other_variance=2 / self.evidence.items**2)
            # Of correlations over the same rows, as skewed as they are; of an average of several
            # they hardly are.
            if self.evidence.scale == "correlation" and not rows.groups.any():
                first, second = pair
                skew = correlations_skew(
                    self.means[first],
                    self.means[second],
                    (variances[first], variances[second], uncertainty.variance_of_rows),
                )
                uncertainty = replace(uncertainty, skew=skew)
            pair_uncertainties.append(uncertainty)
        solutions = with_intervals(
            [*single_uncertainties, *pair_uncertainties]
            if self.has_intervals
            else pair_uncertainties
        )
        self.score_uncertainties |= dict(
            zip(scored, solutions if self.has_intervals else single_uncertainties, strict=False)
        )
        self.pair_uncertainties |= dict(
            zip(pairs, solutions[-len(pairs) :] if pairs else (), strict=True)
        )
        differences = [self.means[first] - self.means[second] for first, second in pairs]
        self.p |= dict(zip(pairs, p_of_zero(pair_uncertainties, differences), strict=True))

    def _uncertainties(
        self,
        rows: SliceRows,
        topics: TopicSums,
        contrasts: Floats,
        seeds: Sequence[Sequence[SeedSpread]],
    ) -> list[Uncertainty]:
        """Return the uncertainty of each of CONTRASTS, (contrasts, members), by its topics, and
        what the SEEDS of its models add.
        """
        by_topic, contributions = topics.combine(contrasts), rows.known_contributions
        chunk_size = max(1, _VALUES_AT_ONCE // (contributions.shape[1] + 1))
        variances = [
            independent_variances(combine_estimates(chunk, contributions), rows.shared.group)
            for chunk in np.split(contrasts, range(chunk_size, len(contrasts), chunk_size))
        ]
        independent = np.concatenate(variances)
        uncertainties = []
        for index, spreads in enumerate(seeds):
            noise, freedom = seed_noise([spread for spread in spreads if spread.is_recipe])
            uncertainty = Uncertainty(
                topics=by_topic.of([index]),
                independent=float(independent[index]),
                seeds=noise,
                seeds_freedom=freedom,
            )
            uncertainties.append(uncertainty)
        return uncertainties

    def _mean_weights(self, name: str) -> Floats:
        """Return the weight of each member in the mean of a model."""
        weights = np.zeros(len(self.evidence.points))
        np.add.at(weights, self.places[name], 1 / len(self.places[name]))
        return weights

    def _spread(self, rows: SliceRows, name: str, other: str | None = None) -> SeedSpread:
        """Return how the seeds of a model differ, or of models that share runs their differences
        from those of the OTHER, seed by seed: they rise and fall together.
        """
        is_recipe = other is not None or self.models[name].is_recipe
        units = np.eye(len(self.evidence.points))
        members, scores = units[self.places[name]], self.evidence.points[self.places[name]]
        if other is not None:
            members = members - units[self.places[other]]
            scores = scores - self.evidence.points[self.places[other]]
        if len(scores) == 1:
            return spread_of(scores, is_recipe=is_recipe)
        if self.sums is None:
            self.sums = rows.shared.sums(rows.known_contributions)
        return spread_of(scores, self.sums.combine(members), is_recipe=is_recipe)
