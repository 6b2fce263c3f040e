import numpy as np

from embedlab.outcomes.grouping import dice_fifths


def test_fifths_equal_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        expected = [0] * size
        for position, row in enumerate(sorted(range(size), key=lambda i: values[i])):
            sizes, start = [size // 5 + (part < size % 5) for part in range(5)], 0
            for part, rows in enumerate(sizes):
                if start <= position < start + rows:
                    expected[row] = part + 1
                start += rows
        found = dice_fifths(values)
        assert found.fifth.tolist() == expected
        assert found.sizes == tuple(expected.count(part) for part in range(1, 6))


def test_ties_count_the_pairs_at_a_cut_that_splits_equal_values() -> None:
    found = dice_fifths([0.1, 0.2, 0.3, 0.3, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert found.cuts == (0.3, 0.3, 0.7, 0.9)
    assert found.ties == (0, 3, 0, 0)
