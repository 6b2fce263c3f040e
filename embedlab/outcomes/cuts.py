"""Items cut into slices by the values of a property, within each dataset."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import average_ranks
from embedlab.analysis.slices import FIFTHS, dice_fifths, tie_notes
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import Property
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
DATASET = "dataset"  # the property that every item has: a slice is the whole dataset


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSlice:
    """Items of one block with one value of a property."""

    block: int
    key: str  # stable: "sts12", "sts12/MSRpar", "sts-benchmark/fifth-1", "mr/negation=one"
    title: str
    rows: NDArray[np.intp]  # of the frame
    # what the key says behind the dataset: "MSRpar", "fifth-1"; empty for all items, and those
    # without a value
    value_key: str = ""
    value_title: str = ""  # the same of the title
    # whether it is its dataset, or what a selection leaves of it: averages are over these
    is_whole: bool = False
    notes: tuple[str, ...] = ()


def whole_blocks(outcomes: Outcomes) -> Iterator[ItemSlice]:
    """Yield each dataset as one slice; a file is shown by its name alone, where no other has it."""
    names = [block.dataset for block in outcomes.blocks]
    short = [name.rpartition("/")[2] if name.startswith("/") else name for name in names]
    for index, block in enumerate(outcomes.blocks):
        yield ItemSlice(
            block=index,
            key=block.dataset,
            title=short[index] if short.count(short[index]) == 1 else block.dataset,
            rows=outcomes.rows_of(index),
            is_whole=True,
        )


def cut(
    outcomes: Outcomes, by: Property, values: pl.Series, groups: int = FIFTHS
) -> Iterator[ItemSlice]:
    """Yield the slices of each dataset by the VALUES of a property, which are of all rows; items
    without a value are in none.

    Of a property that says what it means to have none, they are a slice under the name of their
    dataset. Numbers are cut into GROUPS, fifths where it is not said, of the whole dataset, so that
    a selection does not move the cuts.
    """
    for whole in whole_blocks(outcomes):
        column = values.gather(whole.rows)
        has_value = column.is_not_null().to_numpy()
        there = whole.rows[has_value]
        if len(there):
            known = column.drop_nulls()
            yield from (
                _quantiles(whole, by, there, known, groups)
                if by.kind == "number"
                else _values(whole, by, there, known)
            )
        if by.absent and len(there) < len(whole.rows):
            yield replace(whole, rows=whole.rows[~has_value], is_whole=False, notes=(by.absent,))


def halves(outcomes: Outcomes, fits: ItemSelection) -> Iterator[ItemSlice]:
    """Yield of each dataset the items that a selection picks, then the others; none of a dataset
    without what its expression reads.
    """
    for whole in whole_blocks(outcomes):
        if whole.key not in fits.lacking:
            holds = fits.holds[whole.rows]
            for key, rows in (("fits", whole.rows[holds]), ("rest", whole.rows[~holds])):
                if len(rows):
                    yield _part_of(whole, key, key, rows)


def _part_of(
    whole: ItemSlice, key: str, title: str, rows: NDArray[np.intp], notes: tuple[str, ...] = ()
) -> ItemSlice:
    """Return the ROWS of a dataset that one value, which KEY and TITLE name, is of."""
    return ItemSlice(
        block=whole.block,
        key=f"{whole.key}/{key}",
        title=f"{whole.title} {title}",
        rows=rows,
        value_key=key,
        value_title=title,
        notes=notes,
    )


def _values(
    whole: ItemSlice, by: Property, rows: NDArray[np.intp], values: pl.Series
) -> Iterator[ItemSlice]:
    distinct = values.unique(maintain_order=True).to_list()
    for value in sorted(distinct, key=by.place) if by.place is not None else distinct:
        key, title = (
            (value, value)
            if by.is_bare
            else (f"{by.name}={value}", f"{by.title or by.name}: {value}")
        )
        yield _part_of(whole, key, title, rows[(values == value).to_numpy()])


def quantile_name(by: Property, groups: int = FIFTHS) -> str:
    """Return what one of as many GROUPS of a number is called in the keys of slices, before its
    number.
    """
    return by.fifth if by.fifth and groups == FIFTHS else f"{by.name}-{GROUP_NAMES[groups]}"


def _quantiles(
    whole: ItemSlice, by: Property, rows: NDArray[np.intp], values: pl.Series, groups: int
) -> Iterator[ItemSlice]:
    numbers, title = values.to_numpy(), by.title or by.name
    splits_ties = by.splits_ties and groups == FIFTHS
    fifths = dice_fifths(numbers) if splits_ties else None
    of_row = fifths.fifth if fifths is not None else _with_ties(numbers, groups)
    for number in np.unique(of_row).tolist():
        is_own = of_row == number
        ends = dict.fromkeys(
            f"{end:.{by.decimals}f}" for end in (numbers[is_own].min(), numbers[is_own].max())
        )
        key, shown = (
            f"{quantile_name(by, groups)}-{number}",
            f"{GROUP_NAMES[groups]} {number} ({title} {'–'.join(ends)})",
        )
        yield _part_of(
            whole,
            key,
            shown,
            rows[is_own],
            tie_notes(fifths, number, title) if fifths is not None else (),
        )


def _with_ties(numbers: NDArray[np.float64], groups: int) -> NDArray[np.int64]:
    """Return the group of each number, from 1, equal numbers in that of their mean rank: groups
    differ in size, and one can be empty.
    """
    share = (average_ranks(numbers) - 0.5) / len(numbers)
    return (share * groups).astype(np.int64) + 1
