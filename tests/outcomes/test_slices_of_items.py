"""Items cut by a property within each dataset."""

import itertools
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata

from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.grouping import cut, halves
from embedlab.outcomes.property import Property, property_named
from embedlab.outcomes.selection import select_items


def sizes(outcomes: Outcomes, name: str) -> dict[str, int]:
    by = property_named(name)
    return {part.key: len(part.rows) for part in cut(outcomes, by, by.values(outcomes))}


def test_names_are_cut_by_value_in_an_order_that_is_stated(both: Outcomes) -> None:
    assert sizes(both, "source") == {
        "made/animals": 2,
        "made/people": 4,
        "mood": 4,
    }  # what names none is one slice
    assert sizes(both, "negation") == {
        "made/negation=none": 4,
        "made/negation=one": 2,
        "mood/negation=none": 3,
        "mood/negation=one": 1,
    }
    assert list(sizes(both, "gold")) == [
        "made/gold=0–1",
        "made/gold=1–2",
        "made/gold=2–3",
        "made/gold=3–4",
        "made/gold=4–5",
    ]


def test_fifths_of_dice_are_of_equal_size(
    pairs: Outcomes,
) -> None:
    many = replace(
        pairs,
        rows=pl.concat([pairs.rows] * 10),
        predictions=pl.concat([pairs.predictions] * 10),
        sentences=pl.concat([pairs.sentences] * 10),
    )
    assert list(sizes(many, "dice").values()) == [12] * 5


@pytest.mark.parametrize("kind", ["number", "name"])
def test_items_without_a_value_are_cut_away_before_the_others_are_cut(
    kind: Literal["number", "name"], pairs: Outcomes
) -> None:
    many = replace(
        pairs,
        rows=pl.concat([pairs.rows] * 5),
        predictions=pl.concat([pairs.predictions] * 5),
        sentences=pl.concat([pairs.sentences] * 5),
    )
    has_value = np.arange(30) % 4 > 0
    by = Property(
        name="own", summary="a made one", kind=kind, needs=("gold",), of=lambda items: items["gold"]
    )
    values = (
        pl.Series(np.arange(30) % 7)
        if kind == "number"
        else pl.Series([f"v{n % 3}" for n in range(30)])
    )
    found = {
        part.key: part.rows.tolist()
        for part in cut(many, by, values.set(pl.Series(~has_value), None))
    }
    assert (
        sorted(itertools.chain.from_iterable(found.values())) == np.flatnonzero(has_value).tolist()
    )
    if kind == "name":
        assert found == {
            f"made/own=v{value}": [n for n in range(30) if n % 3 == value and n % 4]
            for value in (1, 2, 0)
        }
    else:
        ranks = rankdata(
            values.to_numpy()[has_value]
        )  # equal numbers are in the fifth of their mean rank
        fifths = np.ceil(5 * (ranks - 0.5) / has_value.sum()).astype(int)
        there = np.flatnonzero(has_value)
        assert found == {
            f"made/own-fifth-{fifth}": there[fifths == fifth].tolist()
            for fifth in sorted({*fifths.tolist()})
        }


@pytest.mark.parametrize("kind", ["number", "name"])
def test_a_slice_is_called_by_the_name_of_its_property_or_the_ends_of_its_fifth(
    kind: Literal["number", "name"], pairs: Outcomes
) -> None:
    by = Property(
        name="own",
        summary="a made one",
        kind=kind,
        title="an own title",  # that is for sentences
        needs=("gold",),
        of=lambda items: items["gold"],
    )
    values = pl.Series([0, 1, 2, 3, 4, 5]) if kind == "number" else pl.Series(list("abcdef"))
    first = next(cut(pairs, by, values))
    assert first.title == ("made fifth 1 (0)" if kind == "number" else "made own: a")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "negation:one",
            {
                "made/fits": [0, 4],
                "made/rest": [1, 2, 3, 5],
                "mood/fits": [7],
                "mood/rest": [6, 8, 9],
            },
        ),
        (
            "dice>0.9",
            {"made/fits": [2], "made/rest": [0, 1, 3, 4, 5]},
        ),  # a single sentence has no overlap
        ("dataset:mood", {"made/rest": [0, 1, 2, 3, 4, 5], "mood/fits": [6, 7, 8, 9]}),
    ],
)
def test_items_that_fit_an_expression_and_the_others_are_two_slices(
    expression: str, expected: dict[str, list[int]], both: Outcomes
) -> None:
    found = list(halves(both, select_items(both, expression, {})))
    assert {part.key: part.rows.tolist() for part in found} == expected
    assert [part.title for part in found] == [key.replace("/", " ") for key in expected]
    assert not any(part.is_whole for part in found)


def test_a_split_tie_is_noted_where_fifths_split_ties(pairs: Outcomes) -> None:
    equal = pl.Series([0.5] * 6)
    for splits, noted in ((True, True), (False, False)):
        by = Property(
            name="own",
            summary="",
            kind="number",
            needs=("gold",),
            splits_ties=splits,
            of=lambda items: items["gold"],
        )
        found = list(cut(pairs, by, equal))
        assert any("tie at own 0.500" in note for part in found for note in part.notes) == noted
        assert len(found) == (5 if splits else 1)
    assert not any(part.notes for part in cut(pairs, by, pl.Series([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])))


@pytest.mark.parametrize(("decimals", "ends"), [(0, "0–1"), (2, "0.12–1.25")])
def test_the_ends_of_a_fifth_are_shown_with_the_decimals_of_the_property(
    decimals: int, ends: str, pairs: Outcomes
) -> None:
    by = Property(
        name="own",
        summary="",
        kind="number",
        needs=("gold",),
        decimals=decimals,
        fifth="part",
        of=lambda items: items["gold"],
    )
    found = list(cut(pairs, by, pl.Series([0.125, 1.25, 2.0, 3.0, 4.0, 5.0])))
    assert [part.key for part in found] == [f"made/part-{number}" for number in (1, 2, 3, 4, 5)]
    assert [len(part.rows) for part in found] == [1, 1, 2, 1, 1]
    both_ends = list(cut(pairs, by, pl.Series([0.125, 1.25, *[9.0] * 4])))
    assert both_ends[0].title == f"made fifth 1 ({ends.split('–')[0]})"
    assert both_ends[1].title == f"made fifth 2 ({ends.split('–')[1]})"
    by = replace(by, splits_ties=True)
    assert (
        next(part.title for part in cut(pairs, by, pl.Series([1.25, 9.0, 9.0, 9.0, 0.125, 9.0])))
        == f"made fifth 1 ({ends})"
    )


def test_items_without_a_source_are_a_slice_beside_those_that_name_one(pairs: Outcomes) -> None:
    by = property_named("source")
    values = pl.Series(["a", None, "b", "a", None, "b"])
    found = {
        part.key: (part.rows.tolist(), part.title, part.notes, part.is_whole)
        for part in cut(pairs, by, values)
    }
    assert found == {
        "made/a": ([0, 3], "made a", (), False),
        "made/b": ([2, 5], "made b", (), False),
        "made": ([1, 4], "made", ("it names no source",), False),
    }
