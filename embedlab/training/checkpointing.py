"""Checkpoints: encoder, heads, optimizer and random states as safetensors, the rest as JSON; each
folder is complete or absent.

A best model is a folder beside them, of encoder and heads alone.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from embedlab.core.disk import (
    CHECKSUMS,
    as_reading_errors,
    check_folder,
    read_sealed_json,
    sealed_folder,
    sealed_json,
)
from embedlab.core.errors import MissingError
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.weight_checks import writing_weights
from embedlab.objectives.objective import Objective, saved_tensors
from embedlab.training.meter import Unreported

SCHEMA = 2
_OTHERS = "the same command with --resume goes on from another checkpoint, or from the beginning"
STATE = "state.json"
_WEIGHTS = ("encoder", "heads")
_PARTS = (*_WEIGHTS, "optimizer", "random")

Tensors = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Best:
    """The highest dev score so far, where the recipe keeps the model of it, and its step."""

    score: float
    step: int


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything that training needs to continue as if uninterrupted; of a best model the weights
    alone: a third of it.

    The schedule and the position in the data follow from the step: no random draw depends on
    earlier ones, except dropout, whose generator state is stored.
    """

    step: int  # steps done, over all stages
    best: Best | None
    encoder: Tensors
    heads: Tensors
    optimizer: Tensors = field(default_factory=dict)
    random: Tensors = field(default_factory=dict)
    # fingerprint of the weights that are not stored, as the run does not change them
    frozen_weights: str | None = None
    unreported: Unreported = Unreported()  # noqa: RUF009 - frozen
    scale: Mapping[str, float] = field(default_factory=dict)  # of the loss, in fp16

    @property
    def is_best_model(self) -> bool:
        """Return whether it is a best model, from which no training goes on."""
        return not self.random

    def write(self, folder: Path) -> None:
        """Write FOLDER atomically: complete or not at all."""
        values: dict[str, Any] = {
            "schema": SCHEMA,
            "best": asdict(self.best) if self.best else None,
        }
        if not self.is_best_model:
            values |= {"step": self.step, "unreported": asdict(self.unreported)}
        if self.scale:
            values["scale"] = dict(self.scale)
        if self.frozen_weights is not None:
            values["frozen_weights"] = self.frozen_weights
        with sealed_folder(folder) as temporary:
            for name in _WEIGHTS if self.is_best_model else _PARTS:
                write_tensors(temporary / f"{name}.safetensors", getattr(self, name))
            (temporary / STATE).write_text(sealed_json(values, indent=2), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read FOLDER; a damaged one is a MissingError."""
        with as_reading_errors(folder, hint=_OTHERS, what="checkpoint"):
            (folder / CHECKSUMS).stat()  # without it the folder is not ours
            check_folder(folder, hint=_OTHERS)
            values = _read_state(folder)
            is_best_model = "step" not in values
            parts = _WEIGHTS if is_best_model else _PARTS
            unreported = values.get("unreported", asdict(Unreported()))
            return cls(
                step=(values["best"] if is_best_model else values)["step"],
                best=Best(**values["best"]) if values["best"] else None,
                frozen_weights=values.get("frozen_weights"),
                unreported=Unreported(
                    losses=tuple(unreported["losses"]), steps=unreported["steps"]
                ),
                scale=values.get("scale", {}),
                **{name: load_file(folder / f"{name}.safetensors") for name in parts},
            )


def _read_state(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = read_sealed_json(folder / STATE, hint=_OTHERS)
    if values["schema"] != SCHEMA:
        raise MissingError(
            f"{str(folder)!r} was written by another embedlab (schema {values['schema']})"
        )
    return values


def _damage_error(folder: Path, reason: str) -> MissingError:
    return MissingError(f"checkpoint {str(folder)!r} is damaged: {reason}", hint=_OTHERS)


Misfit = Callable[
    [Snapshot], str | None
]  # gives the reason why stored weights do not belong to a run, if any


def _fits_any(_: Snapshot) -> str | None:
    """Fit every run."""
    return None


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run: the newest, the one before it (in case the newest is damaged) and
    the best models that these name.
    """

    folder: Path

    def path(self, step: int) -> Path:
        """Return the folder of the checkpoint after STEP."""
        return self.folder / f"step-{step:07d}"

    def best_path(self, step: int) -> Path:
        """Return the folder of the best model, if it is that after STEP."""
        return self.folder / f"best-{step:07d}"

    def steps(self) -> list[int]:
        """Return the steps of the complete checkpoints, ascending."""
        return _numbers(self.folder, "step")

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint; then delete the others, except the one before it, and the best models
        that neither names.
        """
        snapshot.write(self.path(snapshot.step))
        previous_step = [step for step in self.steps() if step < snapshot.step][-1:]
        self._drop_others(
            {snapshot.step, *previous_step}
        )  # later ones too: they were skipped as damaged

    def save_best(self, model: Snapshot) -> None:
        """Write a best model; then delete those that no checkpoint names.

        That of a checkpoint stays until the next one: a process that is killed before it goes on
        from there, and on another machine its next dev scores may differ.
        """
        model.write(self.best_path(model.step))
        self._drop_others(self.steps(), model.step)

    def _drop_others(self, steps: Collection[int], best: int | None = None) -> None:
        """Delete all but the checkpoints of STEPS, the best models that these name, and that of
        step BEST.
        """
        bests = {best, *map(self._best_step_named, steps)}
        unneeded = [self.path(step) for step in set(self.steps()) - set(steps)]
        unneeded += [self.best_path(step) for step in set(_numbers(self.folder, "best")) - bests]
        for path in unneeded:
            shutil.rmtree(path, ignore_errors=True)

    def _best_step_named(self, step: int) -> int | None:
        """Return the step of the best model that a checkpoint names; a damaged one, from which no
        run goes on, names none.
        """
        try:
            with as_reading_errors(self.path(step), hint=_OTHERS):
                best = _read_state(self.path(step))["best"]
                return None if best is None else int(best["step"])
        except MissingError:
            return None

    def newest(
        self, misfit: Misfit = _fits_any, *, with_best: bool = False
    ) -> tuple[Snapshot | None, list[str]]:
        """Return the newest checkpoint that is intact and fits, and a note for each newer one that
        does not.

        MISFIT returns the reason why a checkpoint does not belong to the run, if any. WITH_BEST
        requires its best model, intact, too: its own weights or those of an earlier step.
        """
        reasons: list[str] = []
        for step in reversed(self.steps()):
            try:
                snapshot = self.read(step, misfit)
                if with_best and snapshot.best is not None and snapshot.best.step != step:
                    self.read_best(snapshot.best, misfit)
            except MissingError as error:
                reasons.append(error.message)
            else:
                return snapshot, [
                    f"{reason}; training goes on from step {step}" for reason in reasons
                ]
        return None, [f"{reason}; training starts from the beginning" for reason in reasons]

    def read(self, step: int, misfit: Misfit = _fits_any) -> Snapshot:
        """Read the checkpoint after STEP; an absent or damaged one, or another run's by MISFIT, is
        a MissingError.
        """
        snapshot = Snapshot.read(self.path(step))
        reason = misfit(snapshot) if snapshot.step == step else f"it says step {snapshot.step!r}"
        if reason is not None:
            raise _damage_error(self.path(step), reason)
        return snapshot

    def read_best(self, best: Best, misfit: Misfit = _fits_any) -> Snapshot:
        """Read the weights of BEST; absent or damaged ones, or another run's by MISFIT, are a
        MissingError.
        """
        folder = self.best_path(best.step)
        model = Snapshot.read(folder)
        reason = misfit(model)
        if model.best is not None and model.best != best:
            reason = f"it says step {model.step!r} and dev score {model.best.score!r}"
        if reason is not None:
            raise _damage_error(folder, reason)
        return model


def _numbers(folder: Path, kind: str) -> list[int]:
    """Return the steps in the names of folders such as "step-0000003", ascending."""
    matches = (re.fullmatch(rf"{kind}-(\d+)", path.name) for path in folder.glob("*"))
    return sorted(int(match[1]) for match in matches if match)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as safetensors; a full disk is an OSError, as for other writers."""
    with writing_weights(path):
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)


def optimizer_tensors(
    optimizer: torch.optim.Optimizer, parameters: Mapping[str, nn.Parameter]
) -> Tensors:
    """Return the optimizer's state as `<parameter>.<entry>`; a parameter without any gradient so
    far has none.
    """
    return {
        f"{name}.{entry}": value
        for name, parameter in parameters.items()
        for entry, value in optimizer.state.get(parameter, {}).items()
    }


def restore_optimizer(
    optimizer: torch.optim.Optimizer, parameters: Mapping[str, nn.Parameter], tensors: Tensors
) -> None:
    """Restore the state that `optimizer_tensors` returned."""
    for key, value in tensors.items():
        name, _, entry = key.rpartition(".")
        parameter = parameters[name]
        optimizer.state[parameter][entry] = value.to(
            parameter.device
        )  # the step count too: the fused kernel reads it on the device


def find_misfit(
    snapshot: Snapshot, *, encoder: TransformerEncoder, objectives: Sequence[Objective], steps: int
) -> str | None:
    """Return the first reason why a checkpoint or a best model is not of a run of so many STEPS
    with this ENCODER and these OBJECTIVES, one a stage; None if it fits.
    """
    if snapshot.step > steps:
        return f"step {snapshot.step} is not between 1 and {steps}"
    if snapshot.frozen_weights != encoder.frozen_weights:
        return "the weights of the encoder that it was trained on have changed since"
    differences = chain(
        _other_tensors("encoder", snapshot.encoder, encoder.tensors()),
        _other_tensors("heads", snapshot.heads, saved_tensors(objectives)),
    )
    return next(differences, None)


def _other_tensors(part: str, tensors: Tensors, expected: Mapping[str, Tensor]) -> Iterator[str]:
    for name in [*expected, *tensors]:
        if name not in tensors or name not in expected:
            yield f"{part}: {name!r} is {'missing' if name in expected else 'unknown'}"
        elif (tensors[name].shape, tensors[name].dtype) != (
            expected[name].shape,
            expected[name].dtype,
        ):
            yield (
                f"{part}: {name!r} is {_describe_tensor(tensors[name])}, not {_describe_tensor(expected[name])}"
            )


def _describe_tensor(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
