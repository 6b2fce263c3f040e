"""The scores of similarities against the gold scores of pairs: by dataset, source and fifth of word overlap."""

from collections.abc import Iterator, Mapping, Sequence

from embedlab.analysis.evidence import Evidence
from embedlab.choices import Aggregate, By, Correlation
from embedlab.comparison.evidence import outcome_evidence
from embedlab.outcomes.cuts import ItemSlice
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import measured_by
from embedlab.runs.evaluations import StoredScore

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS: tuple[Correlation, ...] = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")

Averages = Mapping[str, Sequence[str]]  # the datasets of each average, by its title
Slices = Mapping[By, Sequence[ItemSlice]]


def pair_scores(outcomes: Outcomes, slices: Slices, members: Sequence[str]) -> dict[str, tuple[StoredScore, ...]]:
    """Return every number of each member: by dataset in three aggregations, by source and by Dice fifth, Spearman and Pearson."""
    if not members:
        return {}
    found: dict[str, list[StoredScore]] = {member: [] for member in members}
    measured = {method: measured_by(outcomes, method) for method in METHODS}
    for aggregate in AGGREGATES:
        for method in METHODS:
            for one in outcome_evidence(measured[method], members, slices["dataset"], aggregate=aggregate, is_tested=False):
                for member, score in _scores("average" if one.average_of else "dataset", one, members, aggregate):
                    found[member].append(score)
    by: By
    for by in ("source", "dice"):
        both = [outcome_evidence(measured[method], members, slices[by], is_tested=False) for method in METHODS]
        for one in (one for of_slice in zip(*both, strict=True) for one in of_slice):
            for member, score in _scores(by, one, members, "all", title=one.title if by == "dice" else None):
                found[member].append(score)
    return {member: tuple(own) for member, own in found.items()}


def _scores(
    by: str, one: Evidence, members: Sequence[str], aggregate: Aggregate, title: str | None = None
) -> Iterator[tuple[str, StoredScore]]:
    for member, value in zip(members, one.points.tolist(), strict=True):
        yield (
            member,
            StoredScore(by=by, slice=one.key, metric=one.metric, setting=aggregate, value=value, items=one.pairs, title=title),
        )
