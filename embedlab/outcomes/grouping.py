"""What items are grouped by: a property, a number in a given count of groups (length:3), or two of
them crossed (negation,question).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.correlations import average_ranks
from embedlab.core.errors import UsageError
from embedlab.core.note import Note
from embedlab.outcomes.frame import DATASET, ItemSlice, is_expression, whole_blocks
from embedlab.outcomes.property import Property, property_named, refuse_lacking

if TYPE_CHECKING:
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection

GROUP_NAMES = {
    2: "half",
    3: "third",
    4: "quarter",
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    10: "tenth",
}
FIFTHS = 5


def refuse_unknown_property(by: str) -> None:
    """Refuse to group BY what is neither a property, nor groups of one or two crossed, nor an
    expression.
    """
    if not is_expression(by):
        groupings_of(by)


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A property, and into how many groups its numbers are cut."""

    by: Property
    groups: int


def groupings_of(by: str) -> Sequence[Grouping]:
    """Return the one or two properties that BY names; what is not one, and groups of what is not a
    number, are UsageErrors.
    """
    names = by.split(",")
    if len(names) > 2:
        raise UsageError(
            f"{by!r} crosses {len(names)} properties",
            hint="cross two: with more, most groups have too few items",
        )
    if len(names) > 1 and DATASET in names:
        raise UsageError(
            f"{by!r} crosses the dataset",
            hint="remove it: every property is grouped within each dataset",
        )
    if len({name.partition(":")[0] for name in names}) < len(names):
        raise UsageError(
            f"{by!r} crosses a property with itself", hint="name two different properties"
        )
    return [_grouping(name) for name in names]


def _grouping(name: str) -> Grouping:
    property_name, _, count = name.partition(":")
    by = property_named(property_name)
    if not count:
        return Grouping(by=by, groups=FIFTHS)
    if by.kind != "number":
        raise UsageError(
            f"property {property_name!r} has groups of its own",
            hint=f"group by {property_name}, without a number of groups",
        )
    if int(count) not in GROUP_NAMES:
        raise UsageError(
            f"{name!r} is not a number of groups",
            hint=f"give {min(GROUP_NAMES)} to {max(GROUP_NAMES)}, such as {property_name}:3",
        )
    return Grouping(by=by, groups=int(count))


def group_items(outcomes: Outcomes, by: str) -> Iterator[ItemSlice]:
    """Yield the slices of each dataset BY a property or two; of two those items alone that have
    both.
    """
    groupings = groupings_of(by)
    parts = [
        list(cut_by_values(outcomes, grouping.by, grouping.by.values(outcomes), grouping.groups))
        for grouping in groupings
    ]
    if len(parts) == 1:
        yield from parts[0]
        return
    for first in _with_values(parts[0]):
        for second in _with_values(parts[1]):
            if second.block == first.block and len(rows := np.intersect1d(first.rows, second.rows)):
                yield replace(
                    first,
                    key=f"{first.key}/{second.value_key}",
                    title=f"{first.title}, {second.value_title}",
                    rows=rows,
                    value_key=f"{first.value_key}/{second.value_key}",
                    value_title=f"{first.value_title}, {second.value_title}",
                    notes=(*first.notes, *second.notes),
                )


def _with_values(parts: Sequence[ItemSlice]) -> Sequence[ItemSlice]:
    """Return PARTS without those of items that have no value."""
    return [part for part in parts if part.value_key]


def lacking_datasets(outcomes: Outcomes, by: str) -> Sequence[str]:
    """Return the datasets that have no slice BY the properties, because no item of theirs has one;
    that none has it is a UsageError.
    """
    if by == DATASET:
        return []
    groupings = groupings_of(by)
    names_without = [
        dataset
        for grouping in groupings
        if len(groupings) > 1 or not grouping.by.absent
        for dataset in refuse_lacking(grouping.by.name, outcomes, grouping.by.values(outcomes))
    ]
    return list(dict.fromkeys(names_without))


def cut_by_values(
    outcomes: Outcomes, by: Property, values: pl.Series, groups: int = FIFTHS
) -> Iterator[ItemSlice]:
    """Yield the slices of each dataset by the VALUES of a property, which are of all rows; items
    without a value are in none.

    Of a property that says what it means to have none, they are a slice under the name of their
    dataset. Numbers are cut into GROUPS, fifths where it is not said, of the whole dataset, so that
    a selection does not move the cuts.
    """
    for block in whole_blocks(outcomes):
        column = values.gather(block.rows)
        has_value = column.is_not_null().to_numpy()
        valued_rows = block.rows[has_value]
        if len(valued_rows):
            present_values = column.drop_nulls()
            yield from (
                _quantiles(block, by, valued_rows, present_values, groups)
                if by.kind == "number"
                else _values(block, by, valued_rows, present_values)
            )
        if by.absent and len(valued_rows) < len(block.rows):
            yield replace(block, rows=block.rows[~has_value], is_whole=False, notes=(by.absent,))


def split_by_selection(outcomes: Outcomes, fits: ItemSelection) -> Iterator[ItemSlice]:
    """Yield the items of each dataset that a selection picks, then its other items; a dataset
    without a column that the expression reads is left out.
    """
    for block in whole_blocks(outcomes):
        if block.key not in fits.datasets_without:
            holds = fits.is_selected[block.rows]
            for key, rows in (("fits", block.rows[holds]), ("rest", block.rows[~holds])):
                if len(rows):
                    yield _value_slice(block, key, key, rows)


def _value_slice(
    block: ItemSlice, key: str, title: str, rows: NDArray[np.intp], notes: tuple[str, ...] = ()
) -> ItemSlice:
    """Return the ROWS of a dataset that one value, which KEY and TITLE name, is of."""
    return ItemSlice(
        block=block.block,
        key=f"{block.key}/{key}",
        title=f"{block.title} {title}",
        rows=rows,
        value_key=key,
        value_title=title,
        notes=notes,
    )


def _values(
    block: ItemSlice, by: Property, rows: NDArray[np.intp], values: pl.Series
) -> Iterator[ItemSlice]:
    distinct = values.unique(maintain_order=True).to_list()
    for value in sorted(distinct, key=by.place) if by.place is not None else distinct:
        key, title = (value, value) if by.is_bare else (f"{by.name}={value}", f"{by.name}: {value}")
        yield _value_slice(block, key, title, rows[(values == value).to_numpy()])


def quantile_name(by: Property, groups: int = FIFTHS) -> str:
    """Return the name, in keys of slices, of one of as many GROUPS of a number; its own number
    follows it.
    """
    return by.fifth if by.fifth and groups == FIFTHS else f"{by.name}-{GROUP_NAMES[groups]}"


def _quantiles(
    block: ItemSlice, by: Property, rows: NDArray[np.intp], values: pl.Series, groups: int
) -> Iterator[ItemSlice]:
    numbers = values.to_numpy()
    title = by.title or by.name
    splits_ties = by.splits_ties and groups == FIFTHS
    row_groups = dice_fifths(numbers) if splits_ties else _with_ties(numbers, groups)
    for number in np.unique(row_groups).tolist():
        is_in_group = row_groups == number
        bounds = dict.fromkeys(
            f"{end:.{by.decimals}f}"
            for end in (numbers[is_in_group].min(), numbers[is_in_group].max())
        )
        yield _value_slice(
            block,
            f"{quantile_name(by, groups)}-{number}",
            f"{GROUP_NAMES[groups]} {number} ({'–'.join(bounds)})",
            rows[is_in_group],
            tie_notes(numbers, row_groups, number, title) if splits_ties else (),
        )


def _with_ties(numbers: NDArray[np.float64], groups: int) -> NDArray[np.int64]:
    """Return the group of each number, from 1, equal numbers in that of their mean rank: groups
    differ in size, and one can be empty.
    """
    share = (average_ranks(numbers) - 0.5) / len(numbers)
    return (share * groups).astype(np.int64) + 1


def dice_fifths(values: ArrayLike) -> NDArray[np.int64]:
    """Return the fifth of each pair, from 1, by its Dice value: stable sort, so pairs that tie at a
    cut are split by their order.

    The first n mod 5 fifths get one pair more.
    """
    order = np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
    fifths = np.empty(len(order), np.int64)
    for number, rows in enumerate(np.array_split(order, FIFTHS), start=1):
        fifths[rows] = number
    return fifths


def tie_notes(
    values: NDArray[np.float64], fifths: NDArray[np.int64], number: int, title: str
) -> tuple[str, ...]:
    """Return a remark if a tie of VALUES is split between the fifth NUMBER and those above it."""
    above = values[fifths > number]
    cut = above.min(initial=np.inf)
    if values[fifths == number].max() < cut:
        return ()
    tied = f"{(values == cut).sum()} pairs tie at {title} {cut:.3f}, the cut above fifth {number}"
    return (Note(f"{tied}; they are split by their order"),)
