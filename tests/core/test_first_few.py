"""A message names the first of many, and says how many more there are."""

import pytest

from embedlab.core.printable import first_few


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
