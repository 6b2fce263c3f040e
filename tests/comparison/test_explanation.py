"""What is known of the difference between two models, beside each part computed alone."""

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.evidence import member_columns
from embedlab.comparison import explanation as tested
from embedlab.comparison.evidence import item_topics, outcome_evidence, slices_of
from embedlab.comparison.explanation import FEWEST, DifferenceExplanation
from embedlab.comparison.sides import sides_of, typical
from embedlab.outcomes.frame import Outcomes, join_outcomes
from embedlab.outcomes.selection import ItemSelection
from tests.comparison.planted import (
    MODELS,
    QUESTIONS,
    holds,
    lead,
    made_pairs,
    with_facts,
    with_predictions,
)


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Pairs and two models, each of which is alone right on dozens of them."""
    return made_pairs(500, 1, noise=2.0)


@pytest.fixture
def _without_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out where the difference sits, which takes longest and has tests of its own."""
    monkeypatch.setattr(tested, "where_they_differ", lambda *_: [])
    monkeypatch.setattr(tested, "search_combinations", lambda *_: None)


def explain_difference(
    outcomes: Outcomes,
    selection: ItemSelection | None = None,
    examples: int = 5,
) -> DifferenceExplanation:
    members = member_columns(MODELS)
    whole = outcome_evidence(outcomes, members, slices_of(outcomes, members, selection=selection))
    return tested.explain_difference(
        outcomes,
        MODELS,
        whole,
        selection,
        rng=np.random.default_rng(0),
        examples=examples,
    )


def selected(rows: np.ndarray) -> ItemSelection:
    return ItemSelection(is_selected=rows, is_by_results=False, datasets_without=())


@pytest.mark.usefixtures("_without_kinds")
@pytest.mark.parametrize("is_selected", [False, True])
def test_each_part_of_an_explanation_is_of_the_items_that_are_looked_at(
    is_selected: bool, outcomes: Outcomes
) -> None:
    long = holds(outcomes, pl.col("sentence1").str.count_matches(" ") > 6)
    among = long if is_selected else np.ones(500, dtype=bool)
    found = explain_difference(outcomes, selected(among) if is_selected else None, examples=3)
    assert (found.first, found.second, found.items) == ("first", "second", among.sum())
    whole = found.whole.differences["second"].delta
    assert whole == pytest.approx(lead(outcomes, among))
    sides = sides_of(outcomes, ["first"], ["second"])
    expected = {
        "questions: one": holds(outcomes, QUESTIONS),
        "first too high": sides.errors[0] > 0,
        "second too high": sides.errors[1] > 0,
    }
    for side, only in zip(found.sides, (sides.only_a, sides.only_b), strict=True):
        own = only & among
        assert side.items == own.sum()
        assert side.typical == tuple(typical(sides, own, item_topics(outcomes), 3))
        facts = {one.title: (one.items, one.share, one.elsewhere) for one in side.common}
        for title, has in expected.items():
            counted = (has & own).sum(), has[own].mean(), has[among & ~own].mean()
            assert facts[title] == pytest.approx(counted)
    assert [side.model for side in found.sides] == ["first", "second"]


@pytest.mark.usefixtures("_without_kinds")
@pytest.mark.parametrize("count", [FEWEST - 1, FEWEST])
def test_few_items_have_nothing_in_common(count: int, outcomes: Outcomes) -> None:
    only = np.flatnonzero(sides_of(outcomes, ["first"], ["second"]).only_a)
    found = explain_difference(outcomes, selected(~np.isin(np.arange(500), only[count:]))).sides[0]
    assert (found.items, len(found.typical)) == (count, 5)
    assert bool(found.common) == (count >= 10)


@pytest.mark.usefixtures("_without_kinds")
def test_words_are_those_of_the_items_of_a_side_where_there_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_word = (pl.lit(" ") + pl.col("sentence1") + " ").str.contains(" w7 ")
    own = made_pairs(300, 2, noise=0.3, damage=has_word)
    found = explain_difference(own)
    assert found.sides[0].words[0].title == "word 'w7'"
    assert found.sides[1].words == ()
    monkeypatch.setattr(tested, "FEWEST", 300)
    assert explain_difference(own).sides[0].words == ()


@pytest.mark.usefixtures("_without_kinds")
def test_the_whole_difference_is_the_mean_over_the_datasets_on_which_both_have_a_number(
    outcomes: Outcomes,
) -> None:
    other = made_pairs(100, 2, dataset="other")
    equal_gold = with_facts(made_pairs(30, 3, dataset="constant"), gold=pl.lit(2.0))
    equal_scores = with_predictions(made_pairs(40, 2, dataset="flat"), second=pl.lit(0.5))
    first, second = lead(outcomes), lead(other)
    both = explain_difference(join_outcomes([outcomes, equal_gold, other])).whole
    assert both.differences["second"].delta == pytest.approx((first + second) / 2)
    alone = explain_difference(join_outcomes([equal_gold, outcomes, equal_scores])).whole
    assert alone.differences["second"].delta == pytest.approx(first)
    assert alone.key == "made"
