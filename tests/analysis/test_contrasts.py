"""Margins of contrasts, beside numpy's spread written out."""

from statistics import pstdev

import numpy as np
import pytest

from embedlab.analysis.measures import is_closer, margins


@pytest.mark.parametrize("unit", [0.01, 1.0, 40.0])
def test_a_margin_is_in_units_of_the_spread_of_all_similarities(unit: float) -> None:
    entailed, contradicted = (
        [0.9 * unit, 0.2 * unit, 0.5 * unit],
        [0.1 * unit, 0.6 * unit, 0.5 * unit],
    )
    spread = pstdev([*entailed, *contradicted])
    expected = [(one - other) / spread for one, other in zip(entailed, contradicted, strict=True)]
    assert margins(entailed, contradicted).tolist() == pytest.approx(expected)


def test_where_all_similarities_are_the_same_or_there_are_none_no_margin_is() -> None:
    assert margins([0.3, 0.3], [0.3, 0.3]).tolist() == [0, 0]
    assert margins([], []).shape == (0,)


def test_a_tie_counts_half() -> None:
    assert is_closer(np.array([2.5, 0.0, -0.1, 1e-12])).tolist() == [1, 0.5, 0, 1]
