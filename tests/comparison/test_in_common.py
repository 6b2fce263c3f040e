"""What the items of a side have in common."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from embedlab.analysis.seed_tests import holm
from embedlab.comparison.in_common import (
    FEWEST_WITH_WORD,
    Fact,
    find_common_facts,
    find_common_words,
    share_contributions,
)
from embedlab.outcomes.frame import Outcomes
from tests.comparison.planted import made_pairs

ALL = np.ones(300, dtype=bool)


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return made_pairs(300, 1)


def fact(holds: np.ndarray, applies: np.ndarray = ALL) -> Fact:
    return Fact(by="x", title="x", holds=holds, applies=applies)


def test_a_difference_of_shares_of_independent_items_has_the_interval_of_two_proportions(
    outcomes: Outcomes,
) -> None:
    rng = np.random.default_rng(2)
    holds = rng.random(300) < 0.3
    side = rng.random(300) < np.where(holds, 0.5, 0.2)
    (found,) = find_common_facts(outcomes, side, ALL, [fact(holds)])
    first, second = holds[side], holds[~side]
    assert (found.items, found.share, found.elsewhere) == (first.sum(), first.mean(), second.mean())
    plain = np.sqrt(sum(own.mean() * (1 - own.mean()) / len(own) for own in (first, second)))
    assert found.low < found.difference < found.high
    assert (found.high - found.low) / 2 == pytest.approx(norm.ppf(0.975) * plain, rel=0.05)
    assert found.p == pytest.approx(2 * norm.sf(found.difference / plain), abs=0.01)
    assert [replace(found, p_corrected=p).significant for p in (0.0499, 0.05)] == [True, False]


def test_a_fact_of_no_item_of_a_small_side_has_a_variance_all_the_same() -> None:
    side, holds = np.arange(40) < 10, np.arange(40) >= 34  # six of thirty others
    share, elsewhere, moved = share_contributions(holds, side)
    assert (share, elsewhere) == (0, 0.2)
    steadied = sum(p * (1 - p) / n for p, n in ((1 / 12, 12), (7 / 32, 32)))
    assert moved @ moved == pytest.approx(steadied)
    plain = np.where(side, (holds - 0.0) / 10, (0.2 - holds) / 30)
    assert moved == pytest.approx(np.sqrt(steadied / (plain @ plain)) * plain)


def test_a_fact_of_none_of_the_rows_or_of_all_is_left_out(outcomes: Outcomes) -> None:
    side = np.arange(300) < 40
    nothing_to_say = fact(side, applies=~side)
    of_the_side_alone = fact(np.arange(300) % 3 == 0, applies=side)
    assert (
        find_common_facts(
            outcomes, side, ALL, [fact(~ALL), fact(ALL), nothing_to_say, of_the_side_alone]
        )
        == []
    )


def test_a_word_that_a_side_has_more_often_is_found_and_others_are_not(outcomes: Outcomes) -> None:
    words = [f"{a} {b}".replace("?", "").split() for a, b in outcomes.sentences.iter_rows()]
    has = np.array(["w7" in own for own in words])
    side = has ^ (np.random.default_rng(5).random(300) < 0.08)
    found = find_common_words(outcomes, side, ALL)
    assert [one.title for one in found if one.significant] == ["word 'w7'"]
    assert found[0].items == (has & side).sum()
    counts = Counter(word for own in words for word in {*own})
    tested = sum(FEWEST_WITH_WORD <= count < 300 for count in counts.values())
    assert found[0].p_corrected == pytest.approx(tested * found[0].p)


def test_each_p_is_corrected_by_the_steps_of_holm(outcomes: Outcomes) -> None:
    rng = np.random.default_rng(6)
    side = rng.random(300) < 0.3
    found = find_common_facts(
        outcomes, side, ALL, [fact(side ^ (rng.random(300) < 0.42)) for _ in range(5)]
    )
    p = [one.p for one in found]
    assert p == sorted(p)
    assert [one.p_corrected for one in found] == pytest.approx(holm(p))


@pytest.mark.parametrize("is_more", [False, True])
def test_an_interval_ends_where_no_difference_of_shares_can_be(
    is_more: bool, outcomes: Outcomes
) -> None:
    among, side = np.arange(300) < 24, np.arange(300) < 12
    holds = (side == is_more) & (np.arange(300) != (0 if is_more else 12))
    (found,) = find_common_facts(outcomes, side, among, [fact(holds)])
    assert found.difference == pytest.approx(11 / 12 if is_more else -11 / 12)
    assert (found.high if is_more else -found.low) == 1
    assert -0.99 < (found.low if is_more else found.high) < 0.99


@pytest.mark.parametrize(
    ("rows", "is_counted"),
    [
        (range(19), False),
        (range(20), True),
        ([*range(5), *range(30, 210)], False),  # less often than elsewhere
        (range(300), False),
    ],
)
def test_a_word_is_counted_from_twenty_items_on_where_a_side_has_it_more_often(
    rows: Sequence[int], is_counted: bool, outcomes: Outcomes
) -> None:
    has = pl.int_range(pl.len()).is_in([*rows])
    text = pl.when(has).then(pl.col("sentence1") + " Zebra").otherwise("sentence1")
    with_word = replace(outcomes, sentences=outcomes.sentences.with_columns(sentence1=text))
    found = find_common_words(with_word, np.arange(300) < 30, ALL)
    assert ("word 'zebra'" in {one.title for one in found}) == is_counted
