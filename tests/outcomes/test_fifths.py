import numpy as np

from embedlab.outcomes.grouping import dice_fifths, tie_notes


def test_fifths_are_as_large_and_in_the_order_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        order = sorted(range(size), key=lambda row: (values[row], row))
        sizes = [size // 5 + (number < size % 5) for number in range(5)]
        expected = [number for number, count in enumerate(sizes, 1) for _ in range(count)]
        assert dice_fifths(values)[order].tolist() == expected


def test_ties_count_the_pairs_at_a_cut_that_splits_equal_values() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.3, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
    notes = [tie_notes(values, dice_fifths(values), number, "Dice") for number in range(1, 6)]
    tied = "3 pairs tie at Dice 0.300, the cut above fifth 2; they are split by their order"
    assert notes == [(), (tied,), (), (), ()]
