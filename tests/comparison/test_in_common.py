"""What the items of a side have in common."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from embedlab.analysis.near_duplicates import near_duplicates
from embedlab.comparison import in_common as tested
from embedlab.comparison.in_common import (
    FEWEST_WITH_WORD,
    Common,
    Fact,
    in_common,
    share_contributions,
    words_in_common,
)
from embedlab.outcomes.frame import Outcomes
from tests.comparison.planted import made_pairs

ALL = np.ones(300, dtype=bool)


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return made_pairs(300, 1)


def facts(outcomes: Outcomes) -> dict[str, Fact]:
    texts = outcomes.sentences["sentence1"].to_list()
    holds = {
        "question": [text.endswith("?") for text in texts],
        "long": [text.count(" ") > 8 for text in texts],
    }
    return {
        name: Fact(by=name, title=name, holds=np.array(own), applies=ALL)
        for name, own in holds.items()
    }


def test_a_difference_of_shares_of_independent_items_has_the_interval_of_two_proportions(
    outcomes: Outcomes,
) -> None:
    fact = facts(outcomes)["question"]
    side = np.random.default_rng(2).random(300) < np.where(fact.holds, 0.5, 0.2)
    (found,) = in_common(outcomes, side, ALL, [fact])
    first, second = fact.holds[side], fact.holds[~side]
    assert (found.items, found.share, found.elsewhere) == (first.sum(), first.mean(), second.mean())
    plain = np.sqrt(sum(own.mean() * (1 - own.mean()) / len(own) for own in (first, second)))
    assert found.low < found.difference < found.high
    assert (found.high - found.low) / 2 == pytest.approx(norm.ppf(0.975) * plain, rel=0.05)
    assert found.p == pytest.approx(2 * norm.sf(found.difference / plain), abs=0.01)
    assert found.significant


def test_a_fact_of_no_item_of_a_small_side_has_a_variance_all_the_same() -> None:
    side = np.arange(40) < 10
    holds = np.arange(40) >= 34  # six of thirty others
    share, elsewhere, moved = share_contributions(holds, side)
    assert (share, elsewhere) == (0, 0.2)
    steadied = [(0 + 1) / 12, (6 + 1) / 32]
    assert moved @ moved == pytest.approx(
        sum(p * (1 - p) / n for p, n in zip(steadied, (12, 32), strict=True))
    )
    assert moved.sum() == pytest.approx(0)
    factor = moved[20] / (0.2 / 30)  # one of the others that has it not
    assert factor > 1
    assert moved == pytest.approx(factor * np.where(side, (holds - 0.0) / 10, (0.2 - holds) / 30))


def test_rows_of_one_topic_count_as_dependent(outcomes: Outcomes) -> None:
    rng = np.random.default_rng(4)
    topics = rng.integers(0, 30, 300)
    rows = outcomes.rows.with_columns(
        first_text=topics.astype(np.uint64), second_text=topics.astype(np.uint64)
    )
    dependent = Outcomes(
        **{name: getattr(outcomes, name) for name in ("predictions", "blocks", "sentences")},
        rows=rows,
    )
    of_topic = rng.random(30) < 0.4  # whole topics are on the side, and have the fact
    fact = Fact(by="x", title="x", holds=(rng.random(30) < 0.5)[topics], applies=ALL)
    (apart,), (together,) = (
        in_common(own, of_topic[topics], ALL, [fact]) for own in (outcomes, dependent)
    )
    assert together.difference == pytest.approx(apart.difference)
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_similar_sentences_count_as_one_topic(outcomes: Outcomes) -> None:
    texts = pl.DataFrame(
        {"sentence1": [f"{n % 40} apple{n % 40} tree{n % 40} {n}" for n in range(300)]}
    )  # forty topics, none twice
    dependent = replace(
        outcomes,
        blocks=(
            replace(outcomes.blocks[0], near=lambda: near_duplicates(numbers, texts["sentence1"])),
        ),
    )
    numbers = dependent.rows["first_text"].to_numpy()
    of_topic = np.random.default_rng(6).random((2, 40)) < 0.4
    side, holds = of_topic[:, np.arange(300) % 40]
    fact = Fact(by="x", title="x", holds=holds, applies=ALL)
    (apart,), (together,) = (in_common(own, side, ALL, [fact]) for own in (outcomes, dependent))
    assert together.difference == apart.difference
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_a_fact_of_none_of_the_rows_or_of_all_is_left_out(outcomes: Outcomes) -> None:
    side = np.arange(300) < 40
    none, both = (
        Fact(by="x", title="x", holds=np.full(300, fill_value=value), applies=ALL)
        for value in (False, True)
    )
    nothing_to_say = Fact(by="x", title="x", holds=side, applies=~side)
    of_the_side_alone = Fact(by="x", title="x", holds=np.arange(300) % 3 == 0, applies=side)
    assert in_common(outcomes, side, ALL, [none, both, nothing_to_say, of_the_side_alone]) == []


def test_a_word_that_a_side_has_more_often_is_found_and_others_are_not(outcomes: Outcomes) -> None:
    has = np.array([" w7 " in f" {a} {b} " for a, b in outcomes.sentences.iter_rows()])
    side = has ^ (np.random.default_rng(5).random(300) < 0.08)
    assert has.sum() >= FEWEST_WITH_WORD
    found = words_in_common(outcomes, side, ALL)
    assert [one.title for one in found if one.significant] == ["word 'w7'"]
    assert found[0].items == (has & side).sum()
    words = {
        word
        for row in outcomes.sentences.iter_rows()
        for text in row
        for word in text.replace("?", "").split()
    }
    counts = [
        sum(word in f"{a} {b}".replace("?", "").split() for a, b in outcomes.sentences.iter_rows())
        for word in words
    ]
    tested = sum(FEWEST_WITH_WORD <= count < 300 for count in counts)
    assert found[0].p_corrected == pytest.approx(tested * found[0].p)


def test_each_p_is_corrected_by_the_steps_of_holm(outcomes: Outcomes) -> None:
    rng = np.random.default_rng(6)
    side = rng.random(300) < 0.3
    facts = [
        Fact(by="x", title=f"x{n}", holds=side ^ (rng.random(300) < 0.42), applies=ALL)
        for n in range(5)
    ]
    found = in_common(outcomes, side, ALL, facts)
    p = [one.p for one in found]
    assert p == sorted(p)
    assert 0 < p[0] < p[4]
    assert [one.p_corrected for one in found] == pytest.approx(
        [min(1, max((5 - k) * p[k] for k in range(at + 1))) for at in range(5)]
    )


def test_the_p_of_independent_shares_is_that_of_two_proportions() -> None:
    hits, items, side, rows = np.array([8, 3, 0, 20]), np.array([30, 25, 40, 20]), 20, 100
    found = tested._independent_p(hits, items, side, rows)
    for p, own, both in zip(found[:3], hits, items, strict=False):
        first, second = own / side, (both - own) / (rows - side)
        spread = np.sqrt(first * (1 - first) / side + second * (1 - second) / (rows - side))
        assert p == pytest.approx(2 * norm.sf(abs(first - second) / spread))
    assert found[3] == 0  # all of the side and none of the others


@pytest.mark.parametrize("is_more", [False, True])
def test_an_interval_ends_where_no_difference_of_shares_can_be(
    is_more: bool, outcomes: Outcomes
) -> None:
    among, side = np.arange(300) < 24, np.arange(300) < 12
    holds = (side == is_more) & (np.arange(300) != (0 if is_more else 12))
    (found,) = in_common(outcomes, side, among, [Fact(by="x", title="x", holds=holds, applies=ALL)])
    assert found.difference == pytest.approx(11 / 12 if is_more else -11 / 12)
    assert (found.high if is_more else -found.low) == 1
    assert -0.99 < (found.low if is_more else found.high) < 0.99


def test_a_difference_at_the_level_itself_is_not_significant(outcomes: Outcomes) -> None:
    side = np.arange(300) < 60
    (found,) = in_common(
        outcomes, side, ALL, [Fact(by="x", title="x", holds=np.arange(300) % 2 == 0, applies=ALL)]
    )
    assert not replace(found, p_corrected=0.05).significant
    assert replace(found, p_corrected=0.0499).significant


def with_word(outcomes: Outcomes, rows: np.ndarray) -> Outcomes:
    """The same items with a word more in the first sentence of ROWS."""
    has = pl.Series(np.isin(np.arange(300), rows))
    texts = outcomes.sentences.with_columns(
        sentence1=pl.when(has).then(pl.col("sentence1") + " Zebra").otherwise("sentence1")
    )
    return Outcomes(
        **{name: getattr(outcomes, name) for name in ("rows", "predictions", "blocks")},
        sentences=texts,
    )


def found_words(outcomes: Outcomes, side: np.ndarray) -> dict[str, Common]:
    return {one.title: one for one in words_in_common(outcomes, side, ALL)}


@pytest.mark.parametrize("count", [19, 20])
def test_a_word_is_counted_from_twenty_items_on(count: int, outcomes: Outcomes) -> None:
    found = found_words(with_word(outcomes, np.arange(count)), np.arange(300) < 30)
    assert ("word 'zebra'" in found) == (count == 20)


@pytest.mark.parametrize("count", [299, 300])
def test_a_word_of_all_items_is_not_counted(count: int, outcomes: Outcomes) -> None:
    every = with_word(outcomes, np.arange(count))
    side, lacking = np.arange(300) < 30, np.arange(300) >= 30
    assert "word 'zebra'" not in found_words(every, side)  # a difference of one item is not clear
    texts = every.sentences["sentence1"]
    assert texts.str.contains("Zebra").sum() == count
    assert "word 'zebra'" not in found_words(every, lacking)


@pytest.mark.parametrize("side_size", [30, 270])
def test_a_word_that_a_side_has_less_often_is_not_one_of_its_words(
    side_size: int, outcomes: Outcomes
) -> None:
    side = np.arange(300) < side_size
    fewer = np.concatenate(
        [np.arange(side_size // 6), np.arange(side_size, 300)[: 2 * (300 - side_size) // 3]]
    )
    assert "word 'zebra'" not in found_words(with_word(outcomes, fewer), side)
