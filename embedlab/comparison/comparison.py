"""Compare models on the items of any task, also within a selection and outside it: what the command
line, the dashboard, grids and papers show is made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embedlab.analysis.comparison import ComparedSlice, compare_evidence, comparison_notes
from embedlab.analysis.evidence import mean_evidence, member_columns
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import DATASET, is_expression

if TYPE_CHECKING:
    from embedlab.analysis.another_dataset import NewDatasetEffect
    from embedlab.analysis.evidence import Evidence, ModelColumns
    from embedlab.choices import Aggregate
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection


@dataclass(frozen=True, kw_only=True)
class Slicing:
    """Which items of the tasks are compared, how they are grouped, and how two models are
    tested.
    """

    by: str = DATASET  # a property, a number of groups of it, or two crossed
    where: str = ""  # an expression over properties; all items without one
    has_rest: bool = False  # whether what the expression leaves out of each dataset is shown too
    aggregate: Aggregate = "all"
    common: bool = False  # items alone that all models have predictions of
    margin: float | None = None  # of equivalence, in units of the scores
    has_letters: bool = False  # whether each two models are tested, not only those with the first
    has_another: bool = False  # whether what a dataset of the same kind would give is wanted

    @property
    def is_plain(self) -> bool:
        """Whether each number is of a whole dataset."""
        return self.by == DATASET and not self.where and not self.common

    @property
    def meanings(self) -> Mapping[str, str]:
        """The expressions of the named selections that items are picked or grouped by, by name."""
        if not (self.where or is_expression(self.by)):
            return {}
        from embedlab.analysis.expressions import meanings

        return meanings(f"{self.where} {self.by}")


WHOLE = Slicing()  # each dataset, with all its items


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Models compared with the first of them on the slices of some items."""

    slicing: Slicing
    models: Sequence[ModelColumns]
    slices: Sequence[ComparedSlice]
    evidence: Sequence[Evidence] = ()  # behind the slices, in their order
    # what differences on five datasets that hardly share pairs say of another one
    new_datasets: Sequence[NewDatasetEffect] = ()

    @property
    def names(self) -> list[str]:
        """The names of the models; the first is the reference."""
        return [model.name for model in self.models]

    @property
    def remarks(self) -> list[str]:
        """What limits the intervals and tests of all slices, beside signs that a table explains."""
        return list(comparison_notes(self.slices, self.models, has_differences=False))


def compare_slices(
    evidence: Sequence[Evidence], models: Sequence[ModelColumns], slicing: Slicing
) -> Comparison:
    """Compare MODELS on the EVIDENCE of slices that were cut as SLICING says.

    A margin adds a test of equivalence.
    """
    slices = compare_evidence(
        evidence, models, margin=slicing.margin, has_letters=slicing.has_letters
    )
    expectations: Sequence[NewDatasetEffect] = ()
    if slicing.has_another and slicing.by == DATASET and not slicing.where:
        from embedlab.analysis.another_dataset import predict_new_dataset

        expectations = predict_new_dataset(slices, models)
    return Comparison(
        slicing=slicing, models=models, slices=slices, evidence=evidence, new_datasets=expectations
    )


def compare_outcomes(
    outcomes: Outcomes,
    models: Sequence[ModelColumns],
    slicing: Slicing = WHOLE,
    *,
    selection: ItemSelection | None = None,
) -> Comparison:
    """Compare MODELS, whose members have predictions in OUTCOMES, with the first of them on each
    slice; SELECTION is what the expression of SLICING picks.

    Every model sees the same items, so differences are paired. Averages over datasets count
    sentences that recur in several of them. A model that lacks an item of a slice has no number
    there, with a note; of common items all models have numbers. A dataset's fifths are cut within
    it, before a SELECTION leaves some of its items; of one that was chosen by results there are
    scores alone.
    """
    if slicing.by == "dice" and slicing.aggregate != "all":
        raise UsageError(
            f"Dice fifths are not aggregated over sources: {slicing.aggregate!r}",
            hint="remove --aggregate, or use --by dataset",
        )
    members = member_columns(models)
    parts = slices_of(outcomes, members, by=slicing.by, common=slicing.common, selection=selection)
    evidence = outcome_evidence(
        outcomes,
        members,
        parts,
        aggregate=slicing.aggregate,
        is_chosen=selection is not None and selection.is_by_results,
    )
    return compare_slices(evidence, models, slicing)


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
    evidence = outcome_evidence(outcomes, members, parts, is_chosen=selection.is_by_results)
    by_key = {row.key: row for row in evidence if not np.isnan(row.points).any()}
    datasets = [
        block.dataset
        for block in outcomes.blocks
        if {block.dataset, f"{block.dataset}/rest"} <= by_key.keys()
    ]
    if not datasets:
        return None
    selected_evidence = mean_evidence("selected", [by_key[name] for name in datasets])
    rest_evidence = mean_evidence("rest", [by_key[f"{name}/rest"] for name in datasets])
    selected, rest = compare_evidence([selected_evidence, rest_evidence], models)
    return SelectedAndRest(
        datasets=tuple(datasets),
        selected=selected,
        rest=rest,
        is_by_results=selection.is_by_results,
    )
