"""A training of fewer steps than its stages have."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe
from embedlab.runs import events
from embedlab.training.blocks import StageBlock, Turn, open_stages, plan_stages
from tests.training.small_runs import (
    SAMPLE,
    Train,
    assert_resumes,
    events_of,
    fusion_stages,
    given_stages,
    joint_stages,
    length_of_a_vector,
    mixed_stages,
    recipe_of,
    stage,
    two_stages,
)


@pytest.mark.parametrize(
    "of", [two_stages, mixed_stages, joint_stages, fusion_stages, given_stages]
)
def test_whatever_is_mixed_the_first_steps_are_taken_as_they_were(
    of: Callable[[Path], Recipe], tiny_encoder: Path
) -> None:
    recipe = of(tiny_encoder)
    whole = plan_stages(recipe, SAMPLE, 1)
    order = turns_of(whole)
    for count in {1, 5, len(order) // 2, len(order) - 1}:
        cut = plan_stages(replace(recipe, max_steps=count), SAMPLE, 1)
        assert cut[-1].end == count
        assert turns_of(cut) == order[:count]
        assert sum(block.whole_steps for block in cut) == len(order)
        for block in cut:
            assert max(block.dev_steps(0.25)) == block.steps
            assert [sum(data.epochs) for data in block.stages] == list(
                block.batches_taken(block.steps)
            )


def turns_of(all_blocks: Sequence[StageBlock]) -> list[tuple[int, tuple[Turn, ...]]]:
    """The number of the block and whose turns there are, of every step."""
    return [
        (number, block.turns(step))
        for number, block in enumerate(all_blocks)
        for step in range(block.steps)
    ]


def test_the_rate_rises_and_falls_within_the_steps_that_are_left(
    train: Train, tiny_encoder: Path
) -> None:
    optim = {"epochs": 4, "warmup": 0.25}
    recipe = recipe_of(tiny_encoder, stage(rows=96, optim=optim), log_every=1)
    (whole,) = plan_stages(recipe, SAMPLE, 1)
    run = train(replace(recipe, max_steps=8))
    assert [event.lr for event in events_of(run, events.Step)] == pytest.approx(
        [0.0, 5e-4, *(1e-3 * (8 - step) / 6 for step in range(2, 8))]
    )
    environment = run.environment()
    assert (environment.steps, environment.is_shortened) == (8, True)
    assert environment.whole_steps == whole.steps > 8


def test_a_training_that_ends_in_its_first_stage_is_resumed_as_any_other(
    train: Train, tiny_encoder: Path
) -> None:
    recipe = replace(two_stages(tiny_encoder), max_steps=6)
    assert_resumes(train, recipe, [4], dev_score=length_of_a_vector)
    with pytest.raises(UsageError, match="max_steps was 6, now None"):
        train(two_stages(tiny_encoder), resume=True)


def test_a_number_that_shortens_nothing_is_refused(tiny_encoder: Path) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=64))
    steps = plan_stages(recipe, SAMPLE, 1)[-1].end
    with pytest.raises(
        UsageError, match=f"max_steps is {steps}, but the whole training has {steps} steps"
    ):
        open_stages(replace(recipe, max_steps=steps), SAMPLE, 1)
