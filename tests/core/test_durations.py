"""Lengths of time as people read them."""

import pytest

from embedlab.core.printable import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0s"),
        (5, "5s"),
        (190, "3m10s"),
        (7500, "2h05m"),
        (273_600, "3d04h"),
        (float("nan"), ""),
    ],
)
def test_a_duration_has_its_largest_unit_and_the_one_below(seconds: float, text: str) -> None:
    assert duration(seconds) == text
