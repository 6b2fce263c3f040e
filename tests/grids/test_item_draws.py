"""Classified items are drawn again for all members at once, as far as they answered the same items."""

import numpy as np
import pytest

from embedlab.grids.item_draws import item_draws
from embedlab.grids.paper_table import Measure
from embedlab.runs.outcomes import Outcomes, items_frame

RTE = Measure(task="glue", slice="glue-rte", metric="accuracy", setting="validation", split=None)


def outcomes(wrong: float, *, split: str = "dev", items: int = 200, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    gold = np.array(["yes", "no"])[np.arange(items) % 2]
    predicted = np.where(rng.random(items) < wrong, np.where(gold == "yes", "no", "yes"), gold)
    frame = items_frame(np.arange(items), gold, predicted)
    return Outcomes(
        task="glue", dataset="glue-rte", split=split, model="m", fingerprint="f", data=(), marks=(), classes=("no", "yes"), items=frame
    )


def test_members_are_drawn_on_the_same_items() -> None:
    kept = {("good", "glue"): [outcomes(0.1)], ("poor", "glue"): [outcomes(0.3, seed=1)]}
    draws = item_draws({RTE: ["good", "poor"]}, kept, 3_000)
    right = {name: (own[0].items["gold"] == own[0].items["predicted"]).to_numpy() for (name, _), own in kept.items()}
    rng = np.random.default_rng(5)
    slow = np.array([right["good"][rows].mean() - right["poor"][rows].mean() for rows in rng.integers(0, 200, (3_000, 200))])
    fast = draws["good", RTE] - draws["poor", RTE]
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.004)
    assert fast.std() == pytest.approx(slow.std(), rel=0.07)


def test_members_without_items_or_with_others_are_absent_and_so_are_measures_of_no_items() -> None:
    kept = {("a", "glue"): [outcomes(0.1)], ("b", "glue"): [outcomes(0.1, items=100)], ("c", "glue"): []}
    assert set(item_draws({RTE: ["a", "b", "c", "d"]}, kept, 5)) == {("a", RTE)}
    pearson = Measure(**{**vars(RTE), "metric": "pearson"})
    assert item_draws({pearson: ["a"]}, kept, 5) == {}


def test_a_split_that_is_named_is_the_one_that_is_drawn() -> None:
    kept = {("a", "glue"): [outcomes(0.5, split="dev-mismatched"), outcomes(0.0, split="dev-matched")]}
    matched = Measure(**{**vars(RTE), "split": "dev-matched"})
    assert (item_draws({matched: ["a"]}, kept, 5)["a", matched] == 1).all()
