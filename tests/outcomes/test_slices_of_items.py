"""Items cut by a property within each dataset."""

from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata

from embedlab.outcomes.frame import ItemSlice, Outcomes
from embedlab.outcomes.grouping import cut_by_values, split_by_selection
from embedlab.outcomes.property import Property, property_named
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import made_pairs


def sizes(outcomes: Outcomes, name: str) -> dict[str, int]:
    by = property_named(name)
    return {part.key: len(part.rows) for part in cut_by_values(outcomes, by, by.values(outcomes))}


def made(kind: Literal["number", "name"] = "number", **fields: Any) -> Property:
    """A property whose values are given to the cut."""
    return Property(
        name="own", summary="", kind=kind, needs=("gold",), of=lambda items: items["gold"], **fields
    )


def parts_of(outcomes: Outcomes, by: Property, values: pl.Series) -> dict[str, ItemSlice]:
    return {part.key: part for part in cut_by_values(outcomes, by, values)}


def test_names_are_cut_by_value_in_an_order_that_is_stated(both: Outcomes) -> None:
    expected = {
        "source": {"made/animals": 2, "made/people": 4, "mood": 4},  # what names none is one slice
        "negation": {
            "made/negation=none": 4,
            "made/negation=one": 2,
            "mood/negation=none": 3,
            "mood/negation=one": 1,
        },
    }
    for name, slices in expected.items():
        assert [*sizes(both, name).items()] == [*slices.items()]
    assert [*sizes(both, "gold")] == [f"made/gold={low}–{low + 1}" for low in range(5)]


@pytest.mark.parametrize("kind", ["number", "name"])
def test_items_without_a_value_are_cut_away_before_the_others_are_cut(
    kind: Literal["number", "name"],
) -> None:
    outcomes, has_value = made_pairs(30, 1), np.arange(30) % 4 > 0
    numbers = np.arange(30) % 7
    values = pl.Series(numbers) if kind == "number" else pl.Series([f"v{n}" for n in numbers])
    found = parts_of(outcomes, made(kind), values.set(pl.Series(~has_value), None))
    there = np.flatnonzero(has_value)
    if kind == "name":
        groups = {f"made/own=v{n}": there[numbers[there] == n].tolist() for n in range(7)}
    else:  # equal numbers are in the fifth of their mean rank
        fifths = np.ceil(5 * (rankdata(numbers[there]) - 0.5) / len(there))
        groups = {f"made/own-fifth-{n}": there[fifths == n].tolist() for n in range(1, 6)}
    expected = {key: rows for key, rows in groups.items() if rows}
    assert {key: part.rows.tolist() for key, part in found.items()} == expected


@pytest.mark.parametrize(
    ("by", "values", "titles"),
    [
        (made(title="for sentences"), [0, 1, 2, 3, 4, 5], ["made fifth 1 (0)"]),
        (made("name", title="for sentences"), [*"abcdef"], ["made own: a", "made own: b"]),
        (made(), [0.125, 1.25, *[9.0] * 4], ["made fifth 1 (0)", "made fifth 2 (1)"]),
        (
            made(decimals=2),
            [0.125, 1.25, *[9.0] * 4],
            ["made fifth 1 (0.12)", "made fifth 2 (1.25)"],
        ),
        (
            made(decimals=2, splits_ties=True),
            [1.25, 9.0, 9.0, 9.0, 0.125, 9.0],
            ["made fifth 1 (0.12–1.25)"],
        ),
    ],
)
def test_a_slice_is_called_by_its_value_or_the_ends_of_its_fifth_with_their_decimals(
    by: Property, values: list[Any], titles: list[str], pairs: Outcomes
) -> None:
    found = [part.title for part in cut_by_values(pairs, by, pl.Series(values))]
    assert found[: len(titles)] == titles


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
        # A single sentence has no overlap.
        ("dice>0.9", {"made/fits": [2], "made/rest": [0, 1, 3, 4, 5]}),
        ("dataset:mood", {"made/rest": [0, 1, 2, 3, 4, 5], "mood/fits": [6, 7, 8, 9]}),
    ],
)
def test_items_that_fit_an_expression_and_the_others_are_two_slices(
    expression: str, expected: dict[str, list[int]], both: Outcomes
) -> None:
    found = list(split_by_selection(both, select_items(both, expression, {})))
    assert {part.key: part.rows.tolist() for part in found} == expected
    assert [part.title for part in found] == [key.replace("/", " ") for key in expected]
    assert not any(part.is_whole for part in found)


@pytest.mark.parametrize("splits_ties", [True, False])
def test_a_split_tie_is_noted_where_fifths_split_ties(splits_ties: bool, pairs: Outcomes) -> None:
    by = made(splits_ties=splits_ties, fifth="part")
    found = parts_of(pairs, by, pl.Series([0.5] * 6))
    notes = [note for part in found.values() for note in part.notes]
    assert any("tie at own 0.500" in note for note in notes) == splits_ties
    assert len(found) == (5 if splits_ties else 1)
    apart = parts_of(pairs, by, pl.Series([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    assert [*apart] == [f"made/part-{number}" for number in (1, 2, 3, 4, 5)]
    assert not any(part.notes for part in apart.values())
