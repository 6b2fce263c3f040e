"""Which of two models is right on an item, and whether that is so with another seed."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata

from benchmarks.pair_frames import pair_outcomes
from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.comparison.evidence import item_topics
from embedlab.comparison.sides import Sides, sides_of, steadiness, typical
from embedlab.outcomes.frame import Outcomes
from tests.comparison.planted import MODELS, made_pairs


@pytest.mark.parametrize("scored", [500, 400])
def test_a_pair_is_on_the_side_of_the_model_that_is_right(scored: int) -> None:
    outcomes = made_pairs(500, 1, noise=2.0)
    is_scored = pl.when(pl.int_range(pl.len()) < scored)
    outcomes = replace(
        outcomes,
        predictions=outcomes.predictions.with_columns(is_scored.then("first").alias("first")),
    )
    table = outcomes.predictions.with_columns(gold=outcomes.rows["gold"], dataset=pl.lit("made"))
    both = with_rank_errors(table.filter(pl.all_horizontal(pl.all().is_not_null())), MODELS)
    a, b = (both[f"error({name})"].abs() for name in ("first", "second"))
    found = sides_of(outcomes, ["first"], ["second"])
    assert 10 < found.only_a.sum() < 200
    assert found.only_a[found.known].tolist() == ((a <= 10) & (b >= 30)).to_list()
    assert found.only_b[found.known].tolist() == ((b <= 10) & (a >= 30)).to_list()
    assert not (found.only_a | found.only_b)[~found.known].any()


def test_of_two_values_of_gold_the_side_of_the_best_threshold_is_right() -> None:
    outcomes = made_pairs(300, 3, noise=2.0)
    is_high = outcomes.rows["gold"] > outcomes.rows["gold"].quantile(0.7)
    outcomes = replace(outcomes, rows=outcomes.rows.with_columns(gold=is_high.cast(pl.Float64)))
    found = sides_of(outcomes, ["first"], ["second"])
    truth = is_high.to_numpy()
    for name, errors in zip(("first", "second"), found.errors, strict=True):
        scores = outcomes.predictions[name].to_numpy()
        gaps = {
            cut: (scores[truth] >= cut).mean() - (scores[~truth] >= cut).mean() for cut in scores
        }
        says_high = scores >= max(gaps, key=lambda cut: (gaps[cut], -cut))
        assert np.sign(errors).tolist() == (says_high.astype(int) - truth).tolist()
        assert (np.abs(errors[errors != 0]) >= 30).all()
    first, second = ((errors == 0) for errors in found.errors)
    assert found.only_a.tolist() == (first & ~second).tolist()
    assert found.only_b.tolist() == (second & ~first).tolist()
    assert found.only_a.sum() + found.only_b.sum() > 30


def test_a_classified_item_is_right_by_the_class_that_most_seeds_give(classified: Outcomes) -> None:
    found = sides_of(classified, ["one", "two", "three"], ["all-wrong"])
    assert found.only_a.tolist() == [
        True,
        False,
        False,
    ]  # three of three, one of three, and none predicted by all
    assert found.known.tolist() == [True, True, False]
    assert found.ranks is None


@pytest.mark.parametrize(
    ("measure", "predicted", "errors"),
    [
        (
            "ndcg@10",
            [1.0, 1.0, 10.0, 11.0, np.inf],
            [0, 0, 20, 100, 100],
        ),  # ranks: the lowest is the best
        (
            "entailed closer",
            [2.5, 0.1, 0.0, -0.1, -11.0],
            [0, 0, 20, 100, 100],
        ),  # margins: the entailed sentence is closer above 0
    ],
)
def test_a_query_is_right_by_its_rank_and_a_contrast_by_its_margin(
    measure: str, predicted: list[float], errors: list[float]
) -> None:
    outcomes = made_pairs(5, 1, noise=2.0)
    block = replace(outcomes.blocks[0], measures=(measure,))
    own = pl.DataFrame({"first": predicted, "second": predicted[::-1]})
    found = sides_of(replace(outcomes, blocks=(block,), predictions=own), ["first"], ["second"])
    assert [one.tolist() for one in found.errors] == [errors, errors[::-1]]
    assert found.ranks is None
    assert found.only_a.tolist() == [True, True, False, False, False]


def test_typical_items_lead_by_most_and_are_of_different_topics(table: pl.DataFrame) -> None:
    rng = np.random.default_rng(0)
    table = table.with_columns(
        A=pl.Series(table["gold"] + rng.normal(scale=2, size=table.height)),
        B=pl.Series(rng.random(table.height)),
    )
    doubled = pl.concat(
        [table, table.with_columns(pair=pl.col("pair") + 1000)]
    )  # each pair twice: topics of two rows
    outcomes = pair_outcomes(doubled, ["A", "B"], task="sts", averages={})
    sides = sides_of(outcomes, ["A"], ["B"])
    topics = item_topics(outcomes)
    rows = typical(sides, sides.only_a, topics, 4)
    lead = np.abs(sides.errors[1]) - np.abs(sides.errors[0])
    assert len({row % table.height for row in rows}) == len(rows) == 4
    best = [row for row in np.argsort(-lead, kind="stable").tolist() if sides.only_a[row]]
    assert rows[0] == best[0]
    assert lead[rows].tolist() == sorted(lead[rows], reverse=True)
    assert typical(sides, np.zeros(len(lead), dtype=bool), topics, 4) == []


def test_the_share_that_changes_sides_is_that_of_a_loop_over_seeds_and_items() -> None:
    outcomes = made_pairs(300, 2, noise=2.5)
    rng = np.random.default_rng(3)
    seeds = {
        f"many@{n}": outcomes.predictions["first"] + pl.Series(rng.normal(size=300))
        for n in (1, 2, 3)
    }
    outcomes = pair_outcomes(
        outcomes.sentences.with_columns(
            outcomes.predictions["second"],
            *(own.alias(name) for name, own in seeds.items()),
            dataset=pl.lit("made"),
            source=pl.lit(None, dtype=pl.String),
            pair=pl.int_range(300, dtype=pl.UInt32),
            gold=outcomes.rows["gold"],
            dice=outcomes.computed["dice"],
        ),
        [*seeds, "second"],
        task="sts",
        averages={},
    )
    many = ModelColumns(name="many", members=tuple(seeds), seeds=(1, 2, 3))
    (found,) = steadiness(outcomes, [many, MODELS[1]])
    sides = [sides_of(outcomes, [name], ["second"]) for name in seeds]
    before, changed = 0, 0
    for one in sides:
        for other in sides:
            for row in range(300):
                if one is not other and (one.only_a[row] or one.only_b[row]):
                    before += 1
                    changed += (one.only_a[row], one.only_b[row]) != (
                        other.only_a[row],
                        other.only_b[row],
                    )
    assert (found.model, found.seeds) == ("many", 3)
    assert found.changed == pytest.approx(changed / before)
    assert (found.items, type(found.items)) == (round(before / 6), int)
    assert 0.1 < found.changed < 0.9


def with_measure(
    outcomes: Outcomes, measure: str, gold: list[float], predictions: dict[str, list[float | None]]
) -> Outcomes:
    rows = outcomes.rows.head(len(gold)).with_columns(gold=pl.Series(gold, dtype=pl.Float64))
    found = pl.DataFrame(predictions, schema=dict.fromkeys(predictions, pl.Float64))
    return replace(
        outcomes,
        rows=rows,
        predictions=found,
        blocks=(replace(outcomes.blocks[0], measures=(measure,)),),
    )


def test_a_query_is_right_where_its_text_is_first_and_wrong_where_it_is_not_among_ten() -> None:
    ranks = {"one": [1, 2, 10, 11, None, 1], "two": [1, 2, 10, 11, 1, 20]}
    outcomes = with_measure(made_pairs(6, 1), "mrr", [0, 1, 2, 3, 4, 5], ranks)
    (first, second) = sides_of(outcomes, ["one", "two"], ["two"]).errors
    assert first.tolist()[:4] == [0, 20, 20, 100]
    assert np.isnan(first[4])
    assert first[5] == 100  # (1 + 20) / 2 is beyond ten
    assert second.tolist() == [0, 20, 20, 100, 0, 100]
    assert sides_of(outcomes, ["one"], ["two"]).only_a.tolist() == [False] * 5 + [True]


def test_a_class_that_half_of_the_seeds_give_is_neither_right_nor_wrong(
    classified: Outcomes,
) -> None:
    found = sides_of(classified, ["two", "all-wrong"], ["two"])
    assert found.errors[0].tolist() == [20, 100, 20]
    assert found.errors[1].tolist() == [0, 100, 0]
    assert not (found.only_a | found.only_b).any()


def test_only_where_all_items_are_scored_pairs_there_are_ranks(pairs_and_classes: Outcomes) -> None:
    assert sides_of(pairs_and_classes, ["first"], ["second"]).ranks is None
    pairs = made_pairs(50, 1)
    found = sides_of(pairs, ["first"], ["second"])
    assert found.ranks is not None
    assert found.gold_ranks is not None
    for name, ranks in (("first", found.ranks[0]), ("second", found.ranks[1])):
        by_hand = rankdata(pairs.predictions[name].to_numpy())
        assert np.corrcoef(ranks, by_hand)[0, 1] == pytest.approx(1)
    assert found.errors[0] == pytest.approx(found.ranks[0] - found.gold_ranks)
    of_pairs = replace(pairs.blocks[0], classes=("no", "yes"))  # labelled pairs are not scored
    labelled = replace(
        pairs,
        blocks=(of_pairs,),
        rows=pairs.rows.with_columns(gold=(pl.col("gold") > 2).cast(pl.Float64)),
    )
    assert sides_of(labelled, ["first"], ["second"]).ranks is None


def test_without_an_item_on_a_side_nothing_can_change() -> None:
    outcomes = made_pairs(40, 1)
    same = outcomes.predictions.select(
        pl.col("first").alias("many@1"), pl.col("first").alias("many@2"), "first"
    )
    many = ModelColumns(name="many", members=("many@1", "many@2"), seeds=(1, 2))
    (found,) = steadiness(replace(outcomes, predictions=same), [MODELS[0], many])
    assert (found.model, found.items) == ("many", 0)
    assert np.isnan(found.changed)


def test_right_is_within_ten_points_and_wrong_from_thirty_on() -> None:
    errors = (np.array([-10, 10, 10.5, 10, np.nan, 0]), np.array([30, -30, 30, 29.5, 50, np.nan]))
    sides, mirrored = Sides(errors=errors), Sides(errors=errors[::-1])
    assert (
        sides.only_a.tolist()
        == mirrored.only_b.tolist()
        == [True, True, False, False, False, False]
    )
    assert not (sides.only_b | mirrored.only_a).any()
    assert sides.known.tolist() == mirrored.known.tolist() == [True] * 4 + [False] * 2


def test_typical_items_are_those_of_a_greedy_search_by_the_lead_in_size() -> None:
    outcomes = made_pairs(60, 5)
    rng = np.random.default_rng(6)
    sides = Sides(errors=(rng.uniform(-90, 90, 60), rng.uniform(-90, 90, 60)))
    among = rng.random(60) < 0.5
    expected = sorted(
        np.flatnonzero(among),
        key=lambda row: -abs(abs(sides.errors[0][row]) - abs(sides.errors[1][row])),
    )
    assert typical(sides, among, item_topics(outcomes), 7) == expected[:7]
