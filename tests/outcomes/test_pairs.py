"""A pair table as outcomes: its rows, and the hashes of its sentences."""

import polars as pl

from embedlab.data.overlaps import with_text_keys
from embedlab.outcomes.pairs import KEYS, pair_outcomes
from tests.pair_tables import add_model, make_part, table

__all__ = ["add_model", "make_part", "table"]


def test_each_pair_is_a_row_with_its_dataset_and_equal_sentences_have_equal_numbers(table: pl.DataFrame) -> None:
    twice = table.with_columns(sentence2=pl.when(pl.col("pair") == 3).then("sentence1").otherwise("sentence2"))
    found = pair_outcomes(twice, [], task="sts", averages={})
    assert [block.dataset for block in found.blocks] == ["sts12", "mine"]
    assert [found.blocks[place].dataset for place in found.rows["block"]] == twice["dataset"].to_list()
    same = found.rows["first_text"] == found.rows["second_text"]
    assert same.to_list() == (twice["sentence1"] == twice["sentence2"]).to_list()
    assert same.sum() == 2


def test_hashes_that_are_known_are_used_and_otherwise_made_of_the_text(table: pl.DataFrame) -> None:
    known = table.select(text_key0=pl.int_range(pl.len()), text_key1=pl.int_range(pl.len()) + 1000)
    assert pair_outcomes(table, [], task="sts", averages={}, keys=lambda: known).text_keys.equals(known)
    made = pair_outcomes(table, [], task="sts", averages={}).text_keys
    assert made.equals(with_text_keys(table).select(*KEYS))


def test_a_dataset_of_pairs_is_correlated_and_the_scores_of_its_sources_can_be_put_together(table: pl.DataFrame) -> None:
    found = pair_outcomes(table, ["dice"], task="own", averages={"both": ("sts12", "mine")})
    for block in found.blocks:
        assert (block.task, block.suite, block.measures, block.classes) == ("own", "own", ("spearman",), ())
        assert block.is_of_pairs
        assert block.is_aggregated
    assert found.averages == {"own": {"both": ("sts12", "mine")}}
    assert found.predictions["dice"].equals(table["dice"])
