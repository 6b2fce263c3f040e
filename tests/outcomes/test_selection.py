"""Expressions over the items of any task."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import percentileofscore

from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, is_expression
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import select_items

MODELS = {"near": ("near",), "mean": ("near", "far")}


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("negation:one", [0, 4, 7]),
        ("negation:one dataset:made", [0, 4]),
        ("label:good", [6, 9]),
        ("words>=6", [3, 5]),
        ("pair<2 dataset:made", [0, 1]),
        ("trained:*near", [1, 4]),
        ("source:people -dice>0.9 gold>2", [3, 5]),
        ("sings or cats", [1, 2]),
        ("-question:none -question:both", [8]),
    ],
)
def test_an_expression_picks_items_by_facts_of_any_task(
    expression: str, rows: list[int], both: Outcomes
) -> None:
    found = select_items(both, expression, MODELS)
    assert found.is_selected.nonzero()[0].tolist() == rows
    assert not found.is_by_results


def ranks(values: pl.Series) -> np.ndarray:
    """Points of percentile rank; nan where there is no value."""
    known = values.drop_nulls()
    found = [None if own is None else percentileofscore(known, own, "mean") for own in values]
    return np.array(found, dtype=float)


def test_an_expression_reads_rank_errors_and_the_gap_between_models(
    pairs: Outcomes, both: Outcomes
) -> None:
    gold, near, far = (
        ranks(column) for column in (pairs.rows["gold"], *pairs.predictions.select("near", "far"))
    )
    models = {"near": ("near",), "far": ("far",)}
    for expression, holds in (("error(near)>0", near > gold), ("gap>50", abs(near - far) > 50)):
        found = select_items(both, expression, models)
        assert found.is_selected.nonzero()[0].tolist() == holds.nonzero()[0].tolist()
        assert 0 < holds.sum() < 6
        assert found.is_by_results
        assert found.datasets_without == ("mood",)  # a class has no rank error


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("note:*typo*", [2]),
        ("-note:* gold>=4", [3]),
        ("near>0.7", [2, 3]),
        ("mean>0.55", [1, 2]),  # the means of both members: .5 .6 .7 .45 none .45
        ("near>0.5 dice>0.9", [2]),
        ("dice>0.9 near>0.5", [2]),
        ("pair=1 or pair=3 dataset:made", [1, 3]),  # who names single pairs saw them
        ('"pair"=1 or "pair"=3 dataset:made', [1, 3]),
    ],
)
def test_an_expression_that_reads_results_says_so(
    expression: str, rows: list[int], both: Outcomes
) -> None:
    PairNotes.load().change("a man sings", "a man sings", "typo in gold")
    found = select_items(both, expression, MODELS)
    assert [row for row in found.is_selected.nonzero()[0] if row < 6] == rows
    assert found.is_by_results


def test_datasets_without_what_an_expression_reads_are_named(
    both: Outcomes, items: Outcomes
) -> None:
    for expression in ("dice>0.2", "gold>0", "near>0.5"):  # a class is not a number to compare
        found = select_items(both, expression, MODELS)
        assert found.datasets_without == ("mood",)
        assert not found.is_selected[6:].any()
    with pytest.raises(UsageError, match="no item of mood has the property 'dice'"):
        select_items(items, "dice>0.2", MODELS)


def test_an_unknown_field_and_an_empty_selection_are_refused(
    pairs: Outcomes, both: Outcomes
) -> None:
    with pytest.raises(UsageError, match="unknown field 'dize'"):
        select_items(pairs, "dize>0.2", MODELS)
    with pytest.raises(UsageError, match="no item matches 'dice>1'"):
        select_items(pairs, "dice>1", MODELS)
    with pytest.raises(UsageError, match="no item matches 'negation:onee'") as caught:
        select_items(pairs, "negation:onee", MODELS)
    assert caught.value.hint.startswith("values of negation: none")
    with pytest.raises(UsageError) as caught:
        select_items(both, "source:film", MODELS)  # sentences of mood have no source
    assert caught.value.hint.startswith("values of source: animals, people;")


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("my-own_1", False),
        ("words:3,negation", False),
        ("tag:negation", True),
        ("dice>0.5", True),
        ("@mine", True),
        ("a word", True),
        (" ", False),
    ],
)
def test_what_is_more_than_a_name_is_an_expression(by: str, expected: bool) -> None:
    assert is_expression(by) is expected


def test_a_prediction_that_is_not_a_number_is_none(pairs: Outcomes) -> None:
    near = pl.Series([0.1, float("nan"), 0.9, 0.8, 0.2, 0.6])
    holes = replace(pairs, predictions=pairs.predictions.with_columns(near=near))
    for expression, rows in (("near>0.3", [2, 3, 5]), ("mean>0", [0, 2, 3, 5])):
        assert select_items(holes, expression, MODELS).is_selected.nonzero()[0].tolist() == rows


def test_a_model_called_like_a_column_of_items_is_neither_read_nor_ranked(pairs: Outcomes) -> None:
    assert not select_items(pairs, "gold>2", {"gold": ("near",)}).is_by_results
    assert select_items(pairs, "gap>0", MODELS).is_selected.any()
    for name in ("gold", "dataset"):
        with pytest.raises(UsageError, match="no item matches 'gap>0'"):
            select_items(pairs, "gap>0", {"near": ("near",), name: ("far",)})


def test_a_property_that_is_the_score_of_a_compared_model_is_a_result(both: Outcomes) -> None:
    overlap = property_named("dice").values(both).fill_null(0)
    predictions = both.predictions.with_columns(overlap.alias("counted"), near=overlap * 2)
    outcomes = replace(both, predictions=predictions)
    models = {"near": ("near",), "any name": ("counted",)}
    assert select_items(outcomes, "dice>0.5", models).is_by_results
    assert not select_items(outcomes, "dice>0.5", {"near": ("near",)}).is_by_results
    assert not select_items(outcomes, "length<2", models).is_by_results
