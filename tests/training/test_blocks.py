"""Whose step it is: stages in sequence and stages that take turns."""

from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.recipe import MixSection, load_recipe
from embedlab.training.blocks import StageBlock, plan_stages
from tests.refusal import refused
from tests.training.small_runs import SAMPLE, joint_stages, recipe_of, stage


def block_of(encoder: Path, rows: tuple[int, int], turns: tuple[int, int]) -> StageBlock:
    stages = [
        stage(rows=count, optim={"turn": turn}) for count, turn in zip(rows, turns, strict=True)
    ]
    (block,) = plan_stages(recipe_of(encoder, *stages), SAMPLE, seed=1)
    return block


def places(block: StageBlock) -> list[int]:
    return [block.turns(step)[0].stage_index for step in range(block.steps)]


@pytest.mark.parametrize("turns", [(19, 1), (2, 2), (1, 4)])
def test_each_stage_has_its_turns_and_begins_its_rows_anew(
    turns: tuple[int, int], tiny_encoder: Path
) -> None:
    block = block_of(tiny_encoder, (900, 40), turns)
    order = places(block)
    cycle = [0] * turns[0] + [1] * turns[1]
    assert order == (cycle * len(order))[: len(order)]
    assert len(order) > 2 * len(cycle)
    for place, data in enumerate(block.stages):
        taken = [
            turn for (turn,) in map(block.turns, range(block.steps)) if turn.stage_index == place
        ]
        assert [turn.number for turn in taken] == list(range(data.steps))
    for step in (0, 1, 25, block.steps):
        assert block.batches_taken(step) == (order[:step].count(0), order[:step].count(1))
    follower = block.stages[1]
    assert follower.passes == pytest.approx(follower.steps / len(follower.batches(0)), rel=0.3)


def test_dev_scores_follow_the_first_stage_and_the_end(tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (200, 40), (2, 1))
    due = block.dev_steps(0.25)
    assert block.steps in due
    assert all(block.turns(step - 1)[0].stage_index == 0 for step in due - {block.steps})
    assert len(due) == 4


def test_a_stage_that_would_never_have_its_turn_is_refused(tiny_encoder: Path) -> None:
    said = "stage 1 never gets its turn: stage 0 has 3 steps"
    with refused(said, "stage.0.optim.turn=3"):
        block_of(tiny_encoder, (40, 40), (19, 1))


def test_a_joint_step_reads_a_batch_of_each_stage(tiny_encoder: Path) -> None:
    recipe = joint_stages(tiny_encoder)
    block = plan_stages(recipe, SAMPLE, seed=1)[1]
    assert block.steps == 8
    for step in range(block.steps):
        turns = [(turn.stage_index, turn.number) for turn in block.turns(step)]
        assert sorted(turns) == [(place, step) for place in range(3)]
        assert block.batches_taken(step) == (step, step, step)
    assert block.dev_steps(0.5) == {2, 4, 6, 8}


@pytest.mark.parametrize(("until", "place"), [("first", 0), ("smallest", 1), ("largest", 2)])
def test_whose_end_ends_them_is_the_recipes_choice(
    until: str, place: int, tiny_encoder: Path
) -> None:
    stages = [stage(rows=rows, optim={"turn": 1}) for rows in (64, 32, 96)]
    recipe = recipe_of(tiny_encoder, *stages)
    mix = MixSection(combine="average", until=until)  # type: ignore[arg-type]
    (block,) = plan_stages(replace(recipe, mix=mix), SAMPLE, seed=1)
    assert block.leader == place
    # rows that belong together are shuffled by stage
    assert block.steps == pytest.approx((5, 3, 7)[place], abs=1)
    assert {data.steps for data in block.stages} == {block.steps}


def test_fusion_reads_each_batch_of_sentiment_for_both_losses_then_the_other_sentences() -> None:
    recipe = load_recipe("multitask-fusion", ["stages.optim.epochs=2", "stages.data.rows=40"])
    (block,) = plan_stages(recipe, SAMPLE, seed=1)
    first, second = block.stages
    sentiment, contrast = first.batches(1), second.batches(1)
    assert len(contrast) > len(sentiment) == 3
    for one, other in zip(sentiment, contrast, strict=False):
        assert first.rows.frame["sentence"][one].equals(second.rows.frame["sentence"][other])
    assert all(rows.min() >= 40 for rows in contrast[3:])
    rest = len(second.batches(0)) - 3
    assert places(block) == [0, 1, 0, 1, 0, 1, *[1] * rest] * 2
    assert block.dev_steps(1.0) == {block.steps // 2, block.steps}


def test_three_given_goes_through_quora_then_sentiment_then_sts_within_each_epoch() -> None:
    recipe = load_recipe("multitask-given", ["stages.optim.epochs=2", "stages.data.rows=40"])
    given, tasks = plan_stages(recipe, SAMPLE, seed=1)
    assert [data.index for data in given.stages] == [0, 1]
    assert [data.index for data in tasks.stages] == [2, 3, 4]
    assert tasks.batches_a_step == 3
    assert places(given) == [0, 0, 0, 1, 1, 1, 1, 1, 1] * 2
    (second,) = given.stages[1:]
    assert [rows.max() < 40 for rows in second.batches(1)] == [True] * 3 + [False] * 3
