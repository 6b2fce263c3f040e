"""Margins of contrasts at their limits; others are in tests/tasks/test_contrast."""

import numpy as np

from embedlab.analysis.measures import is_closer, margins


def test_where_all_similarities_are_the_same_or_there_are_none_no_margin_is() -> None:
    assert margins([0.3, 0.3], [0.3, 0.3]).tolist() == [0, 0]
    assert margins([], []).shape == (0,)


def test_a_tie_counts_half() -> None:
    assert is_closer(np.array([2.5, 0.0, -0.1, 1e-12])).tolist() == [1, 0.5, 0, 1]
