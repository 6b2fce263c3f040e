"""Topics of rows: what shares sentences is one, and nearly equal sentences join them up to a limit,
as tests/analysis/the_page has them.
"""

import numpy as np
import pytest

from embedlab.analysis import topics as tested
from embedlab.analysis.near_duplicates import Links, NearDuplicates
from embedlab.analysis.topics import FEWEST_JOINED, largest_joined, topics_of_texts


def texts_and_links(rows: int) -> tuple[np.ndarray, NearDuplicates]:
    """Rows of which a tenth share a sentence, and links between any sentences."""
    rng = np.random.default_rng(0)
    texts = rng.permutation(5 * rows)[: 2 * rows].reshape(rows, 2).astype(np.uint64)
    texts[: rows // 10, 0] = texts[0, 0]
    first, second = rng.integers(0, 5 * rows, (2, 5 * rows)).astype(np.int32)
    links = Links(first=first, second=second, cosine=np.ones(5 * rows, np.float32))
    return texts, NearDuplicates(ids=np.arange(5 * rows, dtype=np.uint64), links=links)


def test_topics_are_the_same_however_few_links_are_joined_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, near = texts_and_links(150)
    whole = topics_of_texts(texts, near)
    monkeypatch.setattr(tested, "_LINKS_AT_ONCE", 25)
    assert topics_of_texts(texts, near).tolist() == whole.tolist()
    sizes = np.bincount(whole)
    assert sizes.max() == 15
    assert len(sizes) < 100


def test_few_rows_and_unknown_words_join_nothing() -> None:
    for rows, joins in ((FEWEST_JOINED - 1, False), (FEWEST_JOINED, True)):
        texts, near = texts_and_links(rows)
        apart = rows - rows // 10 + 1
        assert topics_of_texts(texts, NearDuplicates.none()).max() + 1 == apart
        assert (topics_of_texts(texts, near).max() + 1 < apart) == joins


def test_topics_are_joined_up_to_a_hundred_rows_and_a_tenth_of_them() -> None:
    assert [largest_joined(rows) for rows in (100, 1_000, 4_000)] == [0.1, 0.1, 0.025]
