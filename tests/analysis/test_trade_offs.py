"""What no other choice beats, against the definition written out."""

from itertools import product
from math import nan

import numpy as np

from embedlab.analysis.trade_offs import find_undominated


def slow(scores: list[float], costs: list[list[float]]) -> list[bool]:
    def beats(other: int, own: int) -> bool:
        saved = [a - b for a, b in zip(costs[own], costs[other], strict=True)] + [
            scores[other] - scores[own]
        ]
        return min(saved) >= 0 and max(saved) > 0

    places = range(len(scores))
    return [not any(beats(other, own) for other in places) for own in places]


def test_it_is_what_the_definition_says() -> None:
    rng = np.random.default_rng(0)
    for costs, _ in product((1, 2, 3), range(20)):
        scores = rng.integers(0, 4, 9).astype(float).tolist()
        spent = rng.integers(0, 4, (9, costs)).astype(float).tolist()
        assert find_undominated(scores, spent) == slow(scores, spent)


def test_equal_choices_do_not_beat_each_other_and_unknown_ones_nothing() -> None:
    assert find_undominated([1, 1, 2, 9], [[5.0], [5.0], [7.0], [nan]]) == [True, True, True, False]
    assert find_undominated([1, nan], [[5.0], [1.0]]) == [True, False]
    assert find_undominated([], []) == []
