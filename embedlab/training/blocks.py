"""The order of a recipe's steps: stages in sequence, and neighbouring stages that are trained
together; the learning rate of each step, and the steps after which a dev score is due.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from embedlab.core.errors import Hint, NamedOption, RecipeValue, UsageError
from embedlab.core.printable import count_text
from embedlab.core.recipe import JOINT_COMBINES, Combine, MixSection, Recipe, Schedule
from embedlab.data.source import Source
from embedlab.objectives.needs import WordIds
from embedlab.training.order import Indices, batch_order, epochs_of_steps, steps_of_epochs
from embedlab.training.stage_data import StageData, groups_of, open_stage, quoted_names

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
    combine: Combine  # how batches of its stages become steps
    leader: int  # the place of the stage whose end ends the block
    # the place of the stage that each batch is read from, without shortening
    order: Indices
    # steps of each epoch, without shortening, where all stages go through theirs in step
    epochs: tuple[int, ...] = ()
    first: int = 0  # steps of the preceding blocks

    @property
    def batches_a_step(self) -> int:
        """Return one, or the number of stages for a joint step."""
        return len(self.stages) if self.combine in JOINT_COMBINES else 1

    @property
    def whole_steps(self) -> int:
        """Return the steps of all its stages without shortening; less than one pass is short."""
        step_count = len(self.order) // self.batches_a_step
        first_stage, *other_stages = self.stages
        return step_count if other_stages else max(step_count, first_stage.batches_in(0))

    @property
    def steps(self) -> int:
        """Return the steps of all its stages."""
        return sum(data.steps for data in self.stages) // self.batches_a_step

    @property
    def end(self) -> int:
        """Return the recipe's step at which this block ends."""
        return self.first + self.steps

    def turns(self, step: int) -> tuple[Turn, ...]:
        """Return the batches that the block's step STEP (from 0) reads; in a joint step the
        leader's comes first.
        """
        begin = step * self.batches_a_step
        places = self.order[begin : begin + self.batches_a_step].tolist()
        numbers = self.batches_taken(step)
        leader_first = sorted(places, key=lambda place: place != self.leader)
        return tuple(Turn(stage_index=place, number=numbers[place]) for place in leader_first)

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
        if self.epochs:
            due = dev_steps(self.epochs, leader.stage.optim.epochs, every)
            return frozenset(min(step, self.steps) for step in due)
        due = dev_steps(leader.epochs, leader.passes, every)
        steps = self._batches[self.leader] // self.batches_a_step
        return frozenset(
            self.steps if step == leader.steps else int(steps[step - 1]) + 1 for step in due
        )

    def measured_steps(self, due: frozenset[int]) -> frozenset[int]:
        """Return those of the steps DUE, and the last, between which enough is trained: a
        measurement encodes as much as a few steps.
        """
        fewest_rows = min(data.stage.optim.batch_size for data in self.stages)
        spacing = ceil(MEASURED_ROWS / fewest_rows)
        measured_steps: list[int] = [self.steps]
        for step in sorted(due, reverse=True):
            if step <= measured_steps[-1] - spacing:
                measured_steps.append(step)
        return frozenset(measured_steps)

    @cached_property
    def _batches(self) -> tuple[Indices, ...]:
        """Return, for each stage, which of the block's batches are its own."""
        order = self.order[: self.steps * self.batches_a_step]
        return tuple(np.flatnonzero(order == index) for index in range(len(self.stages)))


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
        stages = [opened[index] for index in group]
        is_in_step = len(stages) > 1 and isinstance(stages[0].stage.optim.turn, str)
        block = _in_step(stages) if is_in_step else _mixed(stages, mix)
        blocks.append(replace(block, first=blocks[-1].end if blocks else 0))
    return tuple(blocks if recipe.max_steps is None else _shorten(blocks, recipe.max_steps))


def _in_step(stages: Sequence[StageData]) -> StageBlock:
    """Return the block of STAGES that go through their own epochs in step: one after the other, or
    batch by batch.
    """
    leader, *followers = stages
    has_same_batches = leader.stage.optim.turn == "batch"
    if has_same_batches:
        stages = [leader, *(_with_batches_of(leader, data) for data in followers)]
    epochs = list(zip(*(data.epochs for data in stages), strict=True))
    return StageBlock(
        stages=tuple(stages),
        combine="turns",
        leader=0,
        order=batch_order(epochs, takes_turns=not has_same_batches),
        epochs=tuple(map(sum, epochs)),
    )


def _with_batches_of(leader: StageData, data: StageData) -> StageData:
    """Return a stage that begins with the batches of its LEADER; these must hold the same texts."""
    texts = leader.rows.frame.to_series(0)
    first_texts = data.rows.frame.to_series(0)[: len(texts)]
    if not first_texts.equals(texts) or data.ends[0] != len(texts):
        raise UsageError(
            f"stage {data.index} cannot read the batches of stage {leader.index}: "
            f"its first dataset has other texts",
            hint=f"let its datasets begin with {quoted_names(leader.stage.data.names)}, "
            f"data.order = in-turn, data.rows alike",
        )
    # The leader's order decides how groups of rows fill batches.
    data = replace(data, shuffled_as=leader.index)
    return replace(data, epochs=steps_of_epochs(data.batches_in, data.passes))


def _mixed(stages: Sequence[StageData], mix: MixSection) -> StageBlock:
    """Return the block of STAGES that one of them ends, as MIX says; the others restart their rows
    as often as needed.

    Stages take their turns round by round, the last of which is the leader's alone; or each gives
    as many batches as the leader's epoch has; or, in joint steps, as many as the leader in all.
    """
    sizes = [data.epochs[0] for data in stages]
    places = {
        "first": 0,
        "smallest": int(np.argmin(sizes)),
        "largest": int(np.argmax(sizes)),
    }
    leader = places[mix.until]
    leading = stages[leader]
    turns = []
    for data in stages:
        turn = data.stage.optim.turn
        turns.append(turn if isinstance(turn, int) else 1)
    others = [data.index for data in stages if data is not leading]
    if others and mix.combine == "turns" and leading.steps < turns[leader]:
        raise UsageError(
            f"stage {others[0]} never gets its turn: stage {leading.index} has "
            f"{count_text(leading.steps, 'steps')}, fewer than its turn",
            hint=Hint(RecipeValue(f"stage.{leading.index}.optim.turn", str(leading.steps))),
        )
    if mix.combine == "turns":
        round_count, steps_left = divmod(leading.steps, turns[leader])
        last_round = [steps_left if data is leading else 0 for data in stages]
        rounds = [turns] * round_count + [last_round]
    else:
        lengths = leading.epochs if mix.combine == "epochs" else (leading.steps,)
        rounds = [[length] * len(stages) for length in lengths]
    step_counts = [sum(steps) for steps in zip(*rounds, strict=True)]
    followed = []
    for data, count in zip(stages, step_counts, strict=True):
        followed.append(data if data is leading else _follow(data, count))
    return StageBlock(
        stages=tuple(followed),
        combine=mix.combine,
        leader=leader,
        order=batch_order(rounds, takes_turns=mix.combine not in JOINT_COMBINES),
    )


def _follow(data: StageData, steps: int) -> StageData:
    """Return a stage with as many STEPS as its leader leaves it."""
    epochs = epochs_of_steps(data.batches_in, steps)
    return replace(data, epochs=epochs, passes=steps / data.batches_in(0))


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
            f"max_steps is {max_steps}, but the whole training has "
            f"{count_text(total, 'steps')}: nothing would be shortened",
            hint=Hint("remove ", NamedOption("--max-steps"), ", or give fewer"),
        )
    shortened = []
    for block in blocks:
        steps = min(max(max_steps - block.first, 0), block.steps)
        counts = block.batches_taken(steps)
        stages = tuple(map(_first_steps, block.stages, counts))
        first = min(block.first, max_steps)
        shortened.append(replace(block, stages=stages, first=first))
    return shortened


def _first_steps(data: StageData, steps: int) -> StageData:
    """Return a stage with its first STEPS alone; its learning rate schedule covers those."""
    epochs = epochs_of_steps(data.epochs.__getitem__, steps)
    passes = 0.0
    if epochs:
        last = len(epochs) - 1
        passes = last + epochs[last] / data.batches_in(last)
    return replace(data, epochs=epochs, passes=passes)


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
