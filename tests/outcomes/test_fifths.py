import numpy as np

from embedlab.outcomes.grouping import dice_fifths


def test_fifths_are_as_large_and_in_the_order_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        order = sorted(range(size), key=lambda row: (values[row], row))
        sizes = [size // 5 + (number < size % 5) for number in range(5)]
        expected = [number for number, count in enumerate(sizes, 1) for _ in range(count)]
        assert dice_fifths(values)[order].tolist() == expected
