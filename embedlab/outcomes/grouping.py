"""What items are grouped by: a property, a number in a given count of groups (length:3), or two of
them crossed (negation,question).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.slices import FIFTHS
from embedlab.core.errors import UsageError
from embedlab.outcomes.cuts import DATASET, GROUP_NAMES, ItemSlice, cut
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import Property, property_named, refuse_lacking

_GROUPED = re.compile(r"[\w-]*(:\d+)?(,[\w-]+(:\d+)?)*")


def is_expression(by: str) -> bool:
    """Whether what items are grouped BY is an expression, such as dice>0.5 or @mine, and not the
    names of properties.
    """
    return bool(by.strip()) and _GROUPED.fullmatch(by) is None


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
            f"property {property_name!r} has names, which are not cut into groups",
            hint=f"group by {property_name}, without a number of groups",
        )
    if int(count) not in GROUP_NAMES:
        raise UsageError(
            f"{name!r} is not a number of groups",
            hint=f"give {min(GROUP_NAMES)} to {max(GROUP_NAMES)}, such as {property_name}:3",
        )
    return Grouping(by=by, groups=int(count))


def grouped(outcomes: Outcomes, by: str) -> Iterator[ItemSlice]:
    """Yield the slices of each dataset BY a property or two; of two those items alone that have
    both.
    """
    groupings = groupings_of(by)
    parts = [
        list(cut(outcomes, grouping.by, grouping.by.values(outcomes), grouping.groups))
        for grouping in groupings
    ]
    if len(parts) == 1:
        yield from parts[0]
        return
    for first in _with_values(parts[0]):
        for second in _with_values(parts[1]):
            if second.block == first.block and len(rows := np.intersect1d(first.rows, second.rows)):
                yield _crossed(first, second, rows)


def _crossed(first: ItemSlice, second: ItemSlice, rows: NDArray[np.intp]) -> ItemSlice:
    """Return the ROWS that two slices of one dataset share, called by both."""
    return replace(
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
    lacking = [
        name
        for grouping in groupings
        if len(groupings) > 1 or not grouping.by.absent
        for name in refuse_lacking(grouping.by.name, outcomes, grouping.by.values(outcomes))
    ]
    return list(dict.fromkeys(lacking))
