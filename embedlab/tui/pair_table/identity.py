"""What identifies a row of the pair table: its block and its item in it, never its text, which
several rows may share.
"""

from collections.abc import Collection, Sequence

import polars as pl

from embedlab.core.schema import table

_COLUMNS = ("dataset", "item", "key")


@table
class RowIdentity:
    """A pair or item, also while its data are absent or other models are shown.

    key: of its text, as "pair_key" of the pair table: another version of the data may have another
    pair at the same place.
    """

    dataset: str  # with its split where that is not the scored one
    item: int  # the row in it, from 0
    key: int
    task: str = ""  # whose item it is; empty for the pairs of STS datasets


def identities(pairs: pl.DataFrame, task: str, rows: Sequence[int]) -> list[RowIdentity]:
    """Return what identifies ROWS of a pair table, whose rows are items of TASK, in their order."""
    facts = pairs[list(rows)].select("dataset", "pair", "pair_key").iter_rows()
    return [
        RowIdentity(dataset=dataset, item=item, key=key, task=task) for dataset, item, key in facts
    ]


def identified_rows(
    pairs: pl.DataFrame, task: str, wanted: Collection[RowIdentity]
) -> tuple[list[int], list[RowIdentity]]:
    """Return the rows of a pair table that are WANTED, and what of it the table lacks.

    A row that moved in its dataset is found by its text if one row alone has that; a copy in
    another dataset never is.
    """
    there = [identity for identity in wanted if identity.task == task]
    if not there:
        return [], list(wanted)
    rows = pairs.select(
        pl.int_range(pl.len()).alias("row"),
        "dataset",
        item=pl.col("pair").cast(pl.Int64),
        key="pair_key",
    )
    sought = pl.DataFrame(
        [(identity.dataset, identity.item, identity.key) for identity in there],
        schema={"dataset": pl.String, "item": pl.Int64, "key": pl.UInt64},
        orient="row",
    )
    same = sought.join(rows, on=_COLUMNS, how="left", maintain_order="left")["row"].to_list()
    moved = (
        rows.group_by("dataset", "key")
        .agg(row=pl.col("row").first(), copies=pl.len())
        .filter(pl.col("copies") == 1)
    )
    by_text = sought.join(moved, on=("dataset", "key"), how="left", maintain_order="left")[
        "row"
    ].to_list()
    found = [row if row is not None else other for row, other in zip(same, by_text, strict=True)]
    place = dict(zip(there, found, strict=True))
    return sorted({row for row in found if row is not None}), [
        identity for identity in wanted if place.get(identity) is None
    ]


def have_same_rows(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Return whether two pair tables of one task have the same pairs or items in the same rows."""
    columns = ("dataset", "pair", "pair_key")
    return first.select(columns).equals(second.select(columns))
