"""Whose step it is: stages in sequence and stages that take turns."""

from itertools import groupby
from pathlib import Path

import pytest

from embedlab.errors import UsageError
from embedlab.training.blocks import Block, blocks
from embedlab.training.stage_data import open_stages
from tests.training.small_runs import SAMPLE, recipe_of, stage


def block_of(encoder: Path, rows: tuple[int, int], turns: tuple[int, int]) -> Block:
    stages = [stage(rows=count, optim={"turn": turn}) for count, turn in zip(rows, turns, strict=True)]
    (block,) = blocks(open_stages(recipe_of(encoder, *stages), SAMPLE, seed=1))
    return block


def places(block: Block) -> list[int]:
    return [block.turn(step).place for step in range(block.steps)]


def test_turns_are_exactly_as_long_as_stated(tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (900, 40), (19, 1))
    lengths = [(place, len(list(steps))) for place, steps in groupby(places(block))]
    own = block.stages[0].steps
    whole = [(0, 19), (1, 1)] * (own // 19)
    assert lengths == ([*whole, (0, own % 19)] if own % 19 else whole)
    assert own // 19 >= 2


@pytest.mark.parametrize("turns", [(3, 1), (2, 2), (1, 4)])
def test_each_stage_takes_its_own_steps_in_order_and_begins_its_rows_anew(turns: tuple[int, int], tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (200, 40), turns)
    for place, data in enumerate(block.stages):
        numbers = [turn.number for turn in map(block.turn, range(block.steps)) if turn.place == place]
        assert numbers == list(range(data.steps))
    for step in range(block.steps + 1):
        assert block.taken(step) == tuple(places(block)[:step].count(place) for place in (0, 1))
    follower = block.stages[1]
    assert follower.passes == pytest.approx(follower.steps / len(follower.batches(0)), rel=0.3)


def test_dev_scores_follow_the_first_stage_and_the_end(tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (200, 40), (2, 1))
    due = block.dev_steps(0.25)
    assert block.steps in due
    assert all(block.turn(step - 1).place == 0 for step in due - {block.steps})
    assert len(due) == 4


def test_a_stage_without_a_turn_is_trained_alone(tiny_encoder: Path) -> None:
    stages = [stage(rows=40, optim={"turn": 1}), stage(rows=40, optim={"turn": 1}), stage(rows=40), stage(rows=40, optim={"turn": 1})]
    made = blocks(open_stages(recipe_of(tiny_encoder, *stages), SAMPLE, seed=1))
    assert [[data.index for data in block.stages] for block in made] == [[0, 1], [2], [3]]
    assert [block.first for block in made] == [0, made[0].end, made[1].end]


def test_a_stage_that_would_never_have_its_turn_is_refused(tiny_encoder: Path) -> None:
    with pytest.raises(UsageError, match="stage 1 never gets its turn: stage 0 has 3 steps") as error:
        block_of(tiny_encoder, (40, 40), (19, 1))
    assert "stage.0.optim.turn=3" in error.value.hint
