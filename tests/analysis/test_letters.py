from itertools import combinations

import numpy as np
import pytest

from embedlab.analysis.comparison import compact_letters


def display(scores: list[float], *pairs: tuple[int, int]) -> list[str]:
    differs = np.zeros((len(scores), len(scores)), dtype=bool)
    for first, second in pairs:
        differs[first, second] = differs[second, first] = True
    return compact_letters(scores, differs)


@pytest.mark.parametrize(
    ("scores", "differing", "letters"),
    [
        ([3, 2, 1], [(0, 2)], ["a", "ab", "b"]),  # the middle one is like both ends
        ([1, 3, 2], [(1, 0), (1, 2)], ["b", "a", "b"]),  # the best has the first letter
        ([1, float("nan"), 2], [(0, 2)], ["b", "", "a"]),
    ],
)
def test_models_that_do_not_differ_share_a_letter(
    scores: list[float], differing: list[tuple[int, int]], letters: list[str]
) -> None:
    assert display(scores, *differing) == letters


@pytest.mark.parametrize("seed", range(10))
def test_two_models_share_a_letter_exactly_if_they_do_not_differ(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    pairs = [pair for pair in combinations(range(count), 2) if rng.random() < rng.uniform(0.1, 0.9)]
    letters = display(rng.normal(size=count).tolist(), *pairs)
    for first, second in combinations(range(count), 2):
        assert bool(set(letters[first]) & set(letters[second])) == ((first, second) not in pairs)


def test_more_than_twenty_six_sets_have_numbered_letters() -> None:
    scores = [float(-place) for place in range(30)]
    letters = display(scores, *combinations(range(30), 2))
    assert letters[:2] == ["a", "b"]
    assert letters[26] == "a2"
