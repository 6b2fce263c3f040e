"""A stage reads what its recipe asks for: whole datasets, or samples of them."""

import numpy as np

from embedlab.recipe import load_recipe
from embedlab.training.stage_data import StageData, open_stage
from tests.training.small_runs import SAMPLE


def opened(recipe: str, rows: int, seed: int = 1) -> StageData:
    return open_stage(load_recipe(recipe, [f"stage.0.data.rows={rows}"]), SAMPLE, seed, 0)


def test_a_sample_of_rows_has_the_size_that_was_asked_for_and_is_the_same_for_every_seed() -> None:
    first, second = opened("defsent", 50, seed=1).rows.frame, opened("defsent", 50, seed=2).rows.frame
    assert len(first) == 50
    assert first.equals(second)


def test_a_sample_comes_from_the_whole_file_and_keeps_its_order() -> None:
    whole, some = SAMPLE.open("snli").frame, opened("snli-supcl", 100).rows.frame
    places = {row: index for index, row in enumerate(whole.select(some.columns).iter_rows())}
    positions = [places[row] for row in some.iter_rows()]
    assert positions == sorted(positions)
    assert max(positions) > len(whole) / 2


def test_the_pairs_of_a_drawn_premise_all_come() -> None:
    whole, some = SAMPLE.open("snli").frame, opened("snli-supcl", 100).rows.frame
    missing = [len(whole.filter(premise=premise)) - count for premise, count in some.group_by("premise").len().iter_rows()]
    assert min(missing) == 0
    assert np.count_nonzero(missing) <= 1  # the last one drawn may be cut
