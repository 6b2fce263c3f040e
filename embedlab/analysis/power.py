"""Power: the smallest difference that a dataset and a number of seeds detect with 80% power, and the seeds a difference needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt

from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import Evidence
from embedlab.analysis.scores import ModelColumns
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty, seed_noise
from embedlab.analysis.weighing import Weighed

POWER = 0.8
MOST_SEEDS = 1_000  # larger numbers are not reported, as impractical


@dataclass(frozen=True, kw_only=True)
class Detectable:
    """The detectable difference of two models on one slice, in units of the scores."""

    task: str
    key: str
    title: str
    metric: str
    pairs: int
    sentences: int
    difference: float  # second minus first, as measured
    uncertainty: Uncertainty
    smallest: float  # difference that is detected at 5% with 80% power by the present seeds; nan where unknown
    planned: float | None = None  # the same with the planned number of seeds; nan where no spread is known
    seeds_needed: float | None = None  # for the wanted difference: inf where the pairs do not suffice, nan where no spread is known

    @property
    def effective_pairs(self) -> float:
        """The number of independent pairs that would give as narrow an interval."""
        return self.pairs / self.uncertainty.design_effect


def detectable(
    evidence: Sequence[Evidence], first: ModelColumns, second: ModelColumns, *, detect: float | None = None, seeds: int | None = None
) -> list[Detectable]:
    """Return the detectable differences of two models on each slice of the EVIDENCE on both.

    DETECT is a wanted difference in units of the scores, SEEDS a planned number of seeds of each model that is a recipe.
    """
    found = []
    for one in evidence:
        weighed = Weighed(one, [first, second])
        pair = (first.name, second.name)
        uncertainty, spreads = weighed.of_pair[pair], weighed.spreads.get(pair, [])
        found.append(
            Detectable(
                task=one.task,
                key=one.key,
                title=one.title,
                metric=one.metric,
                pairs=one.pairs,
                sentences=weighed.sums.shared.sentences if weighed.sums is not None else 0,
                difference=weighed.means[second.name] - weighed.means[first.name],
                uncertainty=uncertainty,
                smallest=smallest_difference(uncertainty),
                planned=planned_difference(uncertainty, spreads, seeds) if seeds is not None else None,
                seeds_needed=seeds_needed(uncertainty, spreads, detect) if detect is not None else None,
            )
        )
    return found


def smallest_difference(uncertainty: Uncertainty, alpha: float = SIGNIFICANT) -> float:
    """Return the true difference that a two-sided test at the level ALPHA finds with the probability POWER.

    The test finds what is farther from zero than its interval reaches, and the estimate is farther below the truth than an interval of
    level 2 POWER − 1 reaches in one of 1 / (1 − POWER) cases.
    """
    return uncertainty.half_width(1 - alpha) + uncertainty.half_width(2 * POWER - 1)


def smallest_margin(uncertainty: Uncertainty, alpha: float = SIGNIFICANT) -> float:
    """Return the margin within which two one-sided tests at the level ALPHA show equal scores to be with the probability POWER.

    The estimate is then within POWER of both of its sides, and each test must exclude the margin from there.
    """
    return uncertainty.half_width(1 - 2 * alpha) + uncertainty.half_width(POWER)


def planned_difference(uncertainty: Uncertainty, spreads: Sequence[SeedSpread], members: int) -> float:
    """Return the smallest difference that MEMBERS seeds per recipe detect; nan if there are recipes, and no spread of any is known."""
    recipes = [spread for spread in spreads if spread.is_recipe]
    if recipes and not any(spread.members > 1 for spread in recipes):
        return nan
    return smallest_difference(with_members(uncertainty, spreads, members))


def with_members(uncertainty: Uncertainty, spreads: Sequence[SeedSpread], members: int) -> Uncertainty:
    """Return the uncertainty with MEMBERS seeds per recipe: the seeds' variance and the pairs' noise of single seeds shrink with them."""
    recipes = [spread for spread in spreads if spread.is_recipe]
    known = sum(spread.members - 1 for spread in recipes)
    if known == 0:
        return uncertainty
    pooled = SeedSpread(members=known + 1, scatter=sum(one.scatter for one in recipes), noise=sum(one.noise for one in recipes))
    own = [one if one.members > 1 else pooled for one in recipes]
    noise = [one.noise / (one.members - 1) for one in own]  # of a single seed
    now = sum(each / one.members for each, one in zip(noise, recipes, strict=True))
    planned = [
        SeedSpread(members=members, scatter=one.scatter * (members - 1) / (one.members - 1), noise=each * (members - 1))
        for each, one in zip(noise, own, strict=True)
    ]
    seeds, freedom = seed_noise(planned)
    rows = max(uncertainty.rows - now + sum(noise) / members, 0.0)
    topics = uncertainty.topics
    if topics is not None and uncertainty.rows > 0:
        topics = topics.scaled(sqrt(rows / uncertainty.rows))
    return replace(uncertainty, rows=rows, seeds=seeds, seeds_freedom=freedom, topics=topics)


def seeds_needed(uncertainty: Uncertainty, spreads: Sequence[SeedSpread], difference: float) -> float:
    """Return the fewest seeds of each recipe that detect DIFFERENCE; inf if no number does, nan if no spread is known."""
    if isnan(uncertainty.rows) or not any(spread.members > 1 for spread in spreads if spread.is_recipe):
        return nan
    low, high = 2, MOST_SEEDS
    if smallest_difference(with_members(uncertainty, spreads, high)) > difference:
        return inf
    while low < high:
        middle = (low + high) // 2
        if smallest_difference(with_members(uncertainty, spreads, middle)) <= difference:
            high = middle
        else:
            low = middle + 1
    return low
