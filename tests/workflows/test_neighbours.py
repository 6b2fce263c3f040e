from collections.abc import Sequence

import numpy as np

from embedlab.workflows.neighbours import Corpus, find_neighbours

CORPUS = Corpus.of(["a", "b", "  ", "c"], ["b", "d", "e", "f"])


class Fixed:
    """A search with fixed similarities."""

    is_current = True

    def __init__(self, values: Sequence[float]) -> None:
        self.values = np.array(values, np.float32)
        self.is_known = ~np.isnan(self.values)

    def approximate(self, queries: Sequence[str]) -> np.ndarray:
        return np.tile(self.values, (len(queries), 1))

    def exact(self, query: str, numbers: np.ndarray) -> np.ndarray:
        return self.values[numbers]


def test_the_mean_of_all_members_decides_and_ties_are_in_the_order_of_the_corpus() -> None:
    assert list(CORPUS.sentences) == ["a", "b", "c", "d", "e", "f"]
    members = [Fixed([1.0, 0.5, 0.5, 0.0, 0.9, np.nan]), Fixed([1.0, 0.5, 0.5, 0.8, 0.0, 1.0])]
    (all_of_them,) = find_neighbours(["a"], CORPUS, members, 4)
    assert [one.number for one in all_of_them.found] == [0, 1, 2, 4]
    assert all_of_them.searched == 5
    (others,) = find_neighbours(["a"], CORPUS, members, 2, itself=False, partners=["d"])
    assert [one.number for one in others.found] == [1, 2]
    assert (others.searched, others.rank) == (4, 4)
    (unknown,) = find_neighbours(["x"], CORPUS, members, 2, partners=["f"])
    assert unknown.rank is None


def test_the_candidates_are_enough_in_a_large_corpus() -> None:
    corpus = Corpus(sentences=[str(number) for number in range(500)])
    values = np.random.default_rng(0).normal(size=500).astype(np.float32)
    (found,) = find_neighbours(["x"], corpus, [Fixed(values.tolist())], 7)
    assert [one.number for one in found.found] == np.argsort(-values)[:7].tolist()
