"""Whose step it is: stages in sequence and stages that take turns."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import MixSection, load_recipe
from embedlab.training.blocks import StageBlock, blocks
from embedlab.training.stage_data import open_stages
from tests.training.small_runs import SAMPLE, joint_stages, recipe_of, stage


def block_of(encoder: Path, rows: tuple[int, int], turns: tuple[int, int]) -> StageBlock:
    stages = [
        stage(rows=count, optim={"turn": turn}) for count, turn in zip(rows, turns, strict=True)
    ]
    (block,) = blocks(open_stages(recipe_of(encoder, *stages), SAMPLE, seed=1))
    return block


def places(block: StageBlock) -> list[int]:
    return [block.turns(step)[0].place for step in range(block.steps)]


def test_turns_are_exactly_as_long_as_stated(tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (900, 40), (19, 1))
    lengths = [(place, len(list(steps))) for place, steps in groupby(places(block))]
    own = block.stages[0].steps
    whole = [(0, 19), (1, 1)] * (own // 19)
    assert lengths == ([*whole, (0, own % 19)] if own % 19 else whole)
    assert own // 19 >= 2


@pytest.mark.parametrize("turns", [(3, 1), (2, 2), (1, 4)])
def test_each_stage_takes_its_own_steps_in_order_and_begins_its_rows_anew(
    turns: tuple[int, int], tiny_encoder: Path
) -> None:
    block = block_of(tiny_encoder, (200, 40), turns)
    for place, data in enumerate(block.stages):
        numbers = [
            turn.number for (turn,) in map(block.turns, range(block.steps)) if turn.place == place
        ]
        assert numbers == list(range(data.steps))
    for step in range(block.steps + 1):
        assert block.taken(step) == tuple(places(block)[:step].count(place) for place in (0, 1))
    follower = block.stages[1]
    assert follower.passes == pytest.approx(follower.steps / len(follower.batches(0)), rel=0.3)


def test_dev_scores_follow_the_first_stage_and_the_end(tiny_encoder: Path) -> None:
    block = block_of(tiny_encoder, (200, 40), (2, 1))
    due = block.dev_steps(0.25)
    assert block.steps in due
    assert all(block.turns(step - 1)[0].place == 0 for step in due - {block.steps})
    assert len(due) == 4


def test_a_stage_that_would_never_have_its_turn_is_refused(tiny_encoder: Path) -> None:
    with pytest.raises(
        UsageError, match="stage 1 never gets its turn: stage 0 has 3 steps"
    ) as error:
        block_of(tiny_encoder, (40, 40), (19, 1))
    assert "stage.0.optim.turn=3" in error.value.hint


def joint_block(encoder: Path, combine: str) -> StageBlock:
    return blocks(
        open_stages(joint_stages(encoder, combine), SAMPLE, seed=1),
        MixSection(combine=combine, until="smallest"),
    )[1]  # type: ignore[arg-type]


@pytest.mark.parametrize("combine", ["average", "surgery"])
def test_a_joint_step_reads_a_batch_of_each_stage(combine: str, tiny_encoder: Path) -> None:
    block = joint_block(tiny_encoder, combine)
    assert block.steps == 8
    for step in range(block.steps):
        assert {(turn.place, turn.number) for turn in block.turns(step)} == {
            (place, step) for place in range(3)
        }
        assert block.taken(step) == (step, step, step)
    assert block.dev_steps(0.5) == {2, 4, 6, 8}


@pytest.mark.parametrize(("until", "place"), [("first", 0), ("smallest", 1), ("largest", 2)])
def test_whose_end_ends_them_is_the_recipes_choice(
    until: str, place: int, tiny_encoder: Path
) -> None:
    stages = [stage(rows=rows, optim={"turn": 1}) for rows in (64, 32, 96)]
    mix = MixSection(combine="average", until=until)  # type: ignore[arg-type]
    alone = [
        blocks(open_stages(recipe_of(tiny_encoder, one), SAMPLE, seed=1))[0].steps for one in stages
    ]
    (block,) = blocks(
        open_stages(replace(recipe_of(tiny_encoder, *stages), mix=mix), SAMPLE, seed=1), mix
    )
    assert block.leader == place
    assert block.steps == pytest.approx(
        alone[place], abs=1
    )  # rows that belong together are shuffled by stage
    assert {data.steps for data in block.stages} == {block.steps}


def test_fusion_reads_each_batch_of_sentiment_for_both_losses_then_the_other_sentences() -> None:
    recipe = load_recipe("multitask-fusion", ["stages.optim.epochs=2", "stages.data.rows=40"])
    (block,) = blocks(open_stages(recipe, SAMPLE, seed=1))
    first, second = block.stages
    for epoch in range(2):
        sentiment, contrast = first.batches(epoch), second.batches(epoch)
        assert len(contrast) > len(sentiment) == 3
        for one, other in zip(sentiment, contrast, strict=False):
            assert (
                first.rows.frame["sentence"][one].to_list()
                == second.rows.frame["sentence"][other].to_list()
            )
        assert all(rows.min() >= 40 for rows in contrast[3:])
    rest = len(second.batches(0)) - 3
    assert places(block) == [0, 1, 0, 1, 0, 1, *[1] * rest] * 2
    assert block.dev_steps(1.0) == {block.steps // 2, block.steps}


def test_three_given_goes_through_quora_then_sentiment_then_sts_within_each_epoch() -> None:
    recipe = load_recipe("multitask-given", ["stages.optim.epochs=2", "stages.data.rows=40"])
    given, tasks = blocks(open_stages(recipe, SAMPLE, seed=1), recipe.mix)
    assert [data.index for data in given.stages] == [0, 1]
    assert [data.index for data in tasks.stages] == [2, 3, 4]
    assert tasks.batches_a_step == 3
    assert places(given) == [0, 0, 0, 1, 1, 1, 1, 1, 1] * 2
    (second,) = given.stages[1:]
    assert [rows.max() < 40 for rows in second.batches(1)] == [True] * 3 + [False] * 3
    for step in range(given.steps + 1):
        assert given.taken(step) == tuple(places(given)[:step].count(place) for place in (0, 1))


def test_stages_in_step_must_walk_alike() -> None:
    with pytest.raises(UsageError, match=r"'stage.1.optim.epochs' must be 5.0"):
        load_recipe("multitask-given", ["stage.1.optim.epochs=2"])
    with pytest.raises(UsageError, match=r"'stage.1.optim.batch_size' must be 16"):
        load_recipe("multitask-fusion", ["stage.1.optim.batch_size=8"])
    with pytest.raises(UsageError, match="stage 1 cannot read the batches of stage 0"):
        open_stages(load_recipe("multitask-fusion", ["stage.0.data.rows=30"]), SAMPLE, seed=1)
