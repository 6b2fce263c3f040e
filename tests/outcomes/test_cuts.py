"""Items cut by a property within each dataset."""

from dataclasses import replace

import numpy as np
import polars as pl

from embedlab.outcomes.cuts import cut, whole_blocks
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import property_named


def sizes(outcomes: Outcomes, name: str) -> dict[str, int]:
    by = property_named(name)
    return {part.key: len(part.rows) for part in cut(outcomes, by, by.values(outcomes))}


def test_names_are_cut_by_value_in_an_order_that_is_stated(both: Outcomes) -> None:
    assert sizes(both, "source") == {"made/animals": 2, "made/people": 4, "mood": 4}  # what names none is one slice
    assert sizes(both, "negation") == {"made/negation=none": 4, "made/negation=one": 2, "mood/negation=none": 3, "mood/negation=one": 1}
    assert list(sizes(both, "gold")) == ["made/gold=0–1", "made/gold=1–2", "made/gold=2–3", "made/gold=3–4", "made/gold=4–5"]


def test_fifths_of_dice_are_of_equal_size_and_others_keep_equal_numbers_together(pairs: Outcomes) -> None:
    many = replace(
        pairs,
        rows=pl.concat([pairs.rows] * 10),
        predictions=pl.concat([pairs.predictions] * 10),
        texts=lambda: pl.concat([pairs.sentences] * 10),
    )
    assert list(sizes(many, "dice").values()) == [12] * 5
    by = property_named("length")
    values = by.values(many).to_numpy()
    seen: set[float] = set()
    for part in cut(many, by, by.values(many)):
        own = {*values[part.rows].tolist()}
        assert not own & seen
        seen |= own
    assert seen == {*values.tolist()}


def test_slices_of_a_dataset_are_disjoint_and_whole(both: Outcomes) -> None:
    for name in ("negation", "words", "question"):
        by = property_named(name)
        rows = np.concatenate([part.rows for part in cut(both, by, by.values(both))])
        assert sorted(rows.tolist()) == list(range(both.rows.height))
    assert [len(part.rows) for part in whole_blocks(both)] == [6, 4]
