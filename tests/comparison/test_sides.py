"""Which of two models is right on an item, and whether that is so with another seed."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata

from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.comparison.sides import Sides, sides_of, steadiness, typical
from embedlab.outcomes.frame import Outcomes
from tests.analysis.made import recipe
from tests.comparison.planted import MODELS, made_pairs, with_facts, with_predictions


@pytest.mark.parametrize("scored", [500, 400])
def test_errors_are_of_ranks_among_the_pairs_that_both_score(scored: int) -> None:
    outcomes = made_pairs(500, 1, noise=2.0)
    first = pl.when(pl.int_range(pl.len()) < scored).then("first")
    outcomes = with_predictions(outcomes, first=first)
    table = outcomes.predictions.with_columns(gold=outcomes.rows["gold"], dataset=pl.lit("made"))
    both = with_rank_errors(table.drop_nulls(), MODELS)
    found = sides_of(outcomes, ["first"], ["second"])
    is_scored = found.scored_by_both
    assert is_scored.tolist() == [row < scored for row in range(500)]
    for name, errors in zip(("first", "second"), found.errors, strict=True):
        assert errors[is_scored] == pytest.approx(both[f"error({name})"].to_numpy())
    assert not (found.only_a | found.only_b)[~is_scored].any()


def test_of_two_values_of_gold_the_side_of_the_best_threshold_is_right() -> None:
    outcomes = made_pairs(300, 3, noise=2.0)
    truth = (outcomes.rows["gold"] > outcomes.rows["gold"].quantile(0.7)).to_numpy()
    outcomes = with_facts(outcomes, gold=pl.Series(truth, dtype=pl.Float64))
    found = sides_of(outcomes, ["first"], ["second"])
    for name, errors in zip(("first", "second"), found.errors, strict=True):
        scores = outcomes.predictions[name].to_numpy()
        gaps = {
            cut: (scores[truth] >= cut).mean() - (scores[~truth] >= cut).mean() for cut in scores
        }
        says_high = scores >= max(gaps, key=lambda cut: (gaps[cut], -cut))
        assert np.sign(errors).tolist() == (says_high.astype(int) - truth).tolist()
        ranks = 100 * (rankdata(scores) - 0.5) / 300
        distances = np.abs(ranks - ranks[says_high].min())
        expected = np.where(says_high == truth, 0, np.maximum(distances, 30))
        assert np.abs(errors) == pytest.approx(expected)


def test_a_classified_item_is_right_by_the_class_that_most_seeds_give(classified: Outcomes) -> None:
    found = sides_of(classified, ["one", "two", "three"], ["all-wrong"])
    # Three of three, one of three, and none predicted by all.
    assert found.only_a.tolist() == [True, False, False]
    assert found.scored_by_both.tolist() == [True, True, False]
    half, whole = sides_of(classified, ["two", "all-wrong"], ["two"]).errors
    assert (half.tolist(), whole.tolist()) == ([20, 100, 20], [0, 100, 0])


def test_typical_items_lead_by_most_and_are_of_different_topics() -> None:
    rng = np.random.default_rng(6)
    sides = Sides(errors=(rng.uniform(-90, 90, 60), rng.uniform(-90, 90, 60)))
    topics, among = np.arange(60) // 2, rng.random(60) < 0.5
    lead = np.abs(np.abs(sides.errors[0]) - np.abs(sides.errors[1]))
    best = [row for row in np.argsort(-lead).tolist() if among[row]]
    apart: list[int] = []
    for row in best:
        if topics[row] not in topics[apart]:
            apart.append(row)
    assert apart[:15] != best[:15]
    assert typical(sides, among, topics, 15) == apart[:15]
    assert typical(sides, np.zeros(60, dtype=bool), topics, 4) == []


def test_the_share_that_changes_sides_is_that_of_a_loop_over_seeds_and_items() -> None:
    outcomes, rng = made_pairs(300, 2, noise=2.5), np.random.default_rng(3)
    many = recipe("many", 3)
    seeds = {name: pl.col("first") + pl.Series(rng.normal(size=300)) for name in many.members}
    outcomes = with_predictions(outcomes, **seeds)
    (found,) = steadiness(outcomes, [many, MODELS[1]])
    sides = [sides_of(outcomes, [name], ["second"]) for name in many.members]
    before = changed = 0
    for one, other in permutations(sides, 2):
        for row in np.flatnonzero(one.only_a | one.only_b):
            before += 1
            changed += not (other.only_a if one.only_a[row] else other.only_b)[row]
    assert (found.model, found.seeds, found.items) == ("many", 3, round(before / 6))
    assert found.changed == pytest.approx(changed / before)
    assert 0.1 < found.changed < 0.9


@pytest.mark.parametrize(
    ("measure", "predicted", "errors"),
    [
        ("mrr", [1, 2, 10, 11, None, 1], [0, 20, 20, 100, np.nan, 0]),
        ("ndcg@10", [1, 1, 10, 11, np.inf, 1], [0, 0, 20, 100, 100, 0]),
        ("entailed closer", [2.5, 0.1, 0.0, -0.1, -11.0, 0.1], [0, 0, 20, 100, 100, 0]),
    ],
)
def test_a_query_is_right_where_its_text_is_first_and_wrong_where_it_is_not_among_ten(
    measure: str, predicted: list[float | None], errors: list[float]
) -> None:
    """And a contrast by its margin: the entailed sentence is closer above 0."""
    outcomes = made_pairs(6, 1)
    block = replace(outcomes.blocks[0], measures=(measure,))
    columns = {"one": predicted, "many": predicted, "two": [20.0] * 6}
    own = replace(outcomes, blocks=(block,), predictions=pl.DataFrame(columns, strict=False))
    found = sides_of(own, ["one", "many"], ["two"])
    np.testing.assert_array_equal(found.errors[0], errors)
    assert found.ranks is None
    assert found.scored_by_both.tolist() == [not np.isnan(error) for error in errors]


def test_only_where_all_items_are_scored_pairs_there_are_ranks(pairs_and_classes: Outcomes) -> None:
    assert sides_of(pairs_and_classes, ["first"], ["second"]).ranks is None
    pairs = made_pairs(50, 1)
    found = sides_of(pairs, ["first"], ["second"])
    by_hand = [
        100 * (rankdata(values.to_numpy()) - 0.5) / 50
        for values in (pairs.predictions["second"], pairs.rows["gold"])
    ]
    assert [found.ranks[1], found.gold_ranks] == [pytest.approx(values) for values in by_hand]


def test_without_an_item_on_a_side_nothing_can_change() -> None:
    outcomes = made_pairs(40, 1)
    many = recipe("many", 2)
    same = with_predictions(outcomes, **dict.fromkeys(many.members, pl.col("first")))
    assert steadiness(same, [MODELS[0], many]) == []


def test_right_is_within_ten_points_and_wrong_from_thirty_on() -> None:
    errors = (np.array([-10, 10, 10.5, 10, np.nan, 0]), np.array([30, -30, 30, 29.5, 50, np.nan]))
    sides, mirrored = Sides(errors=errors), Sides(errors=errors[::-1])
    expected = [True, True, False, False, False, False]
    assert sides.only_a.tolist() == mirrored.only_b.tolist() == expected
    assert not (sides.only_b | mirrored.only_a).any()
    assert sides.scored_by_both.tolist() == [True] * 4 + [False] * 2
