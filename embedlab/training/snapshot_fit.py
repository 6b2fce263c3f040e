"""Checks whether a checkpoint fits the run that reads it, before any of it is loaded, so that a
misfit changes nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import Objective, saved_tensors
from embedlab.training.blocks import StageBlock
from embedlab.training.checkpointing import Snapshot, Tensors, Weights
from embedlab.training.learner import Learner

ENTRIES = (
    "step",
    "exp_avg",
    "exp_avg_sq",
)  # AdamW's entries for each parameter that had a gradient


@dataclass(frozen=True, kw_only=True, eq=False)
class RunShape:
    """What decides which tensors and steps a checkpoint of a run has."""

    encoder: TransformerEncoder
    objectives: Sequence[Objective]  # one a stage
    plan: Sequence[StageBlock]

    def misfit(self, stored: Weights) -> str | None:
        """Return the first reason why a checkpoint or a best model does not fit this run; None if
        it fits.
        """
        return next(self._misfits(stored), None)

    def _misfits(self, stored: Weights) -> Iterator[str]:
        if isinstance(stored, Snapshot):
            yield from _odd_steps(stored, self.plan[-1].end)
        if stored.frozen_weights != self.encoder.frozen_weights:
            yield "the weights of the encoder that it was trained on have changed since"
        yield from _other_tensors("encoder", stored.encoder, self.encoder.tensors())
        yield from _other_tensors("heads", stored.heads, saved_tensors(self.objectives))
        if isinstance(stored, Snapshot):
            yield from _other_moments(stored.optimizer, self._parameters(stored.step))
            yield from _odd_generators(stored.random)

    def _parameters(self, step: int) -> Mapping[str, Tensor]:
        """Return the parameters whose optimizer a checkpoint of STEP holds, by the names that the
        optimizer's state has.
        """
        block = next(block for block in self.plan if step <= block.end)
        learner = Learner(
            self.encoder, {data.index: self.objectives[data.index] for data in block.stages}
        )
        return {
            name: parameter
            for name, parameter in learner.named_parameters()
            if parameter.requires_grad
        }


def _odd_steps(snapshot: Snapshot, end: int) -> Iterator[str]:
    if type(snapshot.step) is not int or not 1 <= snapshot.step <= end:
        yield f"step {snapshot.step!r} is not between 1 and {end}"
    elif (best := snapshot.best) is not None and not (
        type(best.step) is int
        and 1 <= best.step <= snapshot.step
        and isinstance(best.score, int | float)
        and math.isfinite(best.score)
    ):
        yield f"its best dev score is {best.score!r} at step {best.step!r}"


def _other_tensors(part: str, tensors: Tensors, expected: Mapping[str, Tensor]) -> Iterator[str]:
    for name in [*expected, *tensors]:
        if name not in tensors or name not in expected:
            yield f"{part}: {name!r} is {'missing' if name in expected else 'unknown'}"
        elif (tensors[name].shape, tensors[name].dtype) != (
            expected[name].shape,
            expected[name].dtype,
        ):
            yield (
                f"{part}: {name!r} is {_described(tensors[name])}, not {_described(expected[name])}"
            )


def _other_moments(tensors: Tensors, parameters: Mapping[str, Tensor]) -> Iterator[str]:
    """Yield the reasons of the optimizer: a parameter without any gradient has no state, the others
    have all entries.
    """
    having = {key.rpartition(".")[0] for key in tensors}
    scalar = torch.zeros(())
    entries = {
        f"{name}.{entry}": scalar if entry == "step" else parameters.get(name, scalar)
        for name in having
        for entry in ENTRIES
    }
    yield from (
        f"optimizer: {name!r} is not a parameter" for name in sorted(having - set(parameters))
    )
    yield from _other_tensors("optimizer", tensors, entries)


def _odd_generators(states: Tensors) -> Iterator[str]:
    if "cpu" not in states:
        yield "random: 'cpu' is missing"
    for name, state in states.items():
        if name.split(".")[0] == "cpu":
            try:
                torch.Generator().set_state(state)
            except (RuntimeError, TypeError) as error:
                yield f"random: {name!r} is not a generator's state: {error}"
        elif state.dtype != torch.uint8:
            yield f"random: {name!r} is {_described(state)}"


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
