"""The slices of a pair table: by dataset, source and fifth of word overlap."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import polars as pl
import pytest

from benchmarks.pair_frames import pair_outcomes, pair_table
from embedlab.comparison.evidence import slices_of
from embedlab.data.dataset import Part
from embedlab.outcomes.frame import ItemSlice


def slices(table: pl.DataFrame, by: str, common: Sequence[str] = ()) -> list[ItemSlice]:
    return slices_of(
        pair_outcomes(table, common, task="sts", averages={}), common, by=by, common=bool(common)
    )


def test_every_pair_is_in_one_slice(table: pl.DataFrame) -> None:
    for by in ("dataset", "source", "dice"):
        parts = slices(table, by)
        assert sorted(row for part in parts for row in part.rows) == list(range(table.height))
        assert len({part.key for part in parts}) == len(parts)


def test_slices_are_named_by_dataset_source_and_fifth(table: pl.DataFrame) -> None:
    assert [part.key for part in slices(table, "dataset")] == ["sts12", "mine"]
    by_source = slices(table, "source")
    assert [(part.key, part.title) for part in by_source] == [
        ("sts12/MSRpar", "sts12 MSRpar"),
        ("sts12/OnWN", "sts12 OnWN"),
        ("mine", "mine"),
    ]
    assert by_source[2].notes == ("it names no source",)
    by_dice = slices(table, "dice")
    assert [part.key for part in by_dice] == [
        f"{name}/fifth-{number}" for name in ("sts12", "mine") for number in range(1, 6)
    ]
    dice = table["dice"].to_numpy()
    assert all(dice[low.rows].max() <= dice[high.rows].min() for low, high in pairwise(by_dice[:5]))
    assert any("tie at word overlap" in note for part in by_dice for note in part.notes)


def test_fifths_are_cut_within_each_split_that_is_scored_by_itself(
    make_part: Callable[..., Part],
) -> None:
    parts = [
        make_part("sts-benchmark", {None: 7}, split=split, seed=seed)
        for seed, split in enumerate(["test", "dev", "train"])
    ]
    table = pair_table(parts)
    assert [part.key for part in slices(table, "dice")][::5] == [
        f"{name}/fifth-1" for name in table["dataset"].unique(maintain_order=True)
    ]


def test_common_pairs_are_left_of_slices_that_were_cut_before(table: pl.DataFrame) -> None:
    is_low = pl.col("dice") < pl.col("dice").median()
    holes = table.with_columns(
        low=pl.when(is_low).then("gold"), other=pl.when(pl.col("dataset") == "mine").then("gold")
    )
    for whole, part in zip(
        slices(holes, "dice"), slices(holes, "dice", common=["low", "other"]), strict=True
    ):
        there = (
            ["low", "other"] if whole.key.startswith("mine") else ["low"]
        )  # other scores no pair of sts12
        remaining = holes[whole.rows].drop_nulls(there)
        assert part.key == whole.key
        assert holes[part.rows].equals(remaining)
        lost = remaining.height < len(whole.rows)
        assert part.title == (
            f"{whole.title}, {remaining.height} of {len(whole.rows)}" if lost else whole.title
        )


@pytest.mark.parametrize("by", ["dataset", "source", "dice"])
def test_an_empty_table_has_no_slices(by: str, table: pl.DataFrame) -> None:
    assert slices(table.head(0), by) == []
