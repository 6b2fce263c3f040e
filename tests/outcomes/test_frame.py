"""The frame of outcomes: what each row has, of one task and of several joined."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from embedlab.outcomes.frame import ROWS, Block, Outcomes, joined_outcomes, text_numbers
from embedlab.outcomes.property import property_named
from embedlab.runs.outcomes import CONTRADICTED


def test_what_is_computed_of_items_is_remembered_with_them_and_neither_given_nor_shown(
    pairs: Outcomes,
) -> None:
    values = property_named("negation").values(pairs)
    assert property_named("negation").values(pairs) is values
    assert list(pairs.computed) == ["negation"]
    assert "computed" not in repr(pairs)
    again = replace(pairs, blocks=pairs.blocks)
    assert again.computed == {}  # a change of the items starts anew
    parts: dict[str, Any] = {
        "rows": pairs.rows,
        "predictions": pairs.predictions,
        "blocks": pairs.blocks,
    }
    with pytest.raises(TypeError, match="computed"):
        Outcomes(**parts, sentences=pairs.sentences, computed={})  # type: ignore[call-arg]


def test_each_fact_of_an_item_is_a_column(both: Outcomes) -> None:
    assert both.column("dataset").to_list() == ["made"] * 6 + ["mood"] * 4
    assert both.column("dataset").name == "dataset"
    assert both.column("label").to_list() == [None] * 6 + ["good", "bad", "bad", "good"]
    assert both.column("gold").to_list() == [
        1,
        2,
        5,
        4,
        0,
        3,
        None,
        None,
        None,
        None,
    ]  # the index of a class is not a score
    assert both.column("trained").to_list() == [None, "†near", None, None, "‡near", *[None] * 5]
    assert both.column("sentence1").to_list()[5:7] == ["she reads", "good"]
    assert both.column("sentence2").to_list()[5:7] == ["she reads a very long book", None]
    assert both.column("source").to_list()[:3] == ["animals", "animals", "people"]
    assert both.column("item").to_list() == [*range(6), *range(4)]


def test_the_number_of_a_query_is_not_a_gold_score(pairs: Outcomes) -> None:
    queries = replace(pairs, blocks=(replace(pairs.blocks[0], measures=("mrr", "spearman")),))
    assert queries.column("gold").to_list() == [None] * 6
    assert (
        replace(pairs, blocks=(replace(pairs.blocks[0], measures=("spearman", "mrr")),))
        .column("gold")
        .to_list()[2]
        == 5
    )


def test_predicted_classes_are_not_numbers_to_compare(both: Outcomes) -> None:
    assert both.without_classes(both.predictions["near"]).to_list() == [
        0.1,
        0.4,
        0.9,
        0.8,
        0.2,
        0.6,
        None,
        None,
        None,
        None,
    ]


def test_joined_items_have_the_facts_of_each_task_in_its_rows(
    pairs: Outcomes, items: Outcomes
) -> None:
    parts = [pairs, items, pairs]
    parts[1] = replace(
        parts[1], averages={"transfer": {"all": ("mood",)}}, mixed_metrics={"transfer": "accuracy"}
    )
    found = joined_outcomes(parts)
    assert found.rows.schema == pl.Schema(ROWS)
    assert found.rows["block"].to_list() == [0] * 6 + [1] * 4 + [2] * 6
    assert found.blocks == (*pairs.blocks, *items.blocks, *pairs.blocks)
    assert [found.rows_of(place).tolist() for place in range(3)] == [
        [*range(6)],
        [*range(6, 10)],
        [*range(10, 16)],
    ]
    assert found.predictions["near"].to_list()[6:10] == [1, 0, 1, 1]
    assert found.predictions["far"].to_list() == [
        *pairs.predictions["far"],
        *[None] * 4,
        *pairs.predictions["far"],
    ]
    assert found.sentences.equals(pl.concat([pairs.sentences, items.sentences, pairs.sentences]))
    assert found.text_keys.equals(pl.concat([one.text_keys for one in (pairs, items, pairs)]))
    assert found.trained_models.to_list() == [
        *pairs.trained_models,
        *[None] * 4,
        *pairs.trained_models,
    ]
    assert found.averages == {"sts": {"mean of all": ("made",)}, "transfer": {"all": ("mood",)}}
    assert found.mixed_metrics == {"transfer": "accuracy"}


def test_pairs_beside_contrasts_have_no_third_sentence(pairs: Outcomes, items: Outcomes) -> None:
    contrasts = replace(
        pairs, sentences=pairs.sentences.with_columns(pl.lit("third").alias(CONTRADICTED))
    )
    found = joined_outcomes([contrasts, items])
    assert found.column(CONTRADICTED).to_list() == ["third"] * 6 + [None] * 4
    assert found.column("sentence1").to_list() == [
        *pairs.column("sentence1"),
        *items.column("sentence1"),
    ]
    assert items.column(CONTRADICTED).to_list() == [None] * 4


def test_rows_of_unknown_text_have_numbers_of_their_own(pairs: Outcomes) -> None:
    assert text_numbers(pairs).tolist() == [[2 * row, 2 * row + 1] for row in range(6)]
    known = pl.int_range(pl.len()) < 2
    columns = {
        name: pl.when(known).then(100 + pl.col(name)).cast(pl.UInt64)
        for name in ("first_text", "second_text")
    }
    holes = text_numbers(replace(pairs, rows=pairs.rows.with_columns(**columns)))
    assert holes.tolist() == [[100, 101], [102, 103], *([row, row] for row in range(2, 6))]
    assert holes.dtype == np.uint64


def test_a_block_is_the_same_whatever_finds_its_similar_sentences() -> None:
    block = Block(task="sts", suite="sts", dataset="made", measures=("spearman",))
    assert replace(block, near=lambda: pytest.fail("looked for")) == block
