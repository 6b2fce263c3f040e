"""Two models on the items of any task: where they differ, what the items have in common on which
one alone is right, and how steadily.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import Evidence, mean_evidence
from embedlab.comparison.combinations import CombinationSearch, search_combinations
from embedlab.comparison.evidence import item_topics
from embedlab.comparison.in_common import Common, Fact, find_common_facts, find_common_words
from embedlab.comparison.sides import Sides, Steadiness, sides_of, steadiness, typical
from embedlab.comparison.uneven import (
    Kind,
    KindDifference,
    item_kinds,
    refuse_mixed,
    where_they_differ,
)
from embedlab.core.errors import UsageError
from embedlab.core.session import StartProgress, unseen

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection

FEWEST = 10  # items of a side that can have something in common


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """The items on which one model is right and the other wrong."""

    model: str
    items: int
    common: tuple[Common, ...]
    words: tuple[Common, ...]
    typical: tuple[int, ...]  # rows of the frame


@dataclass(frozen=True, kw_only=True, eq=False)
class DifferenceExplanation:
    """What is known of the difference of a second model from the first."""

    first: str
    second: str
    whole: ComparedSlice  # both on all items, in the mean over datasets
    items: int
    kind_differences: tuple[KindDifference, ...]
    search: CombinationSearch  # of combinations of two properties
    sides: tuple[Side, ...]  # of the first, then of the second model
    steadiness: tuple[Steadiness, ...]
    outcomes: Outcomes
    errors: Sides
    kinds: tuple[Kind, ...]  # every one that was measured, in the order of the properties


def explain_difference(
    outcomes: Outcomes,
    models: Sequence[ModelColumns],
    whole: Sequence[Evidence],
    selection: ItemSelection | None = None,
    *,
    rng: np.random.Generator,
    examples: int = 5,
    progress: StartProgress = unseen,
) -> DifferenceExplanation:
    """Return what is known of the difference between two MODELS on OUTCOMES, or on the items of a
    SELECTION.

    WHOLE has the evidence of the whole datasets, or of what is selected of them. RNG draws the
    halves that combinations of properties are searched and tested on. PROGRESS shows the two long
    parts of the work; what it raises ends the work.
    """
    refuse_mixed(outcomes)
    first, second = models
    difference = _mean_difference(outcomes, models, whole)
    kinds = item_kinds(outcomes, selection)
    topics = item_topics(outcomes)
    sides = sides_of(outcomes, first.members, second.members)
    among = (
        sides.scored_by_both if selection is None else sides.scored_by_both & selection.is_selected
    )
    facts = [*kinds, *_errors_too_high(sides, [first.name, second.name])]
    explained_sides = []
    for model, is_alone_right in ((first, sides.only_a), (second, sides.only_b)):
        is_on_side = is_alone_right & among
        count = int(is_on_side.sum())
        common: list[Common] = []
        words: list[Common] = []
        if count >= FEWEST:
            common = find_common_facts(outcomes, is_on_side, among, facts)
            words = find_common_words(outcomes, is_on_side, among)
        side = Side(
            model=model.name,
            items=count,
            common=tuple(common),
            words=tuple(words),
            typical=tuple(typical(sides, is_on_side, topics, examples)),
        )
        explained_sides.append(side)
    return DifferenceExplanation(
        first=first.name,
        second=second.name,
        whole=difference,
        items=int(among.sum()),
        kind_differences=tuple(
            where_they_differ(outcomes, models, kinds, progress("comparing kinds of items"))
        ),
        search=search_combinations(
            outcomes,
            topics,
            models,
            selection,
            rng,
            progress("searching combinations of two properties"),
        ),
        sides=tuple(explained_sides),
        steadiness=tuple(steadiness(outcomes, models)),
        outcomes=outcomes,
        errors=sides,
        kinds=tuple(kinds),
    )


def _mean_difference(
    outcomes: Outcomes, models: Sequence[ModelColumns], evidence: Sequence[Evidence]
) -> ComparedSlice:
    """Return both models in the mean over the datasets, by the first measure of each."""
    keys = {(block.task, block.dataset, block.measures[0]) for block in outcomes.blocks}
    evidences = [
        candidate
        for candidate in evidence
        if (candidate.task, candidate.key, candidate.metric) in keys
        and not np.isnan(candidate.points).any()
    ]
    if not evidences:
        raise UsageError(
            f"no number of both {models[0].name!r} and {models[1].name!r}, and so no difference",
            hint="`embedlab compare` on the same data says why",
        )
    return compare_evidence([mean_evidence("all", evidences)], models)[0]


def _errors_too_high(sides: Sides, names: Sequence[str]) -> list[Fact]:
    """Return whether a model takes a pair for more similar than people do, as a fact; of other
    items there is none.
    """
    if sides.ranks is None:
        return []
    return [
        Fact(
            by="error",
            title=f"{name} too high",
            holds=np.nan_to_num(errors) > 0,
            applies=sides.scored_by_both,
        )
        for name, errors in zip(names, sides.errors, strict=True)
    ]
