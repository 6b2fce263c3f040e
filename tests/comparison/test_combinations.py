"""Combinations of two properties, searched on one half of topics and seeds and tested on the
other.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control, spearmanr

from benchmarks.pair_frames import pair_outcomes
from embedlab.analysis.evidence import ModelColumns, member_columns
from embedlab.analysis.seed_tests import benjamini_hochberg
from embedlab.comparison.combinations import (
    FEWEST_OF_HALF,
    FEWEST_SEEDS,
    SearchedContrasts,
    all_combinations,
    halved,
    halved_topics,
    search_combinations,
    surest,
)
from embedlab.comparison.evidence import item_topics
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import MODELS, made_pairs, negated, questions


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def with_seeds(
    outcomes: Outcomes, count: int, *, kind: float = 0.0
) -> tuple[Outcomes, list[ModelColumns]]:
    """Return OUTCOMES with COUNT seeds of two recipes; of the second one every other seed is better
    on questions by KIND.
    """
    generator = np.random.default_rng(7)
    gold = outcomes.rows["gold"].to_numpy()
    is_question = outcomes.sentences["sentence1"].str.ends_with("?").to_numpy()
    columns = {}
    for name in ("A", "B"):
        for seed in range(count):
            spread = 1.0 - kind * is_question * (name == "B") * (seed % 2)
            columns[f"{name}@{seed}"] = gold + spread * generator.normal(size=len(gold))
    models = [
        ModelColumns(
            name=name, members=tuple(f"{name}@{n}" for n in range(count)), seeds=tuple(range(count))
        )
        for name in "AB"
    ]
    found = replace(outcomes, predictions=pl.DataFrame(columns))
    found.computed.update(outcomes.computed)
    return found, models


def both(table: pl.DataFrame) -> pl.Expr:
    return questions(table) & negated(table)


def test_no_topic_is_in_both_halves_and_each_dataset_is_halved() -> None:
    generator = rng(1)
    topics = generator.integers(0, 300, 2000)
    topics[:400] = 0  # a large one
    blocks = np.repeat([0, 1], [1500, 500]).astype(np.uint16)
    among = generator.random(2000) < 0.9
    first = halved_topics(topics, blocks, among, rng(2))
    assert not {*topics[first & among]} & {*topics[~first & among]}
    assert not (first & ~among).any()
    for block in (0, 1):
        assert first[(blocks == block) & among].mean() == pytest.approx(0.5, abs=0.02)
    assert np.array_equal(first, halved_topics(topics, blocks, among, rng(2)))
    assert not np.array_equal(first, halved_topics(topics, blocks, among, rng(3)))


def test_similar_sentences_are_in_one_half() -> None:
    outcomes = made_pairs(300, 1)
    text = pl.concat([outcomes.sentences, outcomes.sentences.select(pl.all() + " again")])
    table = text.with_columns(
        dataset=pl.lit("made"),
        source=pl.lit(None, dtype=pl.String),
        pair=pl.int_range(600, dtype=pl.UInt32),
        gold=pl.concat([outcomes.rows["gold"]] * 2),
        dice=pl.concat([outcomes.computed["dice"]] * 2),
        first=pl.concat([outcomes.predictions["first"]] * 2),
        second=pl.concat([outcomes.predictions["second"]] * 2),
    )
    doubled = pair_outcomes(table, ["first", "second"], task="sts", averages={})
    topics = item_topics(doubled)
    assert np.mean(topics[:300] == topics[300:]) > 0.9
    halves = halved(doubled, topics, MODELS, None, rng())
    assert not {*topics[halves.search]} & {*topics[halves.test]}


def test_the_contrasts_of_the_search_are_those_of_a_plain_loop_over_its_half_alone() -> None:
    outcomes = made_pairs(400, 3)
    halves = halved(outcomes, item_topics(outcomes), MODELS, None, rng())
    found = all_combinations(outcomes, halves)
    assert len({(one.by, one.value) for one in found}) == len(found) > 20
    searched = SearchedContrasts(outcomes, ["first", "second"], found, halves.search)
    gold = outcomes.rows["gold"].to_numpy()
    for place in range(0, len(found), 7):
        one = found[place]
        own, others = (
            np.flatnonzero(halves.search & one.applies & holds) for holds in (one.holds, ~one.holds)
        )
        assert min(len(own), len(others)) >= FEWEST_OF_HALF
        for column, name in enumerate(("first", "second")):
            scores = outcomes.predictions[name].to_numpy()
            expected = (
                spearmanr(gold[own], scores[own])[0] - spearmanr(gold[others], scores[others])[0]
            )
            assert searched.points[place, column] == pytest.approx(expected)


def test_a_combination_that_a_model_was_damaged_on_is_confirmed() -> None:
    outcomes = made_pairs(1600, 4, damage=both)
    found = search_combinations(outcomes, item_topics(outcomes), MODELS, None, rng())
    first = found.tested[0]
    assert first.is_confirmed
    assert (first.found.by, first.found.value) == ("negation + question", "one + one")
    assert first.found.contrast.delta < 0 > first.searched
    assert found.reach == "checkpoints"
    assert found.items == (800, 800)


def test_what_half_of_the_seeds_show_is_tested_on_the_others() -> None:
    outcomes, models = with_seeds(made_pairs(400, 5), FEWEST_SEEDS)
    halves = halved(outcomes, item_topics(outcomes), models, None, rng())
    for model, search, test in zip(models, *halves.models, strict=True):
        assert {*search.members} | {*test.members} == {*model.members}
        assert not {*search.members} & {*test.members}
        assert [f"{model.name}@{seed}" for seed in test.seeds] == [*test.members]
    assert halves.reach == "models"
    assert halves.seeds == {"A": (3, 3), "B": (3, 3)}
    few = halved(
        outcomes,
        item_topics(outcomes),
        [replace(model, members=model.members[:5], seeds=model.seeds[:5]) for model in models],
        None,
        rng(),
    )
    assert few.reach == "checkpoints"
    assert few.models[0] == few.models[1]


def test_a_published_model_has_nothing_to_draw() -> None:
    outcomes = made_pairs(200, 6)
    published = [replace(model, is_published=True) for model in MODELS]
    assert halved(outcomes, item_topics(outcomes), published, None, rng()).reach == "models"
    assert (
        halved(outcomes, item_topics(outcomes), [published[0], MODELS[1]], None, rng()).reach
        == "checkpoints"
    )


def test_what_one_seed_alone_does_is_not_taken_for_the_recipe() -> None:
    outcomes, models = with_seeds(made_pairs(800, 8), FEWEST_SEEDS, kind=0.9)
    halves = halved(outcomes, item_topics(outcomes), models, None, rng(1))
    found = all_combinations(outcomes, halves)
    searched = SearchedContrasts(outcomes, member_columns(models), found, halves.search)
    _, alike = searched.contrasts([replace(model, members=model.members[1:2]) for model in models])
    _, mixed = searched.contrasts(models)
    by_question = [place for place, one in enumerate(found) if "question" in one.by]
    assert (
        np.abs(mixed[by_question]).max() < np.abs(alike[by_question]).max()
    )  # seeds that disagree count against a combination


def test_of_nearly_equal_sets_of_items_the_surest_alone_is_tested() -> None:
    outcomes = made_pairs(400, 9, damage=questions)
    halves = halved(outcomes, item_topics(outcomes), MODELS, None, rng())
    found = all_combinations(outcomes, halves)
    chosen = surest(SearchedContrasts(outcomes, ["first", "second"], found, halves.search), MODELS)
    for place, (one, _) in enumerate(chosen):
        for other, _ in chosen[:place]:
            assert (one.holds & other.holds).sum() < 0.8 * (one.holds | other.holds).sum()


def test_of_a_combination_and_what_it_is_compared_with_one_is_tested() -> None:
    outcomes = made_pairs(400, 9, damage=questions)
    halves = halved(outcomes, item_topics(outcomes), MODELS, None, rng())
    one = all_combinations(outcomes, halves)[0]
    mirrored = replace(one, value="all others", holds=one.applies & ~one.holds)
    searched = SearchedContrasts(outcomes, ["first", "second"], [one, mirrored], halves.search)
    assert searched.points[0] == pytest.approx(-searched.points[1])
    assert len(surest(searched, MODELS)) == 1


def test_a_test_looks_in_the_direction_of_the_search() -> None:
    outcomes = made_pairs(
        800, 14
    )  # of equal models, so that some contrasts of the search turn round
    found = search_combinations(outcomes, item_topics(outcomes), MODELS, None, rng(2)).tested
    agrees = [one.searched * one.found.contrast.delta > 0 for one in found]
    assert {*agrees} == {True, False}
    expected = [
        one.found.contrast.p / 2 if same else 1 - one.found.contrast.p / 2
        for one, same in zip(found, agrees, strict=True)
    ]
    assert [one.p for one in found] == pytest.approx(expected)
    assert [one.p_corrected for one in found] == pytest.approx(false_discovery_control(expected))
    assert [one.p for one in found] == sorted(one.p for one in found)


def test_a_selection_is_searched_alone() -> None:
    outcomes = made_pairs(600, 10)
    chosen = select_items(outcomes, "question:one", {})
    halves = halved(outcomes, item_topics(outcomes), MODELS, chosen, rng())
    assert np.array_equal(halves.search | halves.test, chosen.holds)
    assert not any("question" in one.by for one in all_combinations(outcomes, halves))


def test_items_of_one_topic_cannot_be_halved() -> None:
    outcomes = made_pairs(200, 11)
    same = pl.Series(np.zeros(200, np.uint64))
    one_topic = replace(
        outcomes, rows=outcomes.rows.with_columns(first_text=same, second_text=same)
    )
    found = search_combinations(one_topic, item_topics(one_topic), MODELS, None, rng())
    assert (found.combinations, found.tested) == (0, ())


def test_benjamini_and_hochberg_are_those_of_scipy() -> None:
    p = rng(12).random(30) ** 3
    assert benjamini_hochberg([*p]) == pytest.approx(false_discovery_control(p))
    known = benjamini_hochberg([0.02, float("nan"), 0.01])
    assert known[::2] == pytest.approx([0.02, 0.02])
    assert np.isnan(known[1])


def test_each_topic_goes_to_the_half_that_leaves_the_blocks_most_even_by_their_sizes() -> None:
    generator = rng(3)
    for _ in range(20):
        sizes = generator.permutation(
            np.arange(1, 25)
        )  # of different topics, so that their order is known
        topics = np.repeat(np.arange(len(sizes)), sizes)
        blocks = (generator.random(len(topics)) < 0.15).astype(
            np.uint16
        )  # topics cross a large and a small block
        first = halved_topics(topics, blocks, np.ones(len(topics), dtype=bool), generator)
        ahead, of_block = np.zeros(2), np.bincount(blocks, minlength=2)
        for topic in np.argsort(-sizes):
            own = np.bincount(blocks[topics == topic], minlength=2)
            uneven = [float((((ahead + sign * own) ** 2) / of_block).sum()) for sign in (1, -1)]
            goes_first = bool(first[topics == topic].all())
            assert goes_first or not first[topics == topic].any()
            if abs(uneven[0] - uneven[1]) > 1e-9:
                assert goes_first == (uneven[0] < uneven[1])
            ahead += own if goes_first else -own


def test_models_whose_members_are_in_both_halves_have_no_halved_seeds() -> None:
    outcomes, models = with_seeds(made_pairs(300, 1), FEWEST_SEEDS)
    fixed = ModelColumns(name="fixed", members=("A@0",), is_published=True)
    halves = halved(outcomes, item_topics(outcomes), [models[1], fixed], None, rng())
    assert halves.seeds == {"B": (FEWEST_SEEDS // 2, FEWEST_SEEDS - FEWEST_SEEDS // 2)}
