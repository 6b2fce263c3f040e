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
from embedlab.analysis.evidence import Evidence, average_evidence, contrast_evidence, member_columns
from embedlab.comparison.evidence import outcome_evidence
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
class Kind:
    """The items with one value of a property, in every dataset that has them, beside the others
    that have the property.
    """

    by: str
    value: str  # "one", "fifth 1", "headlines"
    title: str
    datasets: tuple[str, ...]
    parts: tuple[ItemSlice, ...]  # one a dataset
    others: tuple[ItemSlice, ...]

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the frame."""
        return np.concatenate([part.rows for part in self.parts])

    @property
    def other_rows(self) -> NDArray[np.intp]:
        """The rows of the same datasets with another value."""
        return np.concatenate([other.rows for other in self.others])


@dataclass(frozen=True, kw_only=True)
class KindDifference:
    """How the difference between two models on items of one kind differs from that on the
    others.
    """

    by: str
    value: str
    title: str
    datasets: tuple[str, ...]  # scores are means over them
    items: int
    slice: ComparedSlice
    # the difference there minus the difference on the others; p is corrected over all kinds
    contrast: Difference


def item_kinds(outcomes: Outcomes, selection: ItemSelection | None = None) -> list[Kind]:
    """Return the kinds of items by every property that some have; without a SELECTION of all items.

    A dataset counts where FEWEST items are of the kind and as many are not. Fifths are of whole
    datasets. Of two kinds of which each is all that the other is not, there is the rarer alone.
    """
    all_kinds: list[Kind] = []
    for by in all_properties().values():
        kinds = _property_kinds(outcomes, by, by.values(outcomes), selection)
        all_kinds += _without_mirror([kind for kind in kinds if kind.parts])
    return all_kinds


def _without_mirror(kinds: Sequence[Kind]) -> Sequence[Kind]:
    """Return the kinds of a property; of two of which each is nearly all that the other is not, the
    rarer alone: both say the same.
    """
    if len(kinds) != 2:
        return kinds
    first, second = kinds
    common, union = (
        len(join(first.rows, second.other_rows)) for join in (np.intersect1d, np.union1d)
    )
    return [min(kinds, key=lambda kind: len(kind.rows))] if common >= MIRRORED * union else kinds


def _property_kinds(
    outcomes: Outcomes, by: Property, values: pl.Series, selection: ItemSelection | None
) -> Iterator[Kind]:
    has_value = values.is_not_null().to_numpy()
    is_chosen = has_value if selection is None else has_value & selection.is_selected
    for named_value in named_parts(outcomes, by, values):
        chosen_parts, other_parts = [], []
        for part in named_value.parts:
            row = part.rows[is_chosen[part.rows]]
            all_rows = outcomes.rows_of(part.block)
            rest = np.setdiff1d(all_rows[is_chosen[all_rows]], row)
            if min(len(row), len(rest)) >= FEWEST:
                chosen_parts.append(replace(part, rows=row))
                other_parts.append(replace(part, key=f"{part.key}/others", rows=rest))
        yield Kind(
            by=by.name,
            value=named_value.value,
            title=named_value.title,
            datasets=tuple(outcomes.blocks[part.block].dataset for part in chosen_parts),
            parts=tuple(chosen_parts),
            others=tuple(other_parts),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedParts:
    """The slices of all datasets with one value of a property."""

    value: str  # "one", "fifth 1", "headlines"
    title: str
    parts: tuple[ItemSlice, ...]


def named_parts(outcomes: Outcomes, by: Property, values: pl.Series) -> Iterator[NamedParts]:
    """Yield the items of each value of a property, of which all rows have VALUES."""
    has_value = values.is_not_null().to_numpy()
    slices: dict[str, list[ItemSlice]] = {}
    for items in cut_by_values(outcomes, by, values):
        if has_value[items.rows[0]]:  # not those that have no value
            name = items.key.removeprefix(f"{outcomes.blocks[items.block].dataset}/")
            slices.setdefault(name, []).append(items)
    for name, parts in slices.items():
        value = _value(by, name)
        yield NamedParts(value=value, title=_title(by, value, parts, values), parts=tuple(parts))


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

    def select_members(self, members: Sequence[int]) -> MeasuredKind:
        """The same of some members, given by their numbers, in this order."""
        return replace(
            self,
            kind_evidence=self.kind_evidence.select_members(members),
            other_evidence=self.other_evidence.select_members(members),
        )


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
    slices = [items for kind in kinds for items in (*kind.parts, *kind.others)]
    evidence_by_key: Mapping[str, Evidence] = {
        evidence.key: evidence
        for evidence in outcome_evidence(outcomes, members, slices, progress=progress)
    }
    measured = [
        MeasuredKind(
            kind=kind,
            kind_evidence=_mean_evidence(kind, evidence_by_key, kind.parts),
            other_evidence=_mean_evidence(kind, evidence_by_key, kind.others),
        )
        for kind in kinds
    ]
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
    slices, contrasts = (
        compare_evidence([kind.kind_evidence for kind in measured], models),
        compared_contrasts(measured, models),
    )
    unevens = [
        KindDifference(
            by=kind.by,
            value=kind.value,
            title=kind.title,
            datasets=kind.datasets,
            items=len(kind.rows),
            slice=compared,
            contrast=contrast,
        )
        for kind, compared, contrast in zip(
            (measured_kind.kind for measured_kind in measured), slices, contrasts, strict=True
        )
    ]
    return sorted(
        unevens,
        key=lambda kind: (isnan(kind.contrast.p), kind.contrast.p, -abs(kind.contrast.delta)),
    )


def compared_contrasts(
    measured: Sequence[MeasuredKind], models: Sequence[ModelColumns]
) -> list[Difference]:
    """Return by how much the second model's lead on each of the MEASURED kinds is above its lead on
    the others, corrected over all.
    """
    contrast_slices = compare_evidence(
        [
            contrast_evidence(kind.kind_evidence.key, kind.kind_evidence, kind.other_evidence)
            for kind in measured
        ],
        models,
    )
    return [contrast.differences[models[1].name] for contrast in contrast_slices]


def _mean_evidence(
    kind: Kind, evidence_by_key: Mapping[str, Evidence], parts: Sequence[ItemSlice]
) -> Evidence:
    evidences = [evidence_by_key[part.key] for part in parts]
    return (
        evidences[0]
        if len(evidences) == 1
        else average_evidence(f"{kind.by}={kind.value}", evidences)
    )


def refuse_mixed(outcomes: Outcomes) -> None:
    """Refuse tasks with different measures: their differences are not of one scale."""
    names = {block.measures[0]: block.dataset for block in outcomes.blocks}
    if len(names) > 1:
        listing = ", ".join(f"{dataset} has {measure}" for measure, dataset in names.items())
        hint = "select tasks with one measure, such as --task sts12"
        raise UsageError(f"the selected tasks are measured differently: {listing}", hint=hint)
