"""Where the difference between two models sits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.comparison.uneven import FEWEST, kinds_of, where_they_differ
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes, joined_outcomes
from embedlab.outcomes.selection import select_items
from tests.comparison.planted import MODELS, made_pairs, negated, questions


def test_a_contrast_is_the_lead_on_some_items_minus_the_lead_on_the_others() -> None:
    outcomes = made_pairs(300, 1, damage=questions)
    found = {(one.by, one.value): one for one in where_they_differ(outcomes, MODELS, kinds_of(outcomes))}
    one = found["question", "one"]
    holds = np.array([text.endswith("?") for text in outcomes.sentences["sentence1"]])
    gold = outcomes.rows["gold"].to_numpy()
    first, second = (outcomes.predictions[name].to_numpy() for name in ("first", "second"))
    lead = [spearmanr(gold[rows], second[rows])[0] - spearmanr(gold[rows], first[rows])[0] for rows in (holds, ~holds)]
    assert one.items == holds.sum()
    assert one.slice.differences["second"].delta == pytest.approx(lead[0])
    assert one.contrast.delta == pytest.approx(lead[0] - lead[1])
    assert one.contrast.low < one.contrast.delta < one.contrast.high


@pytest.mark.parametrize(("damage", "by"), [(questions, "question"), (negated, "negation")])
def test_what_a_model_was_damaged_on_comes_first_and_is_clear(damage: Callable[[pl.DataFrame], pl.Expr], by: str) -> None:
    outcomes = made_pairs(600, 2, damage=damage)
    found = where_they_differ(outcomes, MODELS, kinds_of(outcomes))
    assert found[0].by == by
    assert found[0].contrast.significant
    assert found[0].contrast.delta < 0 if found[0].value == "one" else found[0].contrast.delta > 0
    assert sorted(found, key=lambda one: one.contrast.p) == found


def test_of_two_equally_good_models_nothing_is_clear_but_by_chance() -> None:
    draws = [made_pairs(300, seed) for seed in range(10, 15)]
    clear = [any(one.contrast.significant for one in where_they_differ(own, MODELS, kinds_of(own))) for own in draws]
    assert sum(clear) <= 1  # these draws are fixed; benchmarks/slices.py has many


def test_several_datasets_count_by_their_mean_where_they_have_enough_of_both_kinds() -> None:
    one, other = made_pairs(200, 3), made_pairs(FEWEST + 5, 4)
    named = replace(other, blocks=(replace(other.blocks[0], dataset="small"),))
    outcomes = joined_outcomes([one, named])
    found = {(each.by, each.value): each for each in where_they_differ(outcomes, MODELS, kinds_of(outcomes))}
    assert found["question", "one"].datasets == ("made",)  # the other has fewer than FEWEST questions
    large = replace(made_pairs(300, 5), blocks=named.blocks)
    outcomes = joined_outcomes([one, large])
    both = {(each.by, each.value): each for each in where_they_differ(outcomes, MODELS, kinds_of(outcomes))}["question", "one"]
    apart = [{(e.by, e.value): e for e in where_they_differ(part, MODELS, kinds_of(part))}["question", "one"] for part in (one, large)]
    assert both.datasets == ("made", "small")
    assert both.contrast.delta == pytest.approx(np.mean([each.contrast.delta for each in apart]))


def test_a_selection_is_looked_at_alone_and_fifths_stay_those_of_the_whole_dataset() -> None:
    outcomes = made_pairs(400, 6)
    chosen = select_items(outcomes, "question:one", {})
    kinds = {(kind.by, kind.value): kind for kind in kinds_of(outcomes, chosen)}
    whole = {(kind.by, kind.value): kind for kind in kinds_of(outcomes)}
    assert ("question", "one") not in kinds  # there is nothing beside it
    for name, kind in kinds.items():
        assert {*kind.rows} == {*whole[name].rows} & {*np.flatnonzero(chosen.holds)}
        assert {*kind.rest} == {*whole[name].rest} & {*np.flatnonzero(chosen.holds)}


def test_tasks_with_different_measures_are_refused(pairs_and_classes: Outcomes) -> None:
    with pytest.raises(UsageError, match="measured differently: made has spearman, mr has accuracy"):
        where_they_differ(pairs_and_classes, MODELS, [])
