"""A message names the first of many, and says how many more there are."""

import pytest

from embedlab.core.first_few import MOST_COLUMNS, first_few


@pytest.mark.parametrize(
    ("names", "most", "expected"),
    [
        (["a"], 2, "a"),
        (["a", "b"], 2, "a, b"),
        (["a", "b", "c"], 2, "a, b and 1 more"),
        (["a", "b", "c"], 1, "a and 2 more"),
        ([], 2, ""),
    ],
)
def test_no_more_than_so_many_are_named(names: list[str], most: int, expected: str) -> None:
    assert first_few(iter(names), most) == expected


def test_names_with_commas_are_parted_by_something_else() -> None:
    assert first_few(["a, b", "c", "d"], 2, separator="; ") == "a, b; c and 1 more"


def test_a_table_of_many_columns_does_not_fill_the_screen() -> None:
    assert first_few(range(40)).endswith(f"{MOST_COLUMNS - 1} and {40 - MOST_COLUMNS} more")
