"""Nearly equal sentences are all found, as a comparison of each with each finds them."""

import numpy as np
import polars as pl
import pytest

from embedlab.analysis import near_duplicates as tested
from embedlab.analysis import overlap
from embedlab.analysis.near_duplicates import (
    near_duplicates,
    similar_pairs,
)
from tests.analysis.the_page import links


def sentences(count: int, seed: int) -> list[str]:
    """Sentences of common and of rare words, some of them variations of others."""
    rng = np.random.default_rng(seed)
    words = [f"w{int(word)}" for word in rng.zipf(1.4, 4000) % 400]
    found = [
        " ".join(words[start : start + int(rng.integers(1, 12))])
        for start in rng.integers(0, 3900, count)
    ]
    varied = [f"{text} {words[place]}" for place, text in enumerate(found[: count // 4])]
    return [*dict.fromkeys([*found, *varied, "", "!", "The The the"])]


def cosines(texts: list[str]) -> dict[tuple[int, int], float]:
    """The cosine of each two sentences that are linked."""
    links = similar_pairs(texts)
    pairs = zip(links.first.tolist(), links.second.tolist(), strict=True)
    return dict(zip(pairs, links.cosine.tolist(), strict=True))


def one_by_one(texts: list[str]) -> dict[tuple[int, int], float]:
    """The same, by a comparison of each with each."""
    place = {text: number for number, text in enumerate(texts)}
    return {(place[first], place[second]): cosine for cosine, first, second in links(texts, [])}


@pytest.mark.parametrize("seed", range(2))
def test_every_two_similar_sentences_are_found_with_their_cosine(seed: int) -> None:
    texts = sentences(120, seed)
    found, expected = cosines(texts), one_by_one(texts)
    assert len(expected) > 50
    assert found == pytest.approx(expected, abs=1e-6)
    assert [*found.values()] == sorted(found.values(), reverse=True)
    assert cosines([]) == cosines(["", "!"]) == {}


def test_ties_are_in_the_order_of_the_sentences() -> None:
    texts = ["a b c", "d e f", "a b c g", "d e f g", "h i j k l m n"]
    assert [*cosines(texts)] == [(0, 2), (1, 3)]


def test_words_of_most_sentences_are_left_out_where_there_would_be_too_many_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = sentences(120, 0)
    monkeypatch.setattr(tested, "MOST_COMPARISONS", 500)
    expected = one_by_one(texts)
    found = cosines(texts)
    assert {*found} <= {*expected}
    assert 0 < len(found) < len(expected)


@pytest.mark.parametrize("most", [tested.MOST_COMPARISONS, 500])
def test_links_are_the_same_however_few_sentences_are_compared_at_once(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "MOST_COMPARISONS", most)
    texts = sentences(120, 1)
    whole = cosines(texts)
    monkeypatch.setattr(overlap, "_AT_ONCE", 7)
    monkeypatch.setattr(tested, "_COMPARISONS_AT_ONCE", 7)  # then only the rarest words do
    assert cosines(texts) == whole
    assert cosines(texts) == whole  # by the same words, which are kept


def test_links_are_found_once_in_a_process_for_equal_sentences_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tested, "_remembered", {})
    texts, found = pl.Series(sentences(20, 5)), []
    monkeypatch.setattr(tested, "similar_pairs", lambda own: found.append(own) or own)
    for own in (texts, texts.clone(), texts.reverse(), texts[1:]):
        tested.find_near_links(own)
    assert [len(own) for own in found] == [len(texts), len(texts), len(texts) - 1]
    for length in range(1, 70):
        tested.find_near_links(pl.Series([str(length)]))
    assert next(iter(tested._remembered)) == tested.links_key(pl.Series(["6"]))


def test_equal_sentences_are_one_and_links_have_their_numbers() -> None:
    ids = np.array([7, 9, 7, 3], dtype=np.uint64)
    found = near_duplicates(ids, pl.Series(["a b c d e f", "x y z", "a b c d e f", "a b c d e g"]))
    assert found.ids[found.links.first].tolist() == [7]
    assert found.ids[found.links.second].tolist() == [3]
