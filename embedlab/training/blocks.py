"""The order of a recipe's steps: stages in sequence, and neighbouring stages that are trained
together; the learning rate of each step, and the steps after which a dev score is due.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from embedlab.core.errors import Hint, NamedOption, UsageError
from embedlab.core.recipe import JOINT_COMBINES, Combine, MixSection, Recipe, Schedule
from embedlab.data.source import Source
from embedlab.objectives.needs import WordIds
from embedlab.training.order import Indices, batch_order, stepwise_order
from embedlab.training.stage_data import (
    StageData,
    groups_of,
    join_stages,
    open_stage,
    shorten_stage,
    turn_lengths,
)

# Rows trained between two measurements of how far apart vectors are, which encode 256 sentences: at
# two sentences a row, and three times the work to train one as to encode it, 2% of the time.
MEASURED_ROWS = 2_048


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Which stage a batch is read from, and which of its batches."""

    stage_index: int  # of the stage in its block
    number: int  # counted from 0


@dataclass(frozen=True, kw_only=True)
class StageBlock:
    """Stages trained together by one optimizer until one of them ends: a single stage, or several
    as the recipe's mix says.
    """

    stages: tuple[StageData, ...]
    first: int  # steps of the preceding blocks
    mix: MixSection

    @property
    def leader(self) -> int:
        """Return the place of the stage whose end ends the block."""
        return next(index for index, data in enumerate(self.stages) if data.index == data.leader)

    @property
    def is_in_step(self) -> bool:
        """Return whether several stages go through their own epochs in step, without a mix."""
        return len(self.stages) > 1 and isinstance(self.stages[0].stage.optim.turn, str)

    @property
    def combine(self) -> Combine:
        """Return how batches of its stages become steps."""
        return "turns" if self.is_in_step else self.mix.combine

    @property
    def batches_a_step(self) -> int:
        """Return one, or the number of stages for a joint step."""
        return len(self.stages) if self.combine in JOINT_COMBINES else 1

    @property
    def whole_steps(self) -> int:
        """Return the steps of all its stages without shortening; less than one pass is short."""
        step_count = len(self._whole_order) // self.batches_a_step
        first_stage, *other_stages = self.stages
        return step_count if other_stages else max(step_count, len(first_stage.whole_epoch(0)))

    @property
    def steps(self) -> int:
        """Return the steps of all its stages."""
        return len(self._order) // self.batches_a_step

    @property
    def end(self) -> int:
        """Return the recipe's step at which this block ends."""
        return self.first + self.steps

    def turns(self, step: int) -> tuple[Turn, ...]:
        """Return the batches that the block's step STEP (from 0) reads; in a joint step the
        leader's comes first.
        """
        begin = step * self.batches_a_step
        numbers = self.batches_taken(step)
        return tuple(
            Turn(stage_index=int(stage_index), number=numbers[stage_index])
            for stage_index in self._order[begin : begin + self.batches_a_step]
        )

    def batches_taken(self, steps: int) -> tuple[int, ...]:
        """Return how many batches each stage has given after STEPS of the block."""
        return tuple(
            int(np.searchsorted(batch, steps * self.batches_a_step)) for batch in self._batches
        )

    def dev_steps(self, every: float) -> frozenset[int]:
        """Return the steps of the block after which a dev score is due: each share EVERY of an
        epoch of its leader, and its end.

        For stages in step, an epoch covers all of them.
        """
        leader = self.stages[self.leader]
        if self.is_in_step:
            epochs = [
                sum(steps)
                for steps in zip(*(data.whole or data.epochs for data in self.stages), strict=True)
            ]
            due = dev_steps(epochs, leader.stage.optim.epochs, every)
            return frozenset({self.steps, *(step for step in due if step < self.steps)})
        due = dev_steps(leader.epochs, leader.passes, every)
        steps = self._batches[self.leader] // self.batches_a_step
        return frozenset(
            self.steps if step == leader.steps else int(steps[step - 1]) + 1 for step in due
        )

    def measured_steps(self, due: frozenset[int]) -> frozenset[int]:
        """Return those of the steps DUE, and the last, between which enough is trained: a
        measurement encodes as much as a few steps.
        """
        spacing = ceil(MEASURED_ROWS / min(data.stage.optim.batch_size for data in self.stages))
        measured_steps: list[int] = [self.steps]
        for step in sorted(due, reverse=True):
            if step <= measured_steps[-1] - spacing:
                measured_steps.append(step)
        return frozenset(measured_steps)

    @property
    def _whole_order(self) -> Indices:
        """Return which of its stages each batch is read from, without shortening."""
        epochs = [data.whole or data.epochs for data in self.stages]
        if self.is_in_step:
            return stepwise_order(epochs, same_batch=self.stages[0].stage.optim.turn == "batch")
        return batch_order(
            self.combine, turn_lengths(self.stages), self.leader, epochs[self.leader]
        )

    @cached_property
    def _order(self) -> Indices:
        return self._whole_order[: sum(data.steps for data in self.stages)]

    @cached_property
    def _batches(self) -> tuple[Indices, ...]:
        """Return, for each stage, which of the block's batches are its own."""
        return tuple(np.flatnonzero(self._order == index) for index in range(len(self.stages)))


def plan_stages(
    recipe: Recipe, source: Source, seed: int, word_ids: WordIds | None = None
) -> tuple[StageBlock, ...]:
    """Open every stage of a recipe with its data, in order, and return them in blocks, within
    `max_steps` where the recipe has it.

    WORD_IDS are the encoder's words; without them, as in a dry run, no row is dropped for its word.
    """
    opened = [
        open_stage(recipe, source, seed, index, word_ids) for index in range(len(recipe.stages))
    ]
    mix, blocks = recipe.mix or MixSection(), list[StageBlock]()
    for group in groups_of(recipe.stages):
        stages = join_stages([opened[index] for index in group], mix)
        first = blocks[-1].end if blocks else 0
        blocks.append(StageBlock(stages=tuple(stages), first=first, mix=mix))
    return tuple(blocks if recipe.max_steps is None else _shorten(blocks, recipe.max_steps))


def open_stages(
    recipe: Recipe, source: Source, seed: int, word_ids: WordIds | None = None
) -> tuple[StageData, ...]:
    """Return the stages of `plan_stages`."""
    plan = plan_stages(recipe, source, seed, word_ids)
    return tuple(data for block in plan for data in block.stages)


def _shorten(blocks: Sequence[StageBlock], max_steps: int) -> list[StageBlock]:
    """Return the blocks within the first MAX_STEPS of the training; a number that shortens nothing
    is refused.
    """
    if max_steps >= (total := blocks[-1].end):
        raise UsageError(
            f"max_steps is {max_steps}, but the whole training has {total} steps: "
            f"nothing would be shortened",
            hint=Hint("remove ", NamedOption("--max-steps"), ", or give fewer"),
        )
    shortened = []
    for block in blocks:
        counts = block.batches_taken(min(max(max_steps - block.first, 0), block.steps))
        stages = map(shorten_stage, block.stages, counts)
        first = min(block.first, max_steps)
        shortened.append(replace(block, stages=tuple(stages), first=first))
    return shortened


def rate_factor(
    step: int, steps: int, *, warmup: float, schedule: Schedule, warmup_steps: int | None = None
) -> float:
    """Return the share of the learning rate at step STEP of STEPS (counted from 0).

    It rises linearly over the first share WARMUP of the steps, or over WARMUP_STEPS; then it is
    constant or falls linearly to zero.
    """
    rising = ceil(warmup * steps) if warmup_steps is None else warmup_steps
    if step < rising:
        return step / rising
    return 1.0 if schedule == "constant" else (steps - step) / max(1, steps - rising)


def dev_steps(epochs: Sequence[int], passes: float, every: float) -> frozenset[int]:
    """Return the steps of a stage, from 1, after which a dev score is due: each share EVERY of an
    epoch, and its last step.

    EPOCHS are the steps of each of its PASSES over the data, the last of which may be a fraction;
    an EVERY of 0 means the last step alone.
    """
    due_steps, finished = {sum(epochs)}, 0
    for epoch, steps in enumerate(epochs):
        epoch_steps = steps / min(1.0, passes - epoch)
        share_count = int(1 / every + 1e-9) if every else 0
        steps_of_epoch = (
            ceil(round(index * every * epoch_steps, 6)) for index in range(1, share_count + 1)
        )
        due_steps |= {finished + step for step in steps_of_epoch if step <= steps}
        finished += steps
    return frozenset(due_steps)
