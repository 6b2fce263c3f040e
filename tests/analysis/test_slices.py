from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.overlap import dice_column
from embedlab.analysis.scores import pair_table
from embedlab.analysis.slices import dice_fifths, joined_splits, slices
from embedlab.data.dataset import Part


def test_fifths_equal_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        expected = [0] * size
        for position, row in enumerate(sorted(range(size), key=lambda i: values[i])):
            sizes, start = [size // 5 + (part < size % 5) for part in range(5)], 0
            for part, rows in enumerate(sizes):
                if start <= position < start + rows:
                    expected[row] = part + 1
                start += rows
        found = dice_fifths(values)
        assert found.fifth.tolist() == expected
        assert found.sizes == tuple(expected.count(part) for part in range(1, 6))


def test_ties_count_the_pairs_at_a_cut_that_splits_equal_values() -> None:
    found = dice_fifths([0.1, 0.2, 0.3, 0.3, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert found.cuts == (0.3, 0.3, 0.7, 0.9)
    assert found.ties == (0, 3, 0, 0)


def test_every_pair_is_in_one_slice(table: pl.DataFrame) -> None:
    for by in ("dataset", "source", "dice"):
        parts = slices(table, by)
        assert sorted(pl.concat(part.pairs for part in parts)["pair_key"]) == sorted(table["pair_key"])
        assert len({part.key for part in parts}) == len(parts)


def test_slices_are_named_by_dataset_source_and_fifth(table: pl.DataFrame) -> None:
    assert [part.key for part in slices(table, "dataset")] == ["sts12", "mine"]
    by_source = slices(table, "source")
    assert [(part.key, part.title) for part in by_source] == [
        ("sts12/MSRpar", "sts12 MSRpar"),
        ("sts12/OnWN", "sts12 OnWN"),
        ("mine", "mine"),
    ]
    assert by_source[2].notes == ("its pairs name no source",)
    by_dice = slices(table, "dice")
    assert [part.key for part in by_dice] == [f"{name}/fifth-{number}" for name in ("sts12", "mine") for number in range(1, 6)]
    assert all(low.pairs["dice"].max() <= high.pairs["dice"].min() for low, high in pairwise(by_dice[:5]))
    assert any("tie at Dice" in note for part in by_dice for note in part.notes)


def test_joined_splits_are_cut_as_a_whole_in_their_order(make_part: Callable[..., Part]) -> None:
    parts = [make_part("sts-benchmark", {None: 7}, split=split, seed=seed) for seed, split in enumerate(["test", "dev", "train"])]
    joined = slices(joined_splits(pair_table(parts)), "dice")
    assert [part.pairs.height for part in joined] == [5, 4, 4, 4, 4]
    whole = pair_table([parts[2], parts[1], parts[0]])
    fifths = dice_fifths(whole["dice"]).fifth
    for number, part in enumerate(joined, start=1):
        assert part.key == f"sts-benchmark (all splits)/fifth-{number}"
        assert part.pairs["pair_key"].to_list() == whole.filter(fifths == number)["pair_key"].to_list()
    assert joined_splits(pair_table(parts[:2])).equals(pair_table(parts[:2]))


def test_fifths_are_cut_within_each_split_that_is_scored_by_itself(make_part: Callable[..., Part]) -> None:
    parts = [make_part("sts-benchmark", {None: 7}, split=split, seed=seed) for seed, split in enumerate(["test", "dev", "train"])]
    table = pair_table(parts)
    assert [part.key for part in slices(table, "dice")][::5] == [f"{name}/fifth-1" for name in table["dataset"].unique(maintain_order=True)]


def test_common_pairs_are_left_of_slices_that_were_cut_before(table: pl.DataFrame) -> None:
    is_low = pl.col("dice") < pl.col("dice").median()
    holes = table.with_columns(low=pl.when(is_low).then("gold"), other=pl.when(pl.col("dataset") == "mine").then("gold"))
    for whole, part in zip(slices(holes, "dice"), slices(holes, "dice", common=["low", "other"]), strict=True):
        there = ["low", "other"] if whole.key.startswith("mine") else ["low"]  # other scores no pair of sts12
        remaining = whole.pairs.drop_nulls(there)
        assert part.key == whole.key
        assert part.pairs.equals(remaining)
        lost = remaining.height < whole.pairs.height
        assert part.title == (f"{whole.title}, {remaining.height} of {whole.pairs.height}" if lost else whole.title)


def test_published_fifths_of_sts_benchmark(shared_data: Path) -> None:
    files = [shared_data / "STS/STSBenchmark" / f"sts-{split}.csv" for split in ("train", "dev", "test")]
    rows = [line.split("\t") for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found = dice_fifths(dice_column([row[5] for row in rows], [row[6] for row in rows]))
    assert found.sizes == (1726, 1726, 1726, 1725, 1725)
    assert found.ties == (186, 487, 259, 194)


@pytest.mark.parametrize("by", ["dataset", "source", "dice"])
def test_an_empty_table_has_no_slices(by: str, table: pl.DataFrame) -> None:
    assert slices(table.head(0), by) == []
