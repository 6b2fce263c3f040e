import numpy as np

from embedlab.outcomes.grouping import dice_fifths


def test_fifths_equal_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        parts = np.array_split(np.argsort(values, kind="stable"), 5)
        found = dice_fifths(values)
        for number, rows in enumerate(parts, 1):
            assert (found.fifth[rows] == number).all()


def test_ties_count_the_pairs_at_a_cut_that_splits_equal_values() -> None:
    found = dice_fifths([0.1, 0.2, 0.3, 0.3, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert found.cuts == (0.3, 0.3, 0.7, 0.9)
    assert found.ties == (0, 3, 0, 0)
