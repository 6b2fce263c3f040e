"""Where the difference between two models sits: how much larger it is on some items than on all
others, by every property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.comparison import ComparedSlice, Difference, compare_evidence
from embedlab.analysis.evidence import Evidence, contrast_evidence, mean_evidence, member_columns
from embedlab.comparison.evidence import outcome_evidence
from embedlab.comparison.in_common import Fact, Rows
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import ItemSlice
from embedlab.outcomes.grouping import cut_by_values, quantile_name
from embedlab.outcomes.property import Property, all_properties

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection

FEWEST = 20  # items of a dataset, in a slice and beside it, from which the dataset counts
# of the items: of SICK-R's pairs one has two negated sentences, all others one or none
MIRRORED = 0.99


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind(Fact):
    """The items with one value of a property, or with one of each of two, beside the others that
    have the property.
    """

    value: str  # "one", "fifth 1", "headlines"
    name: str  # of its slices, behind the dataset: "negation=one", "fifth-1", "headlines"
    datasets: Mapping[int, str]  # those that count, by the place of their block

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the frame."""
        return np.flatnonzero(self.holds)

    @property
    def items(self) -> int:
        """The number of the items."""
        return len(self.rows)

    @property
    def others(self) -> Rows:
        """Which rows have another value; (rows,) of the frame."""
        return self.applies & ~self.holds

    def among(self, rows: Rows) -> Kind:
        """Return the items of the kind, and the others, that are among some ROWS."""
        return replace(self, holds=self.holds & rows, applies=self.applies & rows)

    def where_enough(self, outcomes: Outcomes, fewest: int, *samples: Rows) -> Kind:
        """Return the kind in the datasets that have FEWEST items of it, and as many others, in each
        of SAMPLES of the rows.
        """
        masks = [side & sample for side in (self.holds, self.others) for sample in samples]
        is_enough = np.min([outcomes.count_by_block(mask) for mask in masks], axis=0) >= fewest
        datasets = {
            block: outcomes.blocks[block].dataset for block in np.flatnonzero(is_enough).tolist()
        }
        return replace(self.among(is_enough[outcomes.block_of_rows]), datasets=datasets)

    def slices(self, outcomes: Outcomes, *, of_others: bool) -> list[ItemSlice]:
        """Return its items in each dataset, or the others there."""
        holds, ending = (self.others, "/others") if of_others else (self.holds, "")
        return [
            ItemSlice(
                block=block,
                key=f"{dataset}/{self.name}{ending}",
                title=self.title,
                rows=np.flatnonzero(holds & (outcomes.block_of_rows == block)),
            )
            for block, dataset in self.datasets.items()
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class KindDifference(Kind):
    """How the difference between two models on items of one kind differs from that on the
    others.
    """

    slice: ComparedSlice  # scores are means over the datasets
    # the difference there minus the difference on the others; p is corrected over all kinds
    contrast: Difference


def item_kinds(outcomes: Outcomes, selection: ItemSelection | None = None) -> list[Kind]:
    """Return the kinds of items by every property that some have; without a SELECTION of all items.

    A dataset counts where FEWEST items are of the kind and as many are not. Fifths are of whole
    datasets. Of two kinds of which each is all that the other is not, there is the rarer alone.
    """
    among = np.ones(len(outcomes.rows), dtype=bool) if selection is None else selection.is_selected
    all_kinds: list[Kind] = []
    for by in all_properties().values():
        kinds = [
            kind.among(among).where_enough(outcomes, FEWEST, among)
            for kind in property_kinds(outcomes, by, by.values(outcomes))
        ]
        all_kinds += _without_mirror([kind for kind in kinds if kind.datasets])
    return all_kinds


def _without_mirror(kinds: Sequence[Kind]) -> Sequence[Kind]:
    """Return the kinds of a property; of two of which each is nearly all that the other is not, the
    rarer alone: both say the same.
    """
    if len(kinds) != 2:
        return kinds
    first, second = kinds
    common, union = (
        np.count_nonzero(join(first.holds, second.others))
        for join in (np.logical_and, np.logical_or)
    )
    return [min(kinds, key=lambda kind: kind.items)] if common >= MIRRORED * union else kinds


def property_kinds(outcomes: Outcomes, by: Property, values: pl.Series) -> Iterator[Kind]:
    """Yield the items of each value of a property, of which all rows have VALUES."""
    has_value = values.is_not_null().to_numpy()
    slices: dict[str, list[ItemSlice]] = {}
    for items in cut_by_values(outcomes, by, values):
        if has_value[items.rows[0]]:  # not those that have no value
            name = items.key.removeprefix(f"{outcomes.blocks[items.block].dataset}/")
            slices.setdefault(name, []).append(items)
    for name, parts in slices.items():
        value = _value(by, name)
        holds = np.zeros(len(values), dtype=bool)
        holds[np.concatenate([part.rows for part in parts])] = True
        yield Kind(
            by=by.name,
            value=value,
            title=_title(by, value, parts, values),
            name=name,
            holds=holds,
            applies=has_value,
            datasets={part.block: outcomes.blocks[part.block].dataset for part in parts},
        )


def _value(by: Property, name: str) -> str:
    """Return the value behind the NAME of a slice, which is its key without the dataset."""
    if by.kind == "number":
        return f"fifth {name.removeprefix(f'{quantile_name(by)}-')}"
    return name.removeprefix(f"{by.name}=")


def _title(by: Property, value: str, parts: Sequence[ItemSlice], values: pl.Series) -> str:
    """Return the title that people read; for a number in one dataset it has the bounds of the group
    too, which differ between datasets.
    """
    title = by.title or by.name
    if by.kind == "name":
        return f"{title}: {value}"
    if len(parts) > 1:
        return f"{title} ({value})"
    numbers = values.gather(parts[0].rows).to_numpy()
    bounds = dict.fromkeys(f"{end:.{by.decimals}f}" for end in (numbers.min(), numbers.max()))
    return f"{title} {'–'.join(bounds)}"


def where_they_differ(
    outcomes: Outcomes,
    models: Sequence[ModelColumns],
    kinds: Sequence[Kind],
    progress: Callable[[int, int], None] | None = None,
) -> list[KindDifference]:
    """Return the kinds of items on which the second model's lead over the first is most unlike its
    lead elsewhere, first the surest.

    Scores are means over the datasets, and so is the contrast; its p is corrected by Holm over all
    kinds. One whose score is undefined for a model, such as a correlation with gold scores that are
    all equal, is left out.
    """
    return kind_differences(
        measured_kinds(outcomes, member_columns(models), kinds, progress), models
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredKind:
    """A kind of items with the evidence of all members on it, and on the others."""

    kind: Kind
    kind_evidence: Evidence
    other_evidence: Evidence

    @property
    def contrast(self) -> Evidence:
        """By how much each member's score is above its score on the others."""
        return contrast_evidence(self.kind_evidence.key, self.kind_evidence, self.other_evidence)


def measured_kinds(
    outcomes: Outcomes,
    members: Sequence[str],
    kinds: Sequence[Kind],
    progress: Callable[[int, int], None] | None = None,
) -> list[MeasuredKind]:
    """Return the kinds of items with the evidence of MEMBERS; one on which a member has no score is
    left out.
    """
    refuse_mixed(outcomes)
    sides = [
        [kind.slices(outcomes, of_others=of_others) for of_others in (False, True)]
        for kind in kinds
    ]
    slices = [items for kind_sides in sides for side in kind_sides for items in side]
    evidence_by_key = {
        evidence.key: evidence
        for evidence in outcome_evidence(outcomes, members, slices, progress=progress)
    }
    measured = []
    for kind, kind_sides in zip(kinds, sides, strict=True):
        kind_evidence, other_evidence = (
            mean_evidence(f"{kind.by}={kind.value}", [evidence_by_key[items.key] for items in side])
            for side in kind_sides
        )
        measured.append(
            MeasuredKind(kind=kind, kind_evidence=kind_evidence, other_evidence=other_evidence)
        )
    return [
        kind
        for kind in measured
        if not np.isnan([*kind.kind_evidence.points, *kind.other_evidence.points]).any()
    ]


def kind_differences(
    measured: Sequence[MeasuredKind], models: Sequence[ModelColumns]
) -> list[KindDifference]:
    """Return the MEASURED kinds as `where_they_differ` does; their members are those of the two
    MODELS, in their order.
    """
    slices = compare_evidence([kind.kind_evidence for kind in measured], models)
    contrasts = compared_contrasts(measured, models)
    differences = [
        KindDifference(**vars(own.kind), slice=compared, contrast=contrast)
        for own, compared, contrast in zip(measured, slices, contrasts, strict=True)
    ]
    return sorted(
        differences,
        key=lambda kind: (isnan(kind.contrast.p), kind.contrast.p, -abs(kind.contrast.delta)),
    )


def compared_contrasts(
    measured: Sequence[MeasuredKind], models: Sequence[ModelColumns]
) -> list[Difference]:
    """Return by how much the second model's lead on each of the MEASURED kinds is above its lead on
    the others, corrected over all.
    """
    contrast_slices = compare_evidence([kind.contrast for kind in measured], models)
    return [contrast.differences[models[1].name] for contrast in contrast_slices]


def refuse_mixed(outcomes: Outcomes) -> None:
    """Refuse tasks with different measures: their differences are not of one scale."""
    names = {block.measures[0]: block.dataset for block in outcomes.blocks}
    if len(names) > 1:
        listing = ", ".join(f"{dataset} has {measure}" for measure, dataset in names.items())
        hint = "select tasks with one measure, such as --task sts12"
        raise UsageError(f"the selected tasks are measured differently: {listing}", hint=hint)
