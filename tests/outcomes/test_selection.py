"""Expressions over the items of any task."""

from dataclasses import replace

import polars as pl
import pytest

from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, is_expression
from embedlab.outcomes.selection import select_items

MODELS = {"near": ("near",), "mean": ("near", "far")}


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("negation:one", [0, 4, 7]),
        ("negation:one dataset:made", [0, 4]),
        ("label:good", [6, 9]),
        ("words>=6", [3, 5]),
        ("dice>0.9", [2]),
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
    assert found.holds.nonzero()[0].tolist() == rows
    assert not found.is_by_results


def slow_rank(values: list[float | None], own: float) -> float:
    known = [value for value in values if value is not None]
    return (
        100
        * (sum(value < own for value in known) + sum(value == own for value in known) / 2)
        / len(known)
    )


def test_an_expression_reads_rank_errors_and_the_gap_between_models(
    pairs: Outcomes, both: Outcomes
) -> None:
    gold, near, far = (
        [*pairs.rows["gold"]],
        [*pairs.predictions["near"]],
        [*pairs.predictions["far"]],
    )
    rows = range(len(gold))
    errors = [slow_rank(near, near[row]) - slow_rank(gold, gold[row]) for row in rows]
    gaps = [
        abs(slow_rank(near, near[row]) - slow_rank(far, far[row])) if far[row] is not None else 0
        for row in rows
    ]
    models = {"near": ("near",), "far": ("far",)}
    for expression, values, limit in (("error(near)>0", errors, 0), ("gap>50", gaps, 50)):
        expected = [row for row in rows if values[row] > limit]
        assert 0 < len(expected) < len(gold)
        found = select_items(both, expression, models)
        assert found.holds.nonzero()[0].tolist() == expected
        assert found.is_by_results
        assert found.lacking == ("mood",)  # a class has no rank error


def test_a_note_on_a_pair_is_read_as_a_result(both: Outcomes) -> None:
    PairNotes.load().change("a man sings", "a man sings", "typo in gold")
    for expression, rows in (("note:*typo*", [2]), ("-note:* gold>=4", [3])):
        found = select_items(both, expression, MODELS)
        assert found.holds.nonzero()[0].tolist() == rows
        assert found.is_by_results


def test_the_number_of_a_pair_is_read_without_results(pairs: Outcomes) -> None:
    found = select_items(pairs, "pair<2", MODELS)
    assert found.holds.nonzero()[0].tolist() == [0, 1]
    assert not found.is_by_results
    assert select_items(
        pairs, "pair=1 or pair=3", MODELS
    ).is_by_results  # who names single pairs saw them


def test_datasets_without_what_an_expression_reads_are_named(
    both: Outcomes, items: Outcomes
) -> None:
    assert select_items(both, "dice>0.2", MODELS).lacking == ("mood",)
    with pytest.raises(UsageError, match="no item of mood has the property 'dice'"):
        select_items(items, "dice>0.2", MODELS)


def test_a_class_is_not_a_number_to_compare(both: Outcomes) -> None:
    for expression in ("gold>0", "near>0.5"):
        found = select_items(both, expression, MODELS)
        assert not found.holds[6:].any()
        assert found.lacking == ("mood",)


def test_a_model_called_like_a_fact_is_not_read(pairs: Outcomes) -> None:
    assert not select_items(pairs, "gold>2", {"gold": ("near",)}).is_by_results


def test_an_unknown_field_and_an_empty_selection_are_refused(pairs: Outcomes) -> None:
    with pytest.raises(UsageError, match="unknown field 'dize'"):
        select_items(pairs, "dize>0.2", MODELS)
    with pytest.raises(UsageError, match="no item matches 'dice>1'"):
        select_items(pairs, "dice>1", MODELS)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("dice", False),
        ("my-own_1", False),
        ("words:3,negation", False),
        ("tag:negation", True),
        ("dice>0.5", True),
        ("@mine", True),
        ("a word", True),
        ("label:good", True),
        (" ", False),
    ],
)
def test_what_is_more_than_a_name_is_an_expression(by: str, expected: bool) -> None:
    assert is_expression(by) is expected


def test_the_score_of_a_model_is_the_mean_of_its_members(pairs: Outcomes) -> None:
    for limit, rows in (("0.55", [1, 2]), ("0.65", [2])):  # means: .5 .6 .7 .45 none .45
        assert select_items(pairs, f"mean>{limit}", MODELS).holds.nonzero()[0].tolist() == rows
    assert select_items(pairs, "near>0.7", MODELS).holds.nonzero()[0].tolist() == [2, 3]


def test_a_prediction_that_is_not_a_number_is_none(pairs: Outcomes) -> None:

    holes = replace(
        pairs,
        predictions=pairs.predictions.with_columns(
            near=pl.Series([0.1, float("nan"), 0.9, 0.8, 0.2, 0.6])
        ),
    )
    assert select_items(holes, "near>0.3", MODELS).holds.nonzero()[0].tolist() == [2, 3, 5]
    assert select_items(holes, "mean>0", MODELS).holds.nonzero()[0].tolist() == [0, 2, 3, 5]


def test_facts_and_results_together_are_a_selection_by_results(pairs: Outcomes) -> None:
    for expression in ("near>0.5 dice>0.1", "dice>0.1 near>0.5"):
        assert select_items(pairs, expression, MODELS).is_by_results


@pytest.mark.parametrize("name", ["gold", "dataset"])
def test_a_model_called_like_a_column_of_items_is_not_ranked(name: str, pairs: Outcomes) -> None:
    assert select_items(pairs, "gap>0", MODELS).holds.any()
    with pytest.raises(UsageError, match="no item matches 'gap>0'"):
        select_items(pairs, "gap>0", {"near": ("near",), name: ("far",)})
