"""Where the difference between two models sits."""

import numpy as np
import polars as pl
import pytest

from embedlab.comparison.uneven import FEWEST, KindDifference, item_kinds, where_they_differ
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, join_outcomes
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import (
    MODELS,
    NEGATED,
    QUESTIONS,
    holds,
    lead,
    made_pairs,
    with_facts,
)


def kinds_of(outcomes: Outcomes, by: str) -> dict[str, KindDifference]:
    """What is found of the kinds of one property alone, by their values."""
    kinds = [kind for kind in item_kinds(outcomes) if kind.by == by]
    return {one.value: one for one in where_they_differ(outcomes, MODELS, kinds)}


def test_a_contrast_is_the_lead_on_some_items_minus_the_lead_on_the_others() -> None:
    outcomes = made_pairs(300, 1, damage=QUESTIONS)
    one = kinds_of(outcomes, "question")["one"]
    is_question = holds(outcomes, QUESTIONS)
    own, others = lead(outcomes, is_question), lead(outcomes, ~is_question)
    assert one.items == is_question.sum()
    assert one.slice.differences["second"].delta == pytest.approx(own)
    assert one.contrast.delta == pytest.approx(own - others)
    assert one.contrast.low < one.contrast.delta < one.contrast.high


def test_what_a_model_was_damaged_on_comes_first_and_is_clear() -> None:
    outcomes = made_pairs(600, 2, damage=NEGATED)
    found = where_they_differ(outcomes, MODELS, item_kinds(outcomes))
    first = found[0]
    assert (first.by, first.contrast.significant) == ("negation", True)
    assert (first.contrast.delta < 0) == (first.value == "one")
    assert sorted(found, key=lambda one: one.contrast.p) == found


def test_several_datasets_count_by_their_mean_where_they_have_enough_of_both_kinds() -> None:
    one, few = made_pairs(200, 3), made_pairs(FEWEST + 5, 4, dataset="other")
    other = made_pairs(300, 5, dataset="other")
    parts = (join_outcomes([one, few]), join_outcomes([one, other]), one, other)
    alone, both, first, second = (kinds_of(part, "question")["one"] for part in parts)
    assert [*alone.datasets.values()] == ["made"]  # the other has fewer than FEWEST questions
    assert [*both.datasets.values()] == ["made", "other"]
    mean = (first.contrast.delta + second.contrast.delta) / 2
    assert both.contrast.delta == pytest.approx(mean)


def test_a_selection_is_looked_at_alone_and_fifths_stay_those_of_the_whole_dataset() -> None:
    outcomes = made_pairs(400, 6)
    chosen = select_items(outcomes, "question:one", {})
    kinds, whole = (
        {(kind.by, kind.value): kind for kind in item_kinds(outcomes, own)}
        for own in (chosen, None)
    )
    assert ("question", "one") not in kinds  # there is nothing beside it
    for name, kind in kinds.items():
        for own, of_whole in (
            (kind.rows, whole[name].rows),
            (np.flatnonzero(kind.others), np.flatnonzero(whole[name].others)),
        ):
            assert {*own} == {*of_whole} & {*np.flatnonzero(chosen.is_selected)}


def test_tasks_with_different_measures_are_refused(pairs_and_classes: Outcomes) -> None:
    with pytest.raises(
        UsageError, match="measured differently: made has spearman, mrpc has accuracy"
    ):
        where_they_differ(pairs_and_classes, MODELS, [])


def with_sources(sizes: dict[str, int]) -> Outcomes:
    names = [name for name, size in sizes.items() for _ in range(size)]
    outcomes = made_pairs(len(names), 7)
    return with_facts(outcomes, source=pl.Series(names))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"a": 40, "b": 60}, {"a": (40, 60)}),
        ({"a": 60, "b": 40}, {"b": (40, 60)}),
        ({"a": 40, "b": 60, "c": 30}, {"a": (40, 90), "b": (60, 70), "c": (30, 100)}),
        ({"a": 40, "b": 60, "c": 1}, {"a": (40, 61), "b": (60, 41)}),  # c is in what they are not
        ({"a": 300, "b": 120, "c": 1}, {"b": (120, 301)}),  # as of SICK-R's negations
        ({"a": 20, "b": 30}, {"a": (20, 30)}),
        ({"a": 19, "b": 30}, {}),
    ],
)
def test_of_kinds_of_twenty_items_and_twenty_others_the_rarer_is_given_where_it_is_all_that_the_other_is_not(
    sizes: dict[str, int], expected: dict[str, tuple[int, int]]
) -> None:
    kinds = [kind for kind in item_kinds(with_sources(sizes)) if kind.by == "source"]
    assert {kind.value: (len(kind.rows), kind.others.sum()) for kind in kinds} == expected


def test_a_kind_on_which_a_model_has_no_score_is_left_out() -> None:
    outcomes = with_sources({"a": 40, "b": 60, "c": 50})
    gold = pl.when(pl.col("source") == "a").then(2.0).otherwise("gold")
    assert kinds_of(with_facts(outcomes, gold=gold), "source").keys() == {"b", "c"}


@pytest.mark.parametrize(
    ("by", "shown", "decimals"), [("dice", "word overlap", 2), ("words", "length in words", 0)]
)
def test_a_fifth_of_one_dataset_says_its_bounds_and_of_several_its_number_alone(
    by: str, shown: str, decimals: int
) -> None:
    one, other = made_pairs(200, 8), made_pairs(200, 9, dataset="other")
    alone, joined = (
        next(kind for kind in item_kinds(own) if (kind.by, kind.value) == (by, "fifth 1"))
        for own in (one, join_outcomes([one, other]))
    )
    values = property_named(by).values(one).to_numpy()[alone.rows]
    assert alone.title == f"{shown} {values.min():.{decimals}f}–{values.max():.{decimals}f}"
    assert joined.title == f"{shown} (fifth 1)"
