"""Marks of numbers: one dataset that is partial or generated marks all that is made from it."""

from itertools import product

import pytest

from embedlab.data.dataset import DatasetState
from embedlab.data.marks import data_marks


def state(partial: bool, generated: bool) -> DatasetState:
    return DatasetState(
        name="made",
        split="test",
        rows=3,
        expected_rows=3,
        origin="tiny" if generated else "file",
        partial=partial,
    )


@pytest.mark.parametrize(
    ("first", "second"), list(product(product((False, True), repeat=2), repeat=2))
)
def test_a_number_has_the_marks_of_any_of_its_data(
    first: tuple[bool, bool], second: tuple[bool, bool]
) -> None:
    expected = {
        mark
        for states in (first, second)
        for mark, holds in zip(("partial", "generated"), states, strict=True)
        if holds
    }
    found = data_marks(iter([state(*first), state(*second)]))
    assert set(found) == expected
    assert list(found) == [mark for mark in ("partial", "generated") if mark in expected]


def test_nothing_has_no_marks() -> None:
    assert data_marks([]) == ()
