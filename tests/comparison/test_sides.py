"""Which of two models is right on an item, and whether that is so with another seed."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.pairing import Pairing, with_pairing
from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.sides import sides_of, steadiness, typical
from embedlab.comparison.topics import item_topics
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import pair_outcomes
from tests.comparison.planted import MODELS, made_pairs


def test_a_pair_is_on_the_side_that_the_dashboard_shows() -> None:
    outcomes = made_pairs(500, 1, noise=2.0)
    table = outcomes.predictions.with_columns(gold=outcomes.rows["gold"], dataset=pl.lit("made"))
    shown = with_pairing(with_rank_errors(table, MODELS), Pairing(reference="first", other="second"))
    found = sides_of(outcomes, ["first"], ["second"])
    assert 10 < found.only_a.sum() < 200
    assert found.only_a.tolist() == (shown["right"] == "A").fill_null(value=False).to_list()
    assert found.only_b.tolist() == (shown["right"] == "B").fill_null(value=False).to_list()


def test_a_classified_item_is_right_by_the_class_that_most_seeds_give(classified: Outcomes) -> None:
    found = sides_of(classified, ["one", "two", "three"], ["all-wrong"])
    assert found.only_a.tolist() == [True, False, False]  # three of three, one of three, and none predicted by all
    assert found.known.tolist() == [True, True, False]
    assert found.ranks is None


@pytest.mark.parametrize(
    ("measure", "predicted", "errors"),
    [
        ("ndcg@10", [1.0, 1.0, 10.0, 11.0, np.inf], [0, 0, 20, 100, 100]),  # ranks: the lowest is the best
        ("entailed closer", [2.5, 0.1, 0.0, -0.1, -11.0], [0, 0, 20, 100, 100]),  # margins: the entailed sentence is closer above 0
    ],
)
def test_a_query_is_right_by_its_rank_and_a_contrast_by_its_margin(measure: str, predicted: list[float], errors: list[float]) -> None:
    outcomes = made_pairs(5, 1, noise=2.0)
    block = replace(outcomes.blocks[0], measures=(measure,))
    own = pl.DataFrame({"first": predicted, "second": predicted[::-1]})
    found = sides_of(replace(outcomes, blocks=(block,), predictions=own), ["first"], ["second"])
    assert [one.tolist() for one in found.errors] == [errors, errors[::-1]]
    assert found.ranks is None
    assert found.only_a.tolist() == [True, True, False, False, False]


def test_typical_items_lead_by_most_and_are_of_different_topics(table: pl.DataFrame) -> None:
    rng = np.random.default_rng(0)
    doubled = pl.concat([table, table.with_columns(pair=pl.col("pair") + 1000)])  # each pair twice: topics of two rows
    doubled = doubled.with_columns(A=pl.Series(doubled["gold"] + rng.normal(scale=2, size=doubled.height)), B=pl.Series(rng.random(260)))
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
    seeds = {f"many@{n}": outcomes.predictions["first"] + pl.Series(rng.normal(size=300)) for n in (1, 2, 3)}
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
                    changed += (one.only_a[row], one.only_b[row]) != (other.only_a[row], other.only_b[row])
    assert (found.model, found.seeds) == ("many", 3)
    assert found.changed == pytest.approx(changed / before)
    assert 0.1 < found.changed < 0.9
