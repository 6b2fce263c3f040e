"""Nearly equal sentences are all found, as a comparison of each with each finds them."""

import re
from itertools import combinations
from math import log, sqrt

import numpy as np
import polars as pl
import pytest

from embedlab.analysis import near_duplicates as tested
from embedlab.analysis.near_duplicates import (
    LEAST_COSINE,
    Links,
    NearDuplicates,
    near_duplicates,
    similar_pairs,
)


def sentences(count: int, seed: int) -> list[str]:
    """Sentences of common and of rare words, some of them variations of others."""
    rng = np.random.default_rng(seed)
    words = [f"w{int(word)}" for word in rng.zipf(1.4, 4000) % 400]
    found = [
        " ".join(words[start : start + int(rng.integers(1, 12))])
        for start in rng.integers(0, 3900, count)
    ]
    return [
        *found,
        *(f"{text} {words[place]}" for place, text in enumerate(found[: count // 4])),
        "",
        "!",
        "The The the",
    ]


def parts(links: Links) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return links.first, links.second, links.cosine


def near(
    ids: list[int], first: list[int], second: list[int], cosine: list[float]
) -> NearDuplicates:
    links = Links(
        first=np.array(first, np.int32),
        second=np.array(second, np.int32),
        cosine=np.array(cosine, np.float32),
    )
    return NearDuplicates(ids=np.array(ids, np.uint64), links=links)


def one_by_one(texts: list[str]) -> dict[tuple[int, int], float]:
    own = [set(re.findall(r"\w+", text.lower())) for text in texts]
    frequency = {word: sum(word in one for one in own) for one in own for word in one}
    weight = {word: log(len(texts) / count) + 0.1 for word, count in frequency.items()}
    length = [sqrt(sum(weight[word] ** 2 for word in one)) for one in own]
    cosines = {
        (first, second): sum(weight[word] ** 2 for word in own[first] & own[second])
        / (length[first] * length[second])
        for first, second in combinations(range(len(texts)), 2)
        if length[first] and length[second]
    }
    return {pair: cosine for pair, cosine in cosines.items() if cosine >= LEAST_COSINE + 1e-9}


@pytest.mark.parametrize("seed", range(4))
def test_every_two_similar_sentences_are_found_with_their_cosine(seed: int) -> None:
    texts = sentences(120, seed)
    first, second, cosine = parts(similar_pairs(texts))
    expected = one_by_one(texts)
    found = dict(
        zip(zip(first.tolist(), second.tolist(), strict=True), cosine.tolist(), strict=True)
    )
    assert {pair for pair, value in found.items() if value > LEAST_COSINE + 1e-8} == {
        pair for pair, value in expected.items() if value > LEAST_COSINE + 1e-8
    }
    assert len(expected) > 50
    for pair, value in expected.items():
        assert found[pair] == pytest.approx(value, abs=1e-6)


def test_the_most_similar_come_first_and_ties_in_the_order_of_the_sentences() -> None:
    first, second, cosine = parts(
        similar_pairs(["a b c", "d e f", "a b c g", "d e f g", "h i j k l m n"])
    )
    assert (first.tolist(), second.tolist()) == ([0, 1], [2, 3])
    assert cosine[0] == cosine[1]


def test_words_of_most_sentences_are_left_out_where_there_would_be_too_many_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = sentences(120, 0)
    most = len(similar_pairs(texts).first)
    monkeypatch.setattr(tested, "MOST_COMPARISONS", 500)
    first, second, cosine = parts(similar_pairs(texts))
    assert 0 < len(first) < most
    assert {*zip(first.tolist(), second.tolist(), strict=True)} <= {*one_by_one(texts)} | {
        pair
        for pair, value in zip(
            zip(first.tolist(), second.tolist(), strict=True), cosine, strict=True
        )
        if value < LEAST_COSINE + 1e-8
    }


@pytest.mark.parametrize("most", [tested.MOST_COMPARISONS, 500])
def test_links_are_the_same_however_few_sentences_are_compared_at_once(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "MOST_COMPARISONS", most)
    texts = sentences(120, 1)
    whole = parts(similar_pairs(texts))
    for name in ("_CANDIDATES_AT_ONCE", "_COMPARISONS_AT_ONCE", "_ENTRIES_AT_ONCE"):
        monkeypatch.setattr(tested, name, 7)  # then only the rarest words make products
    for before, now in zip(whole, parts(similar_pairs(texts)), strict=True):
        np.testing.assert_array_equal(now, before)


def test_few_cosines_are_computed_of_sentences_that_are_not_similar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tested, "_COMPARISONS_AT_ONCE", 50)
    computed: list[int] = []
    cosines = tested._cosines
    monkeypatch.setattr(
        tested,
        "_cosines",
        lambda words, first, second: (computed.append(len(first)), cosines(words, first, second))[
            1
        ],
    )
    texts = sentences(400, 2)
    assert len(similar_pairs(texts).first) <= sum(computed) < 0.05 * len(texts) ** 2 / 2


@pytest.mark.parametrize("seed", range(3))
def test_what_groups_of_common_words_can_add_is_never_below_what_they_add(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(150, seed)
    monkeypatch.setattr(tested, "_COMPARISONS_AT_ONCE", 50)  # then most words are common
    few = parts(similar_pairs(texts))
    reach = tested._Common.reach
    monkeypatch.setattr(
        tested._Common,
        "reach",
        lambda bounds, products, *places: reach(bounds, products, *places) | True,
    )
    for one, whole in zip(few, parts(similar_pairs(texts)), strict=True):
        np.testing.assert_array_equal(one, whole)


def test_links_are_found_once_in_a_process_for_equal_sentences_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tested, "_remembered", {})
    texts, found = pl.Series(sentences(20, 5)), []
    monkeypatch.setattr(
        tested, "similar_pairs", lambda own: found.append(len(own)) or near([], [], [], []).links
    )
    for own in (texts, texts.clone(), texts.reverse(), texts[1:]):
        tested.links_of(own)
    assert found == [len(texts), len(texts), len(texts) - 1]
    for length in range(1, 70):
        tested.remembered(length, lambda: near([], [], [], []).links)
    assert next(iter(tested._remembered)) == 6


def test_no_sentence_has_no_link() -> None:
    assert len(similar_pairs([]).first) == len(similar_pairs(["", "!"]).first) == 0


def test_equal_sentences_are_one_and_links_have_their_numbers() -> None:
    ids = np.array([7, 9, 7, 3], dtype=np.uint64)
    found = near_duplicates(ids, pl.Series(["a b c d e f", "x y z", "a b c d e f", "a b c d e g"]))
    assert (found.ids[found.links.first].tolist(), found.ids[found.links.second].tolist()) == (
        [7],
        [3],
    )


def test_links_of_several_datasets_are_in_one_order() -> None:
    own = [
        near([1, 2, 3, 4], [0, 1], [2, 3], [0.9, 0.5]),
        near([5, 6], [0], [1], [0.7]),
    ]
    found = NearDuplicates.joined(own)
    assert found.ids[found.links.first].tolist() == [1, 5, 2]
    assert found.ids[found.links.second].tolist() == [3, 6, 4]


@pytest.mark.parametrize("seed", range(8))
def test_blocks_are_as_long_as_fit(seed: int) -> None:
    sizes, most = np.random.default_rng(seed).integers(0, 6, 12 * (seed > 0)), 7 if seed % 2 else 4
    blocks, start = [], 0
    while not blocks or start < len(sizes):
        stop = min(start + 1, len(sizes))
        while stop < len(sizes) and sum(sizes[start : stop + 1].tolist()) <= most:
            stop += 1
        blocks.append(slice(start, stop))
        start = stop
    assert list(tested._blocks(sizes, most)) == blocks
