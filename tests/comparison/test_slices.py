"""The slices of a pair table: by dataset, source and fifth of word overlap."""

from collections.abc import Sequence

import polars as pl

from benchmarks.pair_frames import pair_outcomes
from embedlab.comparison.evidence import slices_of
from embedlab.outcomes.frame import ItemSlice


def slices(table: pl.DataFrame, by: str, common: Sequence[str] = ()) -> list[ItemSlice]:
    return slices_of(
        pair_outcomes(table, common, task="sts", averages={}), common, by=by, common=bool(common)
    )


def test_common_pairs_are_left_of_slices_that_were_cut_before(table: pl.DataFrame) -> None:
    is_low, is_mine = pl.col("dice") < pl.col("dice").median(), pl.col("dataset") == "mine"
    holes = table.with_columns(
        low=pl.when(is_low).then("gold"), other=pl.when(is_mine).then("gold")
    )
    common = slices(holes, "dice", common=["low", "other"])
    for whole, part in zip(slices(holes, "dice"), common, strict=True):
        # The other one scores no pair of sts12.
        there = ["low", "other"] if whole.key.startswith("mine") else ["low"]
        left = holes[whole.rows].drop_nulls(there)
        assert part.key == whole.key
        assert holes[part.rows].equals(left)
        counted = f", {left.height} of {len(whole.rows)}" if left.height < len(whole.rows) else ""
        assert part.title == f"{whole.title}{counted}"
