"""The order of a recipe's steps: stages one after the other, and neighbouring stages that take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from embedlab.training.schedule import dev_steps
from embedlab.training.stage_data import StageData


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Whose step it is, and which of its steps."""

    place: int  # of the stage in its block
    number: int  # counted from 0


@dataclass(frozen=True, kw_only=True)
class Block:
    """Stages that are trained together by one optimizer: a single one, or several that take turns until the first one ends."""

    stages: tuple[StageData, ...]
    first: int  # steps that the blocks before take

    @property
    def steps(self) -> int:
        """Steps of all its stages."""
        return sum(data.steps for data in self.stages)

    @property
    def end(self) -> int:
        """Steps of the recipe that are done when this block is."""
        return self.first + self.steps

    def turn(self, step: int) -> Turn:
        """Whose turn the block's step STEP is, counted from 0."""
        round_, left = divmod(step, sum(self._lengths))
        place = 0
        while left >= self._lengths[place]:
            left -= self._lengths[place]
            place += 1
        return Turn(place=place, number=round_ * self._lengths[place] + left)

    def taken(self, steps: int) -> tuple[int, ...]:
        """How many steps each stage has taken after STEPS of the block."""
        rounds, left = divmod(steps, sum(self._lengths))
        begins = (0, *accumulate(self._lengths))
        return tuple(rounds * length + min(max(left - begin, 0), length) for length, begin in zip(self._lengths, begins, strict=False))

    def dev_steps(self, every: float) -> frozenset[int]:
        """Steps of the block after which a dev score is due: each share EVERY of an epoch of its first stage, and its end."""
        leader, turn, others = self.stages[0], self._lengths[0], sum(self._lengths[1:])
        due = dev_steps(leader.epochs, leader.passes, every)
        return frozenset(self.steps if own == leader.steps else own + (own - 1) // turn * others for own in due)

    @property
    def _lengths(self) -> tuple[int, ...]:
        return tuple(data.stage.optim.turn or data.steps for data in self.stages)


def blocks(stages: Sequence[StageData]) -> tuple[Block, ...]:
    """The stages of a recipe as they are trained."""
    members: dict[int, list[StageData]] = {}
    for data in stages:
        members.setdefault(data.leader, []).append(data)
    made: list[Block] = []
    for group in members.values():
        made.append(Block(stages=tuple(group), first=made[-1].end if made else 0))
    return tuple(made)
