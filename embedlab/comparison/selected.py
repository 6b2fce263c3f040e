"""Models on the items of a selection, alone or beside the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import average_evidence, member_columns
from embedlab.comparison.evidence import outcome_evidence, slices_of

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection


@dataclass(frozen=True, kw_only=True)
class SelectedAndRest:
    """The models on what a selection picks and on what it leaves, in the mean over the datasets on
    which both have a score.
    """

    datasets: tuple[str, ...]
    selected: ComparedSlice
    rest: ComparedSlice
    is_by_results: bool  # then there is no interval


def selected_and_rest(
    outcomes: Outcomes, models: Sequence[ModelColumns], selection: ItemSelection
) -> SelectedAndRest | None:
    """Return MODELS compared with the first of them within a SELECTION and outside it; None where
    no dataset has scores of both.
    """
    members = member_columns(models)
    parts = slices_of(outcomes, members, selection=selection, has_rest=True)
    keyed = {
        evidence.key: evidence
        for evidence in outcome_evidence(
            outcomes, members, parts, is_chosen=selection.is_by_results
        )
        if not evidence.average_of
    }
    of_datasets = []
    for block in outcomes.blocks:
        both = [keyed[key] for key in (block.dataset, f"{block.dataset}/rest") if key in keyed]
        if len(both) == 2 and not np.isnan([evidence.points for evidence in both]).any():
            of_datasets.append((block.dataset, *both))
    if not of_datasets:
        return None
    datasets, *evidence = zip(*of_datasets, strict=True)
    means = [
        evidences[0] if len(evidences) == 1 else average_evidence(name, evidences)
        for name, evidences in zip(("selected", "rest"), evidence, strict=True)
    ]
    selected, rest = compare_evidence(means, models)
    return SelectedAndRest(
        datasets=tuple(datasets),
        selected=selected,
        rest=rest,
        is_by_results=selection.is_by_results,
    )
