"""Lengths of time and lists of names as people read them."""

import pytest

from embedlab.core.printable import duration, first_few


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (190, "3m10s"), (7500, "2h05m"), (273_600, "3d04h"), (float("nan"), "")],
)
def test_a_duration_has_its_largest_unit_and_the_one_below(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_no_more_than_so_many_are_named() -> None:
    assert first_few(iter(["a", "b"]), 2) == "a, b"
    assert first_few(iter(["a", "b", "c"]), 2) == "a, b and 1 more"
