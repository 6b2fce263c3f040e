"""Where the difference between two models sits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.comparison.uneven import FEWEST, Uneven, item_kinds, where_they_differ
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import MODELS, made_pairs, negated, questions


def kinds_of(outcomes: Outcomes, by: str) -> dict[str, Uneven]:
    """What is found of the kinds of one property alone, by their values."""
    kinds = [kind for kind in item_kinds(outcomes) if kind.by == by]
    return {one.value: one for one in where_they_differ(outcomes, MODELS, kinds)}


def test_a_contrast_is_the_lead_on_some_items_minus_the_lead_on_the_others() -> None:
    outcomes = made_pairs(300, 1, damage=questions)
    one = kinds_of(outcomes, "question")["one"]
    holds = np.array([text.endswith("?") for text in outcomes.sentences["sentence1"]])
    gold = outcomes.rows["gold"].to_numpy()
    first, second = (outcomes.predictions[name].to_numpy() for name in ("first", "second"))
    lead = [
        spearmanr(gold[rows], second[rows])[0] - spearmanr(gold[rows], first[rows])[0]
        for rows in (holds, ~holds)
    ]
    assert one.items == holds.sum()
    assert one.slice.differences["second"].delta == pytest.approx(lead[0])
    assert one.contrast.delta == pytest.approx(lead[0] - lead[1])
    assert one.contrast.low < one.contrast.delta < one.contrast.high


@pytest.mark.parametrize(("damage", "by"), [(questions, "question"), (negated, "negation")])
def test_what_a_model_was_damaged_on_comes_first_and_is_clear(
    damage: Callable[[pl.DataFrame], pl.Expr], by: str
) -> None:
    outcomes = made_pairs(600, 2, damage=damage)
    found = where_they_differ(outcomes, MODELS, item_kinds(outcomes))
    assert found[0].by == by
    assert found[0].contrast.significant
    assert found[0].contrast.delta < 0 if found[0].value == "one" else found[0].contrast.delta > 0
    assert sorted(found, key=lambda one: one.contrast.p) == found


def test_of_two_equally_good_models_nothing_is_clear_but_by_chance() -> None:
    draws = [made_pairs(300, seed) for seed in range(10, 15)]
    clear = [
        any(one.contrast.significant for one in where_they_differ(own, MODELS, item_kinds(own)))
        for own in draws
    ]
    assert sum(clear) <= 1  # these draws are fixed; research/programs/slices.py has many


def test_several_datasets_count_by_their_mean_where_they_have_enough_of_both_kinds() -> None:
    one, other = made_pairs(200, 3), made_pairs(FEWEST + 5, 4)
    named = replace(other, blocks=(replace(other.blocks[0], dataset="small"),))
    found = kinds_of(joined_outcomes([one, named]), "question")["one"]
    assert found.datasets == ("made",)  # the other has fewer than FEWEST questions
    large = replace(made_pairs(300, 5), blocks=named.blocks)
    both, *apart = (
        kinds_of(part, "question")["one"] for part in (joined_outcomes([one, large]), one, large)
    )
    assert both.datasets == ("made", "small")
    assert both.contrast.delta == pytest.approx(np.mean([each.contrast.delta for each in apart]))


def test_a_selection_is_looked_at_alone_and_fifths_stay_those_of_the_whole_dataset() -> None:
    outcomes = made_pairs(400, 6)
    chosen = select_items(outcomes, "question:one", {})
    kinds = {(kind.by, kind.value): kind for kind in item_kinds(outcomes, chosen)}
    whole = {(kind.by, kind.value): kind for kind in item_kinds(outcomes)}
    assert ("question", "one") not in kinds  # there is nothing beside it
    for name, kind in kinds.items():
        assert {*kind.rows} == {*whole[name].rows} & {*np.flatnonzero(chosen.holds)}
        assert {*kind.rest} == {*whole[name].rest} & {*np.flatnonzero(chosen.holds)}


def test_tasks_with_different_measures_are_refused(pairs_and_classes: Outcomes) -> None:
    with pytest.raises(
        UsageError, match="measured differently: made has spearman, mr has accuracy"
    ):
        where_they_differ(pairs_and_classes, MODELS, [])


def with_sources(sizes: dict[str, int]) -> Outcomes:
    names = [name for name, size in sizes.items() for _ in range(size)]
    outcomes = made_pairs(len(names), 7)
    return replace(outcomes, rows=outcomes.rows.with_columns(source=pl.Series(names)))


def of_source(outcomes: Outcomes) -> dict[str, tuple[int, int]]:
    return {
        kind.value: (len(kind.rows), len(kind.rest))
        for kind in item_kinds(outcomes)
        if kind.by == "source"
    }


def test_of_two_kinds_of_which_each_is_all_that_the_other_is_not_the_rarer_is_given() -> None:
    assert of_source(with_sources({"a": 40, "b": 60})) == {"a": (40, 60)}
    assert of_source(with_sources({"a": 60, "b": 40})) == {"b": (40, 60)}
    assert of_source(with_sources({"a": 40, "b": 60, "c": 30})) == {
        "a": (40, 90),
        "b": (60, 70),
        "c": (30, 100),
    }
    assert of_source(with_sources({"a": 40, "b": 60, "c": 1})) == {
        "a": (40, 61),
        "b": (60, 41),
    }  # c is in what they are not
    assert of_source(with_sources({"a": 300, "b": 120, "c": 1})) == {
        "b": (120, 301)
    }  # as "none", "one" and "both" of SICK-R's negations


def test_a_kind_needs_twenty_items_and_twenty_others() -> None:
    assert FEWEST == 20
    assert of_source(with_sources({"a": 20, "b": 30})) == {"a": (20, 30)}
    assert of_source(with_sources({"a": 19, "b": 30})) == {}


def test_a_kind_on_which_a_model_has_no_score_is_left_out() -> None:
    outcomes = with_sources({"a": 40, "b": 60, "c": 50})
    constant = outcomes.rows.with_columns(
        gold=pl.when(pl.col("source") == "a").then(2.0).otherwise("gold")
    )
    assert kinds_of(replace(outcomes, rows=constant), "source").keys() == {"b", "c"}


def test_a_fifth_of_one_dataset_says_its_bounds_and_of_several_its_number_alone() -> None:
    one = made_pairs(200, 8)
    other = replace(made_pairs(200, 9), blocks=(replace(one.blocks[0], dataset="other"),))
    titles = {(kind.by, kind.value): (kind.title, kind.rows) for kind in item_kinds(one)}
    for by, shown, form in (
        ("dice", "word overlap", "{:.2f}"),
        ("words", "length in words", "{:.0f}"),
    ):
        values = property_named(by).values(one).to_numpy()
        for number in (1, 5):
            title, rows = titles[by, f"fifth {number}"]
            assert (
                title == f"{shown} "
                f"{form.format(values[rows].min())}–{form.format(values[rows].max())}"
            )
    assert titles["question", "one"][0] == "questions: one"
    joined = {
        (kind.by, kind.value): kind.title for kind in item_kinds(joined_outcomes([one, other]))
    }
    assert joined["dice", "fifth 2"] == "word overlap (fifth 2)"
    assert joined["words", "fifth 2"] == "length in words (fifth 2)"
