"""Properties of items: their values beside those read off by eye, and what an item that lacks
something has.
"""

from dataclasses import replace

import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, join_outcomes
from embedlab.outcomes.property import (
    property_named,
    refuse_lacking,
)
from embedlab.runs.outcomes import CONTRADICTED

READ, UNREAD = "in training text", "not known to be in training text"
BY_EYE = {
    "negation": ["one", "none", "none", "none", "one", "none"],
    "question": ["none", "none", "none", "both", "none", "none"],
    "number": ["the same numbers", "other numbers", *["the same numbers"] * 4],
    "words": [5, 3, 3, 7, 4, 6],
    "length": [2, 0, 0, 4, 1, 4],
    "source": ["animals", "animals", "people", "people", "people", "people"],
    "trained": [UNREAD, READ, UNREAD, UNREAD, READ, UNREAD],
    "gold": ["1–2", "2–3", "4–5", "4–5", "0–1", "3–4"],
    "label": [None] * 6,
    "dice": [0.5, 2 / 3, 1.0, 0.75, 4 / 7, 0.5],
}


@pytest.mark.parametrize("name", BY_EYE)
def test_pairs_have_the_values_that_a_reader_sees(name: str, pairs: Outcomes) -> None:
    assert property_named(name).values(pairs).to_list() == BY_EYE[name]


@pytest.mark.parametrize(
    ("scores", "bands"),
    [
        ([3.0] * 6, ["3–3"] * 6),
        ([2.0, 2.5, 3.0, 4.75, 6.5, 7.0], ["2–3", "2–3", "3–4", "4–5", "6–7", "6–7"]),
        (
            [0.02, 0.3, 0.9, 0.7, 0.0, 1.0],
            ["0–0.2", "0.2–0.4", "0.8–1", "0.6–0.8", "0–0.2", "0.8–1"],
        ),
        ([2, 30, 90, 70, 0, 100], ["0–20", "20–40", "80–100", "60–80", "0–20", "80–100"]),
    ],
)
def test_gold_bands_are_of_equal_width_between_the_least_and_the_greatest_score(
    scores: list[float], bands: list[str], pairs: Outcomes
) -> None:
    gold = pl.Series("gold", scores, dtype=pl.Float64)
    found = property_named("gold").values(replace(pairs, rows=pairs.rows.with_columns(gold)))
    assert found.to_list() == bands


def test_gold_bands_are_those_of_the_dataset_of_an_item(pairs: Outcomes) -> None:
    other = replace(pairs, rows=pairs.rows.with_columns(gold=pl.col("gold") * 2 + 10))
    found = property_named("gold").values(join_outcomes([pairs, other])).to_list()
    assert found[:6] == BY_EYE["gold"]
    assert found[6:] == ["12–14", "14–16", "18–20", "18–20", "10–12", "16–18"]


ORDERS = {
    "negation": ["none", "one", "both"],
    "question": ["none", "one", "both"],
    "number": ["the same numbers", "other numbers"],
    "trained": [UNREAD, READ],
    "phenomenon": ["negation", "number", "minimal edit", "other words"],
    "gold": ["0.5–2", "2–4", "4–10", "10–12"],
}


def test_datasets_that_lack_a_property_are_named_once_and_in_order(
    pairs: Outcomes, items: Outcomes
) -> None:
    voice = replace(items, blocks=(replace(items.blocks[0], dataset="voice"),))
    many = join_outcomes([items, pairs, items, voice])
    one = pl.Series([None] * 4 + [1.0] + [None] * 13)  # a single item of one dataset
    assert refuse_lacking("dice", many, one) == ["mood", "voice"]
    with pytest.raises(UsageError, match="no item of mood, made, voice has the property 'dice'"):
        refuse_lacking("dice", many, pl.Series([None] * 18))


@pytest.mark.parametrize(("typed", "nearest"), [("negatoin", "negation"), ("datset", "dataset")])
def test_an_unknown_property_is_refused_with_the_nearest_name(typed: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=typed) as error:
        property_named(typed)
    assert nearest in error.value.hint


CONTRASTS = (
    ("a man sings", "a man does not sing", "negation"),
    ("two men sing", "three men never sing", "negation"),  # the first that holds
    ("two dogs run", "three dogs run", "number"),
    ("a b c d e f g x y z", "a b c d e f g u v w", "minimal edit"),  # 2 · 7 / 20, just enough
    ("a b c d e f x y z", "a b c d e f u v w", "other words"),
    ("a cat", "the sun is hot", "other words"),
)


def test_a_contrast_has_the_first_phenomenon_that_its_two_sentences_show(pairs: Outcomes) -> None:
    entailed, contradicted, shown = map(list, zip(*CONTRASTS, strict=True))
    for first, second in ((entailed, contradicted), (contradicted, entailed)):
        texts = pl.DataFrame({"sentence1": first, "sentence2": first, CONTRADICTED: second})
        found = property_named("phenomenon").values(replace(pairs, sentences=texts))
        assert found.to_list() == shown


@pytest.mark.parametrize("name", ORDERS)
def test_values_have_an_order_of_their_own(name: str) -> None:
    place = property_named(name).place
    assert place is not None
    assert sorted(sorted(ORDERS[name]), key=place) == ORDERS[name]
