"""Topics of rows: what shares sentences is one, and nearly equal sentences join them up to a
limit.
"""

import numpy as np
import pytest

from embedlab.analysis import topics as tested
from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.near_duplicates import Links, NearDuplicates
from embedlab.analysis.topics import FEWEST_JOINED, join_topics, largest_joined

LARGEST = 1 / 15  # of the score, that is joined


def world(
    rows: int, seed: int, density: int = 400
) -> tuple[SharedSentences, np.ndarray, np.ndarray, NearDuplicates]:
    rng = np.random.default_rng(seed)
    texts = rng.integers(0, 5 * rows, (rows, 2)).astype(np.uint64)
    texts[: rows // 10, 0] = 3  # one large component
    shares = rng.dirichlet(np.full(rows, 5.0))
    first, second = rng.integers(0, 5 * rows, (2, density * rows // 100)).astype(np.int32)
    ids = rng.permutation(5 * rows).astype(np.uint64)
    links = Links(
        first=first, second=second, cosine=np.sort(rng.random(len(first)))[::-1].astype(np.float32)
    )
    return (
        SharedSentences.of(texts[:, 0], texts[:, 1]),
        shares,
        texts,
        NearDuplicates(ids=ids, links=links),
    )


def slowly(
    components: np.ndarray, shares: np.ndarray, texts: np.ndarray, near: NearDuplicates
) -> list[set[int]]:
    """Sets of rows, joined one link after the other."""
    found = [set(np.flatnonzero(components == number).tolist()) for number in np.unique(components)]
    for first, second in zip(near.ids[near.links.first], near.ids[near.links.second], strict=True):
        own = [one for one in found if any(first in texts[row] for row in one)]
        other = [one for one in found if any(second in texts[row] for row in one)]
        if (
            own
            and other
            and own[0] is not other[0]
            and sum(shares[row] for row in own[0] | other[0]) <= LARGEST
        ):
            found.remove(other[0])
            own[0].update(other[0])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_topics_are_those_of_a_slow_loop(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "_LINKS_AT_ONCE", 25)
    shared, shares, texts, near = world(150, seed)
    numbers = join_topics(shared, shares, near, LARGEST)
    found = {
        frozenset(np.flatnonzero(numbers == number).tolist()) for number in range(numbers.max() + 1)
    }
    assert found == {frozenset(one) for one in slowly(shared.components, shares, texts, near)}
    assert numbers.max() < shared.components.max()


def test_few_rows_and_unknown_words_join_nothing() -> None:
    shared, shares, _, near = world(FEWEST_JOINED - 1, 2, density=2000)
    assert join_topics(shared, shares, near, LARGEST) is shared.components
    shared, shares, _, _ = world(200, 2)
    assert join_topics(shared, shares, NearDuplicates.none(), LARGEST) is shared.components


def test_topics_are_joined_up_to_a_hundred_rows_and_a_tenth_of_them() -> None:
    assert [largest_joined(rows) for rows in (100, 1_000, 4_000)] == [0.1, 0.1, 0.025]
