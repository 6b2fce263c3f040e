"""Properties of items: their values beside those read off by eye, and what an item that lacks something has."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import Property, property_named, property_names, refuse_lacking

BY_EYE = {
    "negation": ["one", "none", "none", "none", "one", "none"],
    "question": ["none", "none", "none", "both", "none", "none"],
    "number": ["the same numbers", "other numbers", *["the same numbers"] * 4],
    "words": [5, 3, 3, 7, 4, 6],
    "length": [2, 0, 0, 4, 1, 4],
    "source": ["animals", "animals", "people", "people", "people", "people"],
    "trained": ["not in training text", "in training text", *["not in training text"] * 2, "in training text", "not in training text"],
    "gold": ["1–2", "2–3", "4–5", "4–5", "0–1", "3–4"],
    "label": [None] * 6,
}


@pytest.mark.parametrize("name", sorted({*BY_EYE, "dice"} | {*property_names()}))
def test_every_property_is_named_as_its_file_says_and_has_a_summary(name: str) -> None:
    found = property_named(name)
    assert isinstance(found, Property)
    assert (found.name, bool(found.summary)) == (name, True)


@pytest.mark.parametrize("name", BY_EYE)
def test_pairs_have_the_values_that_a_reader_sees(name: str, pairs: Outcomes) -> None:
    assert property_named(name).values(pairs).to_list() == BY_EYE[name]


def test_dice_is_the_overlap_of_the_sets_of_words(pairs: Outcomes) -> None:
    by_hand = []
    for first, second in pairs.sentences.iter_rows():
        a, b = ({word.strip("?") for word in text.split()} for text in (first, second))
        by_hand.append(2 * len(a & b) / (len(a) + len(b)))
    assert property_named("dice").values(pairs).to_list() == pytest.approx(by_hand)


def test_a_single_sentence_has_what_needs_one_sentence_alone(both: Outcomes) -> None:
    assert property_named("negation").values(both).to_list()[6:] == ["none", "one", "none", "none"]
    assert property_named("words").values(both).to_list()[6:] == [1, 2, 3, 3]
    assert property_named("label").values(both).to_list()[6:] == ["good", "bad", "bad", "good"]
    for name in ("dice", "length", "number", "gold", "source"):
        assert property_named(name).values(both).to_list()[6:] == [None] * 4


def test_datasets_that_lack_a_property_are_named_and_refused_where_none_has_it(both: Outcomes, items: Outcomes) -> None:
    dice = property_named("dice")
    assert refuse_lacking("dice", both, dice.values(both)) == ["mood"]
    with pytest.raises(UsageError, match="no item of mood has the property 'dice'"):
        refuse_lacking("dice", items, dice.values(items))


def test_constant_gold_scores_are_one_band(pairs: Outcomes) -> None:
    from dataclasses import replace

    import polars as pl

    constant = replace(pairs, rows=pairs.rows.with_columns(gold=pl.lit(3.0)))
    assert property_named("gold").values(constant).n_unique() == 1


def test_gold_bands_are_of_equal_width_between_the_least_and_the_greatest_score(pairs: Outcomes) -> None:
    from dataclasses import replace

    import polars as pl

    scores = pl.Series("gold", [2.0, 2.5, 3.0, 4.75, 6.5, 7.0])
    found = property_named("gold").values(replace(pairs, rows=pairs.rows.with_columns(scores)))
    assert found.to_list() == ["2–3", "2–3", "3–4", "4–5", "6–7", "6–7"]
