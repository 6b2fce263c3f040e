"""The frame of outcomes: what each row has, of one task, of several joined, and of files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.data.overlaps import with_text_keys
from embedlab.outcomes.frame import KEYS, ROWS, Block, Outcomes, join_outcomes, text_numbers
from embedlab.outcomes.property import property_named
from embedlab.outcomes.stored import open_outcomes
from embedlab.runs.outcomes import CONTRADICTED, items_frame
from tests.stored_scores import outcomes


def test_what_is_computed_of_items_is_remembered_with_them(pairs: Outcomes) -> None:
    values = property_named("negation").values(pairs)
    assert property_named("negation").values(pairs) is values
    assert "computed" not in repr(pairs)
    assert replace(pairs, blocks=pairs.blocks).computed == {}  # a change of the items starts anew


def test_the_number_of_a_query_is_not_a_gold_score(pairs: Outcomes) -> None:
    for measures, is_score in ((("mrr", "spearman"), False), (("spearman", "mrr"), True)):
        found = replace(pairs, blocks=(replace(pairs.blocks[0], measures=measures),))
        assert found.column("gold").is_not_null().all() == is_score


def test_seeds_that_predict_two_classes_predict_no_third(pairs: Outcomes, items: Outcomes) -> None:
    both = pl.DataFrame({"a": [0.0, 1.0, None, 2.0], "b": [2.0, 1.0, 1.0, None]})
    classes = replace(items, predictions=both).mean_prediction(["a", "b"])
    assert np.isnan(classes[0])
    assert classes[1:].to_list() == [1.0, None, None]
    scores = pl.DataFrame({"a": [0.0] * 6, "b": [1.0] * 6})
    assert replace(pairs, predictions=scores).mean_prediction(["a", "b"]).to_list() == [0.5] * 6


def test_joined_items_have_the_facts_of_each_task_in_its_rows(
    pairs: Outcomes, items: Outcomes
) -> None:
    third = pairs.sentences.with_columns(pl.lit("third").alias(CONTRADICTED))
    contrasts, averages = replace(pairs, sentences=third), {"transfer": {"all": ("mood",)}}
    named = replace(items, averages=averages, mixed_metrics={"transfer": "accuracy"})
    parts = (contrasts, named, pairs)
    found = join_outcomes(parts)
    assert found.rows.schema == pl.Schema(ROWS)
    assert found.blocks == (*pairs.blocks, *items.blocks, *pairs.blocks)
    for place, (part, start) in enumerate(zip(parts, (0, 6, 10), strict=True)):
        own = found.rows_of(place)
        assert own.tolist() == [*range(start, start + part.rows.height)]
        for name in ("sentence1", "sentence2", "trained", "label", "gold", CONTRADICTED):
            assert found.column(name)[own].to_list() == part.column(name).to_list()
        keys = part.text_keys
        assert found.text_keys[own].select(keys.columns).equals(keys)
        assert found.predictions["near"][own].to_list() == part.predictions["near"].to_list()
    assert found.predictions["far"][6:10].null_count() == 4
    assert found.averages == {**pairs.averages, **averages}
    assert found.mixed_metrics == {"transfer": "accuracy"}


def test_each_of_two_sentences_has_its_own_key(pairs: Outcomes) -> None:
    expected = with_text_keys(pairs.sentences.select("sentence1", "sentence2")).select(KEYS)
    assert pairs.text_keys.equals(expected)
    has_text = pl.int_range(pl.len()) > 0
    holes = pairs.sentences.with_columns(pl.when(has_text).then(pl.col("sentence1")).name.keep())
    keys = replace(pairs, sentences=holes).text_keys
    assert keys[1:].equals(expected[1:])
    assert keys[0].null_count().row(0) == (1, 1)


def test_rows_of_unknown_text_have_numbers_of_their_own(pairs: Outcomes) -> None:
    assert text_numbers(pairs).tolist() == [[2 * row, 2 * row + 1] for row in range(6)]
    known = pl.when(pl.int_range(pl.len()) < 2).then(pl.col("first_text", "second_text") + 100)
    holes = text_numbers(replace(pairs, rows=pairs.rows.with_columns(known)))
    assert holes.tolist() == [[100, 101], [102, 103], *([row, row] for row in range(2, 6))]
    assert holes.dtype == np.uint64


def test_a_block_is_the_same_whatever_finds_its_similar_sentences() -> None:
    block = Block(task="sts", suite="sts", dataset="made", measures=("spearman",))
    assert replace(block, near=lambda: pytest.fail("looked for")) == block


def test_the_files_that_are_read_are_those_of_the_tasks_and_datasets_that_are_named(
    tmp_path: Path,
) -> None:
    stored = [("sts", "sts12"), ("sts", "sts13"), ("transfer", "cr")]
    for task, dataset in stored:
        outcomes(dataset, items_frame([0, 1], [1, 2], [3, 4]), task=task).save(tmp_path)
    asked: list[tuple[list[str], list[str], list[tuple[str, str]]]] = [
        ([], [], stored),
        (["sts"], [], stored[:2]),
        ([], ["sts13", "cr"], stored[1:]),
        (["sts"], ["sts13", "cr"], stored[1:2]),
        (["nli"], [], []),
    ]
    for tasks, datasets, expected in asked:
        found = open_outcomes({"m": tmp_path}, tasks, datasets)
        blocks = found.blocks if found is not None else ()
        assert [(block.task, block.dataset) for block in blocks] == expected
    shown = open_outcomes({"m": tmp_path}, [], is_shown=lambda facts: facts.dataset == "cr")
    assert [block.dataset for block in shown.blocks] == ["cr"]


def test_members_have_the_items_that_all_of_them_read_by_the_classes_of_the_first(
    tmp_path: Path,
) -> None:
    scored = {
        "m": items_frame([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3]),
        "n": items_frame([1, 2, 3], [2, 3, 4], [0.5, 0.6, 0.7]),
        "of other gold": items_frame([1, 2], [2, 9], [0.8, 0.9]),
    }
    for member, items in scored.items():
        outcomes("sts12", items, task="sts").save(tmp_path / member)
    for member, classes, gold in (("m", ("a", "b"), [0, 1]), ("n", ("b", "a", "c"), [1, 0])):
        texts = pl.DataFrame({"sentence": ["good", "bad"]})
        items = items_frame([0, 1], gold, [1, len(classes) - 1], texts)
        outcomes("cr", items, task="transfer", classes=classes).save(tmp_path / member)
    found = open_outcomes({member: tmp_path / member for member in scored}, [])
    assert found.rows.select("block", "item").rows() == [(0, 1), (0, 2), (1, 0), (1, 1)]
    assert [block.left_out for block in found.blocks] == [2, 0]
    assert [block.near is None for block in found.blocks] == [True, False]  # of unknown texts
    assert found.sentences["sentence1"].to_list() == [None, None, "good", "bad"]
    assert found.predictions.to_dict(as_series=False) == {
        "m": [0.2, 0.3, 1, 1],
        "n": [0.5, 0.6, 0, 2],
        "of other gold": [None] * 4,
    }
