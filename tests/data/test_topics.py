"""Rows that a chain of shared sentences connects are one topic, and a part is held out by whole
topics.
"""

import numpy as np
import polars as pl
import pytest

from embedlab.data.overlaps import FEWEST, is_held_out, topics_of
from embedlab.data.words import normalise

COLUMNS = ("anchor", "positive", "negative")


def random_rows(rng: np.random.Generator, rows: int, texts: int) -> pl.DataFrame:
    return pl.DataFrame(
        {name: [f"text {number}" for number in rng.integers(texts, size=rows)] for name in COLUMNS}
    )


def slow_topics(rows: pl.DataFrame) -> list[int]:
    """Topics by joining each row with all that it shares a text with, until nothing changes."""
    sets = [{normalise(text) or text for text in row} for row in rows.iter_rows()]
    number = list(range(len(sets)))
    changed = True
    while changed:
        changed = False
        for one in range(len(sets)):
            for other in range(one):
                if sets[one] & sets[other] and number[one] != number[other]:
                    low, changed = min(number[one], number[other]), True
                    number[one] = number[other] = low
    order = {first: place for place, first in enumerate(dict.fromkeys(number))}
    return [order[one] for one in number]


@pytest.mark.parametrize("seed", range(6))
def test_topics_are_those_of_the_slow_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, rows=40, texts=int(rng.integers(30, 200)))
    assert topics_of(rows, COLUMNS).tolist() == slow_topics(rows)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_held_out_shares_no_text_with_the_rest_and_has_about_its_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, rows=300, texts=900)
    held_out = is_held_out(rows, COLUMNS, 0.1)
    sides = [
        {text for row in rows.filter(pl.Series(chosen)).iter_rows() for text in row}
        for chosen in (held_out, ~held_out)
    ]
    assert not sides[0] & sides[1]
    assert 15 <= held_out.sum() <= 45
    assert (held_out == is_held_out(rows, COLUMNS, 0.1)).all()


def test_a_small_file_and_one_of_a_single_topic_have_no_part_to_hold_out() -> None:
    apart = pl.DataFrame([(f"one {n}", f"two {n}") for n in range(60)], ["a", "b"], orient="row")
    assert is_held_out(apart, ("a", "b"), 0.1).sum() == FEWEST
    assert not is_held_out(apart.head(39), ("a", "b"), 0.1).any()
    assert not is_held_out(apart.with_columns(a=pl.lit("the same")), ("a", "b"), 0.1).any()


def test_a_topic_that_is_too_large_stays_in_training() -> None:
    first = ["the same"] * 50 + [f"one {number}" for number in range(50)]
    rows = pl.DataFrame({"a": first, "b": [f"two {number}" for number in range(100)]})
    held_out = is_held_out(rows, ("a", "b"), 0.1)
    assert held_out.sum() == 10
    assert not held_out[:50].any()
