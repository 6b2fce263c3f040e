"""The order of a recipe's steps: stages one after the other, and neighbouring stages that are trained together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embedlab.core.recipe import MixSection
from embedlab.training.order import Indices
from embedlab.training.schedule import dev_steps
from embedlab.training.stage_data import StageData, batches_a_step, is_in_step, order_of


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Whose batch is read, and which of its batches."""

    place: int  # of the stage in its block
    number: int  # counted from 0


@dataclass(frozen=True, kw_only=True)
class Block:
    """Stages that are trained together by one optimizer until one of them ends: a single one, or several as the recipe's mix says."""

    stages: tuple[StageData, ...]
    first: int  # steps that the blocks before take
    mix: MixSection

    @property
    def leader(self) -> int:
        """The place of the stage whose end ends the block."""
        return next(place for place, data in enumerate(self.stages) if data.index == data.leader)

    @property
    def batches_a_step(self) -> int:
        """One, or one of each stage."""
        return batches_a_step(self.stages, self.mix)

    @property
    def whole_steps(self) -> int:
        """Steps of all its stages, were the training not shortened."""
        return len(order_of(self.stages, self.mix)) // self.batches_a_step

    @property
    def steps(self) -> int:
        """Steps of all its stages."""
        return len(self._order) // self.batches_a_step

    @property
    def end(self) -> int:
        """Steps of the recipe that are done when this block is."""
        return self.first + self.steps

    def turns(self, step: int) -> tuple[Turn, ...]:
        """The batches that the block's step STEP reads, counted from 0; of a joint step the leader's first."""
        begin = step * self.batches_a_step
        numbers = self.taken(step)
        return tuple(Turn(place=int(place), number=numbers[place]) for place in self._order[begin : begin + self.batches_a_step])

    def taken(self, steps: int) -> tuple[int, ...]:
        """How many batches each stage has given after STEPS of the block."""
        return tuple(int(np.searchsorted(own, steps * self.batches_a_step)) for own in self._batches)

    def dev_steps(self, every: float) -> frozenset[int]:
        """Steps of the block after which a dev score is due: each share EVERY of an epoch of its leader, and its end.

        Of stages in step an epoch is that of all of them.
        """
        leader = self.stages[self.leader]
        if is_in_step(self.stages):
            epochs = [sum(steps) for steps in zip(*(data.whole or data.epochs for data in self.stages), strict=True)]
            due = dev_steps(epochs, leader.stage.optim.epochs, every)
            return frozenset({self.steps, *(step for step in due if step < self.steps)})
        due = dev_steps(leader.epochs, leader.passes, every)
        steps = self._batches[self.leader] // self.batches_a_step
        return frozenset(self.steps if own == leader.steps else int(steps[own - 1]) + 1 for own in due)

    @cached_property
    def _order(self) -> Indices:
        return order_of(self.stages, self.mix)[: sum(data.steps for data in self.stages)]

    @cached_property
    def _batches(self) -> tuple[Indices, ...]:
        """Of each stage, which of the block's batches are its own."""
        return tuple(np.flatnonzero(self._order == place) for place in range(len(self.stages)))


def blocks(stages: Sequence[StageData], mix: MixSection | None = None) -> tuple[Block, ...]:
    """The stages of a recipe as they are trained."""
    members: dict[int, list[StageData]] = {}
    for data in stages:
        members.setdefault(data.leader, []).append(data)
    made: list[Block] = []
    for group in members.values():
        made.append(Block(stages=tuple(group), first=made[-1].end if made else 0, mix=(None if is_in_step(group) else mix) or MixSection()))
    return tuple(made)
