"""A pair table as outcomes: its rows, and the hashes of its sentences."""

from pathlib import Path

import polars as pl
import pytest

from embedlab.data.overlaps import with_text_keys
from embedlab.outcomes import pairs as tested
from embedlab.outcomes.frame import ROWS
from embedlab.outcomes.pairs import KEYS, measured_by, near_pairs_of, pair_outcomes
from embedlab.outcomes.property import property_named
from tests.pair_tables import add_model, make_part, table

__all__ = ["add_model", "make_part", "table"]


def test_each_pair_is_a_row_with_its_dataset_and_equal_sentences_have_equal_numbers(
    table: pl.DataFrame,
) -> None:
    twice = table.with_columns(
        sentence2=pl.when(pl.col("pair") == 3).then("sentence1").otherwise("sentence2")
    )
    found = pair_outcomes(twice, [], task="sts", averages={})
    assert [block.dataset for block in found.blocks] == ["sts12", "mine"]
    assert [found.blocks[place].dataset for place in found.rows["block"]] == twice[
        "dataset"
    ].to_list()
    same = found.rows["first_text"] == found.rows["second_text"]
    assert same.to_list() == (twice["sentence1"] == twice["sentence2"]).to_list()
    assert same.sum() == 2


def test_hashes_that_are_known_are_used_and_otherwise_made_of_the_text(table: pl.DataFrame) -> None:
    known = table.select(text_key0=pl.int_range(pl.len()), text_key1=pl.int_range(pl.len()) + 1000)
    assert pair_outcomes(table, [], task="sts", averages={}, keys=lambda: known).text_keys.equals(
        known
    )
    made = pair_outcomes(table, [], task="sts", averages={}).text_keys
    assert made.equals(with_text_keys(table).select(*KEYS))


def test_a_dataset_of_pairs_is_correlated_and_the_scores_of_its_sources_can_be_put_together(
    table: pl.DataFrame,
) -> None:
    found = pair_outcomes(table, ["dice"], task="own", averages={"both": ("sts12", "mine")})
    for block in found.blocks:
        assert (block.task, block.suite, block.measures, block.classes) == (
            "own",
            "own",
            ("spearman",),
            (),
        )
        assert block.is_of_pairs
        assert block.is_aggregated
    assert found.averages == {"own": {"both": ("sts12", "mine")}}
    assert found.predictions["dice"].equals(table["dice"])


def test_rows_have_the_types_that_every_frame_of_outcomes_has_and_datasets_the_order_of_the_table(
    table: pl.DataFrame,
) -> None:
    many = pl.concat(
        [table.with_columns(dataset=pl.lit(f"d{7 * number % 11}")) for number in range(11)]
    )
    found = pair_outcomes(many, [], task="sts", averages={})
    assert dict(found.rows.schema) == dict(ROWS)
    assert [block.dataset for block in found.blocks] == [
        f"d{7 * number % 11}" for number in range(11)
    ]
    assert [found.blocks[place].dataset for place in found.rows["block"]] == many[
        "dataset"
    ].to_list()


def test_the_dice_of_the_table_is_that_of_its_pairs(table: pl.DataFrame) -> None:
    other = table.with_columns(dice=pl.int_range(pl.len()).cast(pl.Float64))
    assert property_named("dice").values(
        pair_outcomes(other, [], task="sts", averages={})
    ).to_list() == [*range(len(other))]


def test_another_measure_changes_the_measure_alone(table: pl.DataFrame) -> None:
    before = pair_outcomes(table, ["dice"], task="sts", averages={})
    found = measured_by(before, "pearson")
    assert [block.measures for block in before.blocks] == [("spearman",)] * 2
    assert [block.measures for block in found.blocks] == [("pearson",)] * 2
    assert [(block.dataset, block.is_of_pairs) for block in found.blocks] == [
        (block.dataset, True) for block in before.blocks
    ]
    assert found.computed == before.computed
    assert found.computed is not before.computed


@pytest.mark.parametrize("is_stored", [False, True])
def test_sentences_that_are_nearly_the_same_are_those_of_one_dataset(
    table: pl.DataFrame, is_stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Path] = []
    monkeypatch.setattr(
        tested,
        "stored_links",
        lambda sentences, cache: [calls.append(cache), tested.links_of(sentences)][1],
    )
    cache = tmp_path if is_stored else None
    (block,) = (
        block
        for block in pair_outcomes(table, [], task="sts", averages={}, cache=cache).blocks
        if block.dataset == "sts12"
    )
    own = table.filter(dataset="sts12")
    assert block.near is not None
    found, alone = block.near(), near_pairs_of(own, "sts12")
    assert calls == [tmp_path] * is_stored
    for name, value in vars(found).items():
        assert repr(value) == repr(getattr(alone, name))
