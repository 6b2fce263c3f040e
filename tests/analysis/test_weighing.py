"""A slice weighed: what its rows and its seeds vary, which topic carries it, and which slices have
no interval.
"""

from math import isnan

import numpy as np
import pytest

from embedlab.analysis.evidence import Evidence, ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.sign_flips import FEWEST_TOPICS
from embedlab.analysis.uncertainty import FEWEST_ROWS
from embedlab.analysis.weighing import DECIDING, LARGE_TOPIC, Topic, Weighed

RUNS = tuple(frozenset({f"run@{seed}"}) for seed in (1, 2, 3))
A = ModelColumns(name="a", members=("a@1", "a@2", "a@3"), seeds=(1, 2, 3))
B = ModelColumns(name="b", members=("b@1", "b@2", "b@3"), seeds=(1, 2, 3))
FIXED = ModelColumns(name="fixed", members=("fixed",))


def slice_of(
    metric: str, members: int, rows: int = 300, texts: np.ndarray | None = None, seed: int = 0
) -> Evidence:
    rng = np.random.default_rng(seed)
    if MEASURES[metric].is_of_classes:
        gold = rng.integers(0, 2, rows)
        predicted = {
            place: np.where(rng.random(rows) < 0.1 + 0.05 * place, 1 - gold, gold)
            for place in range(members)
        }
    else:
        gold = rng.normal(size=rows)
        predicted = {
            place: gold + rng.normal(scale=0.5 + 0.2 * place, size=rows) for place in range(members)
        }
    return evidence_of("sts", "s", gold, predicted, members, measure=MEASURES[metric], texts=texts)


def topics_of(sizes: list[int]) -> np.ndarray:
    """Texts of rows of which each topic has one first sentence."""
    rows = sum(sizes)
    return np.stack(
        [np.repeat(np.arange(len(sizes)), sizes), 1_000 + np.arange(rows)], axis=1
    ).astype(np.uint64)


def test_the_seeds_of_a_recipe_vary_and_a_fixed_model_adds_nothing_to_them() -> None:
    evidence = slice_of("spearman", 4)
    weighed = Weighed(evidence, [A, FIXED])
    scores = evidence.points[:3]
    (own, other) = weighed.spreads["a", "fixed"]
    assert own.scatter == pytest.approx(((scores - scores.mean()) ** 2).sum())
    assert (own.members, own.is_recipe, other.members, other.is_recipe) == (3, True, 1, False)
    assert weighed.of_pair["a", "fixed"].seeds == pytest.approx(
        max(own.scatter - own.noise, 0) / 2 / 3
    )
    assert weighed.single["a"].seeds == weighed.of_pair["a", "fixed"].seeds > 0
    assert weighed.single["fixed"].seeds == 0


def test_models_that_share_runs_are_compared_seed_by_seed() -> None:
    evidence = slice_of("spearman", 6)
    shared = [
        ModelColumns(name=one.name, members=one.members, seeds=one.seeds, runs=RUNS)
        for one in (A, B)
    ]
    apart = evidence.points[:3] - evidence.points[3:]
    (found,) = Weighed(evidence, shared).spreads["a", "b"]
    assert found.scatter == pytest.approx(((apart - apart.mean()) ** 2).sum())
    assert found.noise > 0
    first, second = Weighed(evidence, [A, B]).spreads["a", "b"]
    for spread, scores in ((first, evidence.points[:3]), (second, evidence.points[3:])):
        assert spread.scatter == pytest.approx(((scores - scores.mean()) ** 2).sum())


@pytest.mark.parametrize("topics", range(1, FEWEST_TOPICS + 2))
def test_fewer_topics_than_six_are_not_tested(topics: int) -> None:
    weighed = Weighed(
        slice_of(
            "spearman",
            2,
            60,
            topics_of([60 // topics] * topics + [60 % topics] * (60 % topics > 0)),
        ),
        [FIXED, named("x")],
    )
    count = topics + (60 % topics > 0)
    if count >= FEWEST_TOPICS:
        assert weighed.lack == ""
        assert 0 < weighed.p["fixed", "x"] < 1
    else:
        assert f"{'one topic' if count == 1 else f'{count} topics'}: no interval" in weighed.lack
        assert isnan(weighed.p["fixed", "x"])
        assert weighed.largest_topic("fixed") is None


@pytest.mark.parametrize("rows", [FEWEST_ROWS - 1, FEWEST_ROWS])
def test_fewer_rows_than_ten_are_not_tested(rows: int) -> None:
    weighed = Weighed(slice_of("spearman", 2, rows), [FIXED, named("x")])
    assert bool(weighed.lack) == isnan(weighed.p["fixed", "x"]) == (rows < FEWEST_ROWS)


def named(name: str) -> ModelColumns:
    return ModelColumns(name=name, members=(name,))


def test_the_largest_topic_is_that_of_the_largest_squared_contribution() -> None:
    sizes = [40, 5, 5] + [1] * 60
    evidence = slice_of("accuracy", 2, 110, topics_of(sizes))
    weighed = Weighed(evidence, [FIXED, named("x")])
    assert weighed.topics is not None
    apart = weighed.topics.sums[0] - weighed.topics.sums[1]
    found = weighed.topic_of("fixed", "x")
    assert found is not None
    largest = int((apart**2).argmax())
    assert evidence.rows is not None
    assert found.rows == np.count_nonzero(evidence.rows.row_topics == largest)
    assert found.share == pytest.approx(apart[largest] ** 2 / (apart**2).sum())
    own = weighed.topic_of("fixed")
    assert own is not None
    assert own.share == pytest.approx(
        (weighed.topics.sums[0] ** 2).max() / (weighed.topics.sums[0] ** 2).sum()
    )


def test_of_several_differences_the_topic_with_the_largest_share_is_shown_and_of_one_model_its_own() -> (
    None
):
    evidence = slice_of("accuracy", 3, 110, topics_of([40, 5, 5] + [1] * 60))
    models = [FIXED, named("x"), named("y")]
    weighed = Weighed(evidence, models)
    found = [weighed.topic_of(name, "fixed") for name in ("x", "y")]
    assert weighed.largest_topic("fixed") == max(
        (one for one in found if one is not None), key=lambda one: one.share
    )
    alone = Weighed(evidence, [FIXED])
    assert alone.largest_topic("fixed") == alone.topic_of("fixed")


@pytest.mark.parametrize(
    ("rows", "share", "is_large"),
    [(2, 0.9, False), (3, LARGE_TOPIC, True), (3, 0.49, False), (19, 0.9, True), (20, 0.9, False)],
)
def test_a_topic_is_large_from_half_of_the_variance_and_three_rows_on_but_not_all_of_twenty(
    rows: int, share: float, is_large: bool
) -> None:
    assert Topic(rows=rows, share=share).is_large(20) == is_large


def test_a_difference_hangs_on_a_topic_without_which_the_order_turns_or_which_outweighs_all_others() -> (
    None
):
    assert Topic(rows=5, share=DECIDING, without=0.1).decides(0.1, 20)
    assert not Topic(rows=5, share=0.79, without=0.1).decides(0.1, 20)
    assert Topic(rows=5, share=0.6, without=-0.1).decides(0.1, 20)
    assert not Topic(rows=5, share=0.6, without=0.0).decides(0.1, 20)
    assert not Topic(rows=5, share=0.9).decides(0.1, 20)  # what is left is unknown
    assert not Topic(rows=2, share=0.9, without=-0.1).decides(0.1, 20)
