"""Properties of items: their values beside those read off by eye, and what an item that lacks
something has.
"""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.property import (
    Property,
    all_properties,
    property_named,
    property_names,
    refuse_lacking,
)
from embedlab.runs.outcomes import CONTRADICTED

BY_EYE = {
    "negation": ["one", "none", "none", "none", "one", "none"],
    "question": ["none", "none", "none", "both", "none", "none"],
    "number": ["the same numbers", "other numbers", *["the same numbers"] * 4],
    "words": [5, 3, 3, 7, 4, 6],
    "length": [2, 0, 0, 4, 1, 4],
    "source": ["animals", "animals", "people", "people", "people", "people"],
    "trained": [
        "not known to be in training text",
        "in training text",
        *["not known to be in training text"] * 2,
        "in training text",
        "not known to be in training text",
    ],
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


def test_constant_gold_scores_are_one_band(pairs: Outcomes) -> None:
    constant = replace(pairs, rows=pairs.rows.with_columns(gold=pl.lit(3.0)))
    assert property_named("gold").values(constant).n_unique() == 1


def test_gold_bands_are_of_equal_width_between_the_least_and_the_greatest_score(
    pairs: Outcomes,
) -> None:
    scores = pl.Series("gold", [2.0, 2.5, 3.0, 4.75, 6.5, 7.0])
    found = property_named("gold").values(replace(pairs, rows=pairs.rows.with_columns(scores)))
    assert found.to_list() == ["2–3", "2–3", "3–4", "4–5", "6–7", "6–7"]


@pytest.mark.parametrize(
    ("scale", "ends"),
    [(0.2, ["0–0.2", "0.2–0.4", "0.8–1", "0.6–0.8"]), (20.0, ["0–20", "20–40", "80–100", "60–80"])],
)
def test_gold_bands_follow_the_scale_of_the_scores(
    scale: float, ends: list[str], pairs: Outcomes
) -> None:
    scores = pl.Series("gold", [0.1, 1.5, 4.5, 3.5, 0.0, 5.0]) * scale
    found = property_named("gold").values(replace(pairs, rows=pairs.rows.with_columns(scores)))
    assert found.to_list() == [ends[0], ends[1], ends[2], ends[3], ends[0], ends[2]]


def test_gold_bands_are_those_of_the_dataset_of_an_item(pairs: Outcomes) -> None:
    other = replace(pairs, rows=pairs.rows.with_columns(gold=pl.col("gold") * 2 + 10))
    found = property_named("gold").values(joined_outcomes([pairs, other])).to_list()
    assert found[:6] == BY_EYE["gold"]
    assert found[6:] == ["12–14", "14–16", "18–20", "18–20", "10–12", "16–18"]


def test_a_band_is_placed_by_its_lower_end() -> None:
    place = property_named("gold").place
    assert place is not None
    assert sorted(["10–12", "2–4", "0.5–2", "4–10"], key=place) == ["0.5–2", "2–4", "4–10", "10–12"]


PAIR, NONE = ("sentence1", "sentence2"), ()
FACTS: dict[str, dict[str, Any]] = {
    "dice": {
        "kind": "number",
        "needs": PAIR,
        "title": "word overlap",
        "fifth": "fifth",
        "decimals": 2,
        "splits_ties": True,
    },
    "gold": {"kind": "name", "needs": ("gold", "sentence2"), "title": "gold score"},
    "label": {"kind": "name", "needs": ("label",)},
    "length": {"kind": "number", "needs": PAIR, "title": "length difference"},
    "negation": {
        "kind": "name",
        "needs": ("sentence1",),
        "also": ("sentence2",),
        "title": "negated sentences",
    },
    "number": {"kind": "name", "needs": PAIR, "title": "numbers"},
    "phenomenon": {"kind": "name", "needs": ("sentence2", "contradicted")},
    "question": {
        "kind": "name",
        "needs": ("sentence1",),
        "also": ("sentence2",),
        "title": "questions",
    },
    "source": {
        "kind": "name",
        "needs": ("source",),
        "is_bare": True,
        "absent": "it names no source",
    },
    "trained": {"kind": "name", "needs": ("first_text",), "also": ("trained",)},
    "words": {
        "kind": "number",
        "needs": ("sentence1",),
        "also": ("sentence2",),
        "title": "length in words",
    },
}
PLAIN = {
    "also": NONE,
    "title": "",
    "fifth": "",
    "decimals": 0,
    "splits_ties": False,
    "is_bare": False,
    "absent": "",
}
ORDERS = {
    "negation": ["none", "one", "both"],
    "question": ["none", "one", "both"],
    "number": ["the same numbers", "other numbers"],
    "trained": ["not known to be in training text", "in training text"],
    "phenomenon": ["negation", "number", "minimal edit", "other words"],
}


@pytest.mark.parametrize("name", FACTS)
def test_what_a_property_says_of_itself_decides_keys_and_titles_of_slices(name: str) -> None:
    found = vars(all_properties()[name])
    assert {key: found[key] for key in (*PLAIN, "kind", "needs")} == PLAIN | FACTS[name]
    if name in ORDERS:
        assert [found["place"](value) for value in ORDERS[name]] == [*range(len(ORDERS[name]))]
    elif name != "gold":
        assert found["place"] is None


def test_datasets_that_lack_a_property_are_named_once_and_in_order(
    pairs: Outcomes, items: Outcomes
) -> None:
    many = joined_outcomes(
        [items, pairs, items, replace(items, blocks=(replace(items.blocks[0], dataset="voice"),))]
    )
    assert refuse_lacking("dice", many, property_named("dice").values(many)) == ["mood", "voice"]
    one = pl.Series([None] * 4 + [1.0] + [None] * 13)  # a single item of one dataset
    assert refuse_lacking("dice", many, one) == ["mood", "voice"]
    with pytest.raises(
        UsageError, match="no item of mood, made, voice has the property 'dice'"
    ) as error:
        refuse_lacking("dice", many, pl.Series([None] * 18))
    assert error.value.hint == f"properties: {', '.join(property_names())}"


def test_an_unknown_property_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="'negatoin'") as error:
        property_named("negatoin")
    assert "negation" in error.value.hint
    with pytest.raises(UsageError) as error:
        property_named("datset")
    assert "dataset" in error.value.hint


def test_an_item_has_a_property_where_it_has_all_that_this_needs(pairs: Outcomes) -> None:
    holes = pairs.sentences.with_columns(
        sentence2=pl.when(pl.int_range(pl.len()) != 2).then("sentence2")
    )
    values = property_named("words").values(replace(pairs, sentences=holes))
    assert values.to_list() == BY_EYE["words"]  # of the one sentence
    assert property_named("length").values(replace(pairs, sentences=holes)).to_list() == [
        2,
        0,
        None,
        4,
        1,
        4,
    ]
    assert values.name == "words"


CONTRASTS = (
    ("a man sings", "a man does not sing", "negation"),
    ("two men sing", "three men never sing", "negation"),  # the first that holds
    ("two dogs run", "three dogs run", "number"),
    ("a b c d e f g x y z", "a b c d e f g u v w", "minimal edit"),  # 2 · 7 / 20, just enough
    ("a b c d e f x y z", "a b c d e f u v w", "other words"),
    ("a cat", "the sun is hot", "other words"),
)


def test_a_contrast_has_the_first_phenomenon_that_its_two_sentences_show(pairs: Outcomes) -> None:
    texts = pairs.sentences.with_columns(
        pl.Series("sentence2", [row[0] for row in CONTRASTS]),
        pl.Series(CONTRADICTED, [row[1] for row in CONTRASTS]),
    )
    for found in (
        texts,
        texts.rename({"sentence2": CONTRADICTED, CONTRADICTED: "sentence2"}),
    ):  # either may be the negated one
        assert property_named("phenomenon").values(replace(pairs, sentences=found)).to_list() == [
            row[2] for row in CONTRASTS
        ]
