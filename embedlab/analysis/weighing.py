"""One slice with the uncertainty of each model's score and of the difference between each two models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan

import numpy as np

from embedlab.analysis.dependence import ContributionSums
from embedlab.analysis.evidence import Evidence, member_columns
from embedlab.analysis.influence import Floats
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import FEWEST_ROWS, UNKNOWN, SeedSpread, Uncertainty, share_runs, spread_of, with_seeds

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Component:
    """The connected rows that carry most of a difference's variance."""

    rows: int
    share: float  # of Σ(component sum)², 0–1


class Weighed:
    """A slice whose models are known by name; uncertainties are unknown where no rows are behind the scores."""

    def __init__(self, one: Evidence, models: Sequence[ModelColumns]) -> None:
        columns = member_columns(models)
        self.evidence, self.models = one, {model.name: model for model in models}
        self.places = {model.name: [columns.index(member) for member in model.members] for model in models}
        self.means = {name: float(one.points[own].mean()) for name, own in self.places.items()}
        self.pairs: list[Pair] = list(combinations(self.means, 2))
        self.single: dict[str, Uncertainty] = dict.fromkeys(self.means, UNKNOWN)
        self.of_pair: dict[Pair, Uncertainty] = dict.fromkeys(self.pairs, UNKNOWN)
        self.spreads: dict[Pair, list[SeedSpread]] = {}  # variance from the seeds of each two models
        self.sums: ContributionSums | None = None
        if one.rows is not None and one.rows.contributions.shape[1] >= FEWEST_ROWS:
            self.sums = one.rows.shared.sums(np.nan_to_num(one.rows.contributions))  # a member without a score contributes nothing
            self._weigh(self.sums)

    def component(self, reference: str) -> Component | None:
        """The connected rows that weigh most, among the differences from REFERENCE or in the only score."""
        if self.sums is None:
            return None
        mean = {name: self._mean_weights(name) for name, value in self.means.items() if not isnan(value)}
        apart = [weights - mean[reference] for name, weights in mean.items() if name != reference] if reference in mean else []
        if not (apart or mean):
            return None
        shares, sizes = self.sums.combined(np.array(apart or list(mean.values()))).largest_component()
        largest = int(shares.argmax())
        return Component(rows=int(sizes[largest]), share=float(shares[largest]))

    def _weigh(self, sums: ContributionSums) -> None:
        """Fill in the uncertainties."""
        known = [name for name, mean in self.means.items() if not isnan(mean)]
        weights = {name: self._mean_weights(name) for name in known}
        spreads = {name: self._spread(sums, name) for name in known}
        if known:
            rows = sums.combined(np.array(list(weights.values()))).variances()
            self.single |= {name: with_seeds(rows, place, [spreads[name]]) for place, name in enumerate(known)}
        pairs = [pair for pair in self.pairs if {*pair} <= {*known}]
        if pairs:
            apart = sums.combined(np.array([weights[first] - weights[second] for first, second in pairs])).variances()
            self.spreads = {(first, second): self._pair_spreads(sums, spreads, first, second) for first, second in pairs}
            self.of_pair |= {pair: self._steadied(with_seeds(apart, place, self.spreads[pair])) for place, pair in enumerate(pairs)}

    def _steadied(self, uncertainty: Uncertainty) -> Uncertainty:
        """Of accuracies, as if one more item were right for each model alone: few discordant items understate the variance.

        After Bonett & Price (2012); with it three items against none do not differ significantly, and no interval has a width of zero.
        """
        if self.evidence.scale != "share":
            return uncertainty
        more = 2 / self.evidence.pairs**2
        return replace(uncertainty, rows=uncertainty.rows + more, independent=uncertainty.independent + more)

    def _mean_weights(self, name: str) -> Floats:
        """Return the weight of each member in the mean of a model."""
        weights = np.zeros(len(self.evidence.points))
        np.add.at(weights, self.places[name], 1 / len(self.places[name]))
        return weights

    def _spread(self, sums: ContributionSums, name: str) -> SeedSpread:
        own, unit = self.places[name], np.eye(len(self.evidence.points))
        return spread_of(self.evidence.points[own], sums.combined(unit[own]), is_recipe=self.models[name].is_recipe)

    def _pair_spreads(self, sums: ContributionSums, spreads: dict[str, SeedSpread], first: str, second: str) -> list[SeedSpread]:
        """The spread of each model, or of models that share runs that of their differences seed by seed: they rise and fall together."""
        if not share_runs(self.models[first].behind, self.models[second].behind):
            return [spreads[first], spreads[second]]
        own, other, unit = self.places[first], self.places[second], np.eye(len(self.evidence.points))
        apart = self.evidence.points[own] - self.evidence.points[other]
        return [spread_of(apart, sums.combined(unit[own] - unit[other]), is_recipe=True)]
