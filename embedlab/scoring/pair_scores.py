"""The scores of similarities against the gold scores of pairs: by dataset, source and fifth of word
overlap.
"""

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


def pair_scores(
    outcomes: Outcomes, slices: Slices, members: Sequence[str]
) -> dict[str, tuple[StoredScore, ...]]:
    """Return every number of each member: by dataset in three aggregations, by source and by Dice
    fifth, Spearman and Pearson.
    """
    if not members:
        return {}
    by_member: dict[str, list[StoredScore]] = {member: [] for member in members}
    measured = {method: measured_by(outcomes, method) for method in METHODS}
    for aggregate in AGGREGATES:
        for method in METHODS:
            for evidence in outcome_evidence(
                measured[method], members, slices["dataset"], aggregate=aggregate, is_tested=False
            ):
                for member, score in _scores(
                    "average" if evidence.average_of else "dataset", evidence, members, aggregate
                ):
                    by_member[member].append(score)
    by: By
    for by in ("source", "dice"):
        both = [
            outcome_evidence(measured[method], members, slices[by], is_tested=False)
            for method in METHODS
        ]
        for evidence in (each for of_slice in zip(*both, strict=True) for each in of_slice):
            for member, score in _scores(
                by, evidence, members, "all", title=evidence.title if by == "dice" else None
            ):
                by_member[member].append(score)
    return {member: tuple(scores) for member, scores in by_member.items()}


def _scores(
    by: str,
    evidence: Evidence,
    members: Sequence[str],
    aggregate: Aggregate,
    title: str | None = None,
) -> Iterator[tuple[str, StoredScore]]:
    for member, value in zip(members, evidence.points.tolist(), strict=True):
        yield (
            member,
            StoredScore(
                by=by,
                slice=evidence.key,
                metric=evidence.metric,
                setting=aggregate,
                value=value,
                items=evidence.pairs,
                title=title,
            ),
        )
