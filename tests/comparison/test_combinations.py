"""Combinations of two properties, searched on one half of topics and seeds and tested on the
other.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

from embedlab.analysis.evidence import ModelColumns, member_columns
from embedlab.analysis.influence import spearman_influences
from embedlab.analysis.seed_tests import benjamini_hochberg
from embedlab.comparison.combinations import (
    FEWEST_OF_HALF,
    FEWEST_SEEDS,
    CombinationSearch,
    Halves,
    SearchedContrasts,
    all_combinations,
    draw_halves,
    halve_topics,
    most_certain,
    search_combinations,
)
from embedlab.comparison.evidence import item_topics
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.selection import ItemSelection, select_items
from tests.analysis.made import recipe
from tests.comparison.planted import (
    MODELS,
    NEGATED,
    QUESTIONS,
    correlation,
    holds,
    made_pairs,
    with_facts,
)


def halves_of(
    outcomes: Outcomes,
    models: Sequence[ModelColumns] = MODELS,
    chosen: ItemSelection | None = None,
    seed: int = 0,
) -> Halves:
    return draw_halves(outcomes, item_topics(outcomes), models, chosen, np.random.default_rng(seed))


def searched(outcomes: Outcomes, seed: int = 0) -> CombinationSearch:
    rng = np.random.default_rng(seed)
    return search_combinations(outcomes, item_topics(outcomes), MODELS, None, rng)


def with_seeds(
    outcomes: Outcomes, count: int, *, kind: float = 0.0
) -> tuple[Outcomes, list[ModelColumns]]:
    """Return OUTCOMES with COUNT seeds of two recipes; of the second one every other seed is better
    on questions by KIND.
    """
    generator = np.random.default_rng(7)
    gold, is_question = outcomes.rows["gold"].to_numpy(), holds(outcomes, QUESTIONS)
    models = [recipe(name, count) for name in "AB"]
    columns = {}
    for model in models:
        for seed, member in enumerate(model.members):
            spread = 1.0 - kind * is_question * (model.name == "B") * (seed % 2)
            columns[member] = gold + spread * generator.normal(size=len(gold))
    found = replace(outcomes, predictions=pl.DataFrame(columns))
    found.computed.update(outcomes.computed)
    return found, models


def test_the_contrasts_of_the_search_are_those_of_a_plain_loop_over_its_half_alone() -> None:
    outcomes = made_pairs(400, 3)
    halves = halves_of(outcomes)
    found = all_combinations(outcomes, halves)
    assert len({(one.by, one.value) for one in found}) == len(found) > 20
    contrasts = SearchedContrasts(outcomes, ["first", "second"], found, halves.search)
    gold, scores = outcomes.rows["gold"].to_numpy(), outcomes.predictions.to_numpy().T
    for place in range(0, len(found), 7):
        one = found[place]
        sides = [
            np.flatnonzero(halves.search & one.applies & own) for own in (one.holds, ~one.holds)
        ]
        assert min(map(len, sides)) >= FEWEST_OF_HALF
        own, others = (
            np.array([correlation(outcomes, name, rows) for name in ("first", "second")])
            for rows in sides
        )
        assert contrasts.points[place] == pytest.approx(own - others)
        influences = spearman_influences(gold[halves.search], scores[:, halves.search])
        variance = np.var(influences[1] - influences[0]) * sum(1 / len(rows) for rows in sides)
        expected = np.diff(own - others)[0] / np.sqrt(variance)
        assert contrasts.contrasts(MODELS)[1][place] == pytest.approx(expected)


def test_a_combination_that_a_model_was_damaged_on_is_confirmed() -> None:
    found = searched(made_pairs(1600, 4, damage=QUESTIONS & NEGATED))
    first = found.tested[0]
    kind = first.kind_difference
    assert [*found.confirmed] == [one for one in found.tested if one.p_corrected < 0.05]
    assert first in found.confirmed
    assert (kind.by, kind.value) == ("negation + question", "one + one")
    assert kind.contrast.delta < 0 > first.searched
    assert (found.reach, found.items) == ("checkpoints", (800, 800))


def test_what_half_of_the_seeds_show_is_tested_on_the_others() -> None:
    outcomes, models = with_seeds(made_pairs(200, 5), FEWEST_SEEDS)
    halves = halves_of(outcomes, models)
    assert (halves.reach, halves.seeds) == ("models", {"A": (3, 3), "B": (3, 3)})
    for model, search, test in zip(models, *halves.models, strict=True):
        assert sorted([*search.members, *test.members]) == [*model.members]
        assert [f"{model.name}@{seed}" for seed in test.seeds] == [*test.members]
    few = [replace(model, members=model.members[:5], seeds=model.seeds[:5]) for model in models]
    whole = halves_of(outcomes, few)
    assert (whole.reach, whole.models[0]) == ("checkpoints", whole.models[1])
    fixed = ModelColumns(name="fixed", members=("A@1",), is_published=True)  # nothing to draw
    one = halves_of(outcomes, [models[1], fixed])
    assert (one.reach, one.seeds) == ("models", {"B": (3, 3)})


def test_what_one_seed_alone_does_is_not_taken_for_the_recipe() -> None:
    outcomes, models = with_seeds(made_pairs(800, 8), FEWEST_SEEDS, kind=0.9)
    halves = halves_of(outcomes, models, seed=1)
    found = all_combinations(outcomes, halves)
    contrasts = SearchedContrasts(outcomes, member_columns(models), found, halves.search)
    _, alike = contrasts.contrasts([replace(model, members=model.members[1:2]) for model in models])
    _, mixed = contrasts.contrasts(models)
    questions = [place for place, one in enumerate(found) if "question" in one.by]
    # Seeds that disagree count against a combination.
    assert np.abs(mixed[questions]).max() < np.abs(alike[questions]).max()


def test_of_nearly_equal_sets_of_items_and_of_a_set_and_all_others_the_surest_alone_is_tested() -> (
    None
):
    outcomes = made_pairs(400, 9, damage=QUESTIONS)
    halves = halves_of(outcomes)
    found = all_combinations(outcomes, halves)
    found.append(replace(found[0], value="all others", holds=found[0].applies & ~found[0].holds))
    contrasts = SearchedContrasts(outcomes, ["first", "second"], found, halves.search)
    assert contrasts.points[0] == pytest.approx(-contrasts.points[-1])
    chosen = [one for one, _ in most_certain(contrasts, MODELS)]
    for one, other in combinations(chosen, 2):
        assert (one.holds & other.holds).sum() < 0.8 * (one.holds | other.holds).sum()
        assert (one.holds ^ other.holds ^ one.applies).any()


def test_a_test_looks_in_the_direction_of_the_search() -> None:
    # Of equal models, so that some contrasts of the search turn round.
    found = searched(made_pairs(800, 14), seed=2).tested
    agrees = [one.searched * one.kind_difference.contrast.delta > 0 for one in found]
    assert {*agrees} == {True, False}
    halved = [one.kind_difference.contrast.p / 2 for one in found]
    expected = [p if same else 1 - p for p, same in zip(halved, agrees, strict=True)]
    assert [one.p for one in found] == pytest.approx(expected)
    assert [one.p_corrected for one in found] == pytest.approx(false_discovery_control(expected))
    assert expected == sorted(expected)


def test_a_selection_is_searched_alone() -> None:
    outcomes = made_pairs(600, 10)
    chosen = select_items(outcomes, "question:one", {})
    halves = halves_of(outcomes, chosen=chosen)
    assert np.array_equal(halves.search | halves.test, chosen.is_selected)
    assert not np.array_equal(halves.search, halves_of(outcomes, chosen=chosen, seed=1).search)
    assert not any("question" in one.by for one in all_combinations(outcomes, halves))


def test_items_of_one_topic_cannot_be_halved() -> None:
    same = pl.lit(0, pl.UInt64)
    found = searched(with_facts(made_pairs(200, 11), first_text=same, second_text=same))
    assert (found.combinations, found.tested) == (0, ())


def test_what_has_no_p_is_no_test_that_others_are_corrected_for() -> None:
    known = benjamini_hochberg([0.02, float("nan"), 0.01])
    assert known == pytest.approx([0.02, float("nan"), 0.02], nan_ok=True)


def test_each_topic_goes_to_the_half_that_leaves_the_blocks_most_even_by_their_sizes() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        sizes = rng.permutation(np.arange(4, 100, 4))  # all differ, so that their order is known
        topics = np.repeat(np.arange(24), sizes)
        blocks = (rng.random(len(topics)) < 0.15).astype(np.uint16)  # a large and a small one
        among = np.arange(len(topics)) % 4 > 0
        first = halve_topics(topics, blocks, among, rng)
        assert not (first & ~among).any()
        ahead, of_block = np.zeros(2), np.bincount(blocks[among], minlength=2)
        for topic in np.argsort(-sizes):
            rows = (topics == topic) & among
            own = np.bincount(blocks[rows], minlength=2)
            with_it, without = (((ahead + sign * own) ** 2 / of_block).sum() for sign in (1, -1))
            goes_first = bool(first[rows].all())
            assert goes_first or not first[rows].any()
            assert abs(with_it - without) < 1e-9 or goes_first == (with_it < without)
            ahead += own if goes_first else -own
