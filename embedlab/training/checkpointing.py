"""Checkpoints: encoder, heads, optimizer and random states as safetensors, the rest as JSON; each
folder is complete or absent.

A best model is a folder beside them, of encoder and heads alone.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from embedlab.core.errors import MissingError
from embedlab.core.seal import sealed_json
from embedlab.encoders.damaged_files import writing_weights
from embedlab.store.files import follow_umask
from embedlab.store.sealed import check_folder, read_sealed_json, sealed_folder
from embedlab.training.meter import Unreported

SCHEMA = 2
_OTHERS = "the same command with --resume goes on from another checkpoint, or from the beginning"
STATE = "state.json"

Tensors = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Best:
    """The highest dev score so far, where the recipe keeps the model of it, and its step."""

    score: float
    step: int


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What a model in training consists of."""

    encoder: Tensors
    heads: Tensors
    # fingerprint of the weights that are not stored, as the run does not change them
    frozen_weights: str | None = None


@dataclass(frozen=True, kw_only=True)
class BestModel(Weights):
    """The weights with the highest dev score so far: a third of a checkpoint, as no training goes
    on from it.
    """

    best: Best

    def write(self, folder: Path) -> None:
        """Write FOLDER atomically: complete or not at all."""
        tensors = {"encoder": self.encoder, "heads": self.heads}
        _write_folder(
            folder, tensors, {"schema": SCHEMA, "best": asdict(self.best), **_frozen(self)}
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read FOLDER; a damaged one is a MissingError."""
        with _damage_errors(folder):
            values, tensors = _read_folder(folder, "encoder", "heads")
            return cls(
                best=Best(**values["best"]), frozen_weights=values.get("frozen_weights"), **tensors
            )


@dataclass(frozen=True, kw_only=True)
class Snapshot(Weights):
    """Everything that training needs to continue as if uninterrupted.

    The schedule and the position in the data follow from the step: no random draw depends on
    earlier ones, except dropout, whose generator state is stored.
    """

    step: int  # steps done, over all stages
    best: Best | None
    optimizer: Tensors
    random: Tensors
    unreported: Unreported = Unreported()  # noqa: RUF009 - frozen
    scale: Mapping[str, float] = field(default_factory=dict)  # of the loss, in fp16

    def write(self, folder: Path) -> None:
        """Write FOLDER atomically: complete or not at all."""
        tensors = {
            name: getattr(self, name) for name in ("encoder", "heads", "optimizer", "random")
        }
        values = {
            "schema": SCHEMA,
            "step": self.step,
            "best": asdict(self.best) if self.best else None,
        }
        scale = {"scale": dict(self.scale)} if self.scale else {}
        _write_folder(
            folder,
            tensors,
            {**values, "unreported": asdict(self.unreported), **scale, **_frozen(self)},
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read FOLDER; a damaged one is a MissingError."""
        with _damage_errors(folder):
            values, tensors = _read_folder(folder, "encoder", "heads", "optimizer", "random")
            best = Best(**values["best"]) if values["best"] else None
            losses = tuple(map(float, values["unreported"]["losses"]))
            scale = {str(key): float(value) for key, value in values.get("scale", {}).items()}
            return cls(
                step=values["step"],
                best=best,
                unreported=Unreported(losses=losses, steps=int(values["unreported"]["steps"])),
                scale=scale,
                frozen_weights=values.get("frozen_weights"),
                **tensors,
            )


def _write_folder(folder: Path, tensors: Mapping[str, Tensors], values: Mapping[str, Any]) -> None:
    with sealed_folder(folder) as temporary:
        for name, tensor in tensors.items():
            write_tensors(temporary / f"{name}.safetensors", tensor)
        (temporary / STATE).write_text(sealed_json(values, indent=2), encoding="utf-8")


def _read_folder(folder: Path, *parts: str) -> tuple[dict[str, Any], dict[str, Tensors]]:
    check_folder(folder, hint=_OTHERS)
    values = _read_state(folder)
    return values, {name: load_file(folder / f"{name}.safetensors") for name in parts}


def _read_state(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = read_sealed_json(folder / STATE, hint=_OTHERS)
    if values["schema"] != SCHEMA:
        raise MissingError(
            f"{str(folder)!r} was written by another embedlab (schema {values['schema']})"
        )
    return values


def _frozen(weights: Weights) -> dict[str, str]:
    return {} if weights.frozen_weights is None else {"frozen_weights": weights.frozen_weights}


@contextmanager
def _damage_errors(folder: Path) -> Iterator[None]:
    """Turn whatever a damaged FOLDER raises into a MissingError."""
    try:
        yield
    # A RuntimeError means JSON that is nested too deeply, or a header with inconsistent numbers.
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise _damaged(folder, f"{type(error).__name__}: {error}") from error


def _damaged(folder: Path, reason: str) -> MissingError:
    return MissingError(f"checkpoint {str(folder)!r} is damaged: {reason}", hint=_OTHERS)


Misfit = Callable[
    [Weights], str | None
]  # gives the reason why stored weights do not belong to a run, if any


def _any(_: Weights) -> str | None:
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
        before = [step for step in self.steps() if step < snapshot.step][-1:]
        self._drop_others({snapshot.step, *before})  # later ones too: they were skipped as damaged

    def save_best(self, model: BestModel) -> None:
        """Write a best model; then delete those that no checkpoint names.

        That of a checkpoint stays until the next one: a process that is killed before it goes on
        from there, and on another machine its next dev scores may differ.
        """
        model.write(self.best_path(model.best.step))
        self._drop_others(self.steps(), model.best.step)

    def _drop_others(self, steps: Collection[int], best: int | None = None) -> None:
        """Delete all but the checkpoints of STEPS, the best models that these name, and that of
        step BEST.
        """
        bests = {best, *map(self._named_best, steps)}
        stored = {
            *steps,
            *(step for step in bests if step is not None and not self.best_path(step).exists()),
        }
        unneeded = [self.path(step) for step in set(self.steps()) - stored]
        unneeded += [self.best_path(step) for step in set(_numbers(self.folder, "best")) - bests]
        for path in unneeded:
            shutil.rmtree(path, ignore_errors=True)

    def _named_best(self, step: int) -> int | None:
        """Return the step of the best model that a checkpoint names; a damaged one, from which no
        run goes on, names none.
        """
        try:
            with _damage_errors(self.path(step)):
                best = _read_state(self.path(step))["best"]
                return None if best is None else int(best["step"])
        except MissingError:
            return None

    def newest(
        self, misfit: Misfit = _any, *, with_best: bool = False
    ) -> tuple[Snapshot | None, list[str]]:
        """Return the newest checkpoint that is intact and fits, and a note for each newer one that
        does not.

        MISFIT returns the reason why a checkpoint does not belong to the run, if any. WITH_BEST
        requires its best model, intact, too.
        """
        refused: list[str] = []
        for step in reversed(self.steps()):
            try:
                snapshot = self.read(step, misfit)
                if with_best and snapshot.best is not None:
                    self.read_best(snapshot.best, misfit)
            except MissingError as error:
                refused.append(error.message)
            else:
                return snapshot, [
                    f"{reason}; training goes on from step {step}" for reason in refused
                ]
        return None, [f"{reason}; training starts from the beginning" for reason in refused]

    def read(self, step: int, misfit: Misfit = _any) -> Snapshot:
        """Read the checkpoint after STEP; an absent or damaged one, or another run's by MISFIT, is
        a MissingError.
        """
        snapshot = Snapshot.read(self.path(step))
        reason = misfit(snapshot) if snapshot.step == step else f"it says step {snapshot.step!r}"
        if reason is not None:
            raise _damaged(self.path(step), reason)
        return snapshot

    def read_best(self, best: Best, misfit: Misfit = _any) -> Weights:
        """Read the weights of BEST; absent or damaged ones, or another run's by MISFIT, are a
        MissingError.

        The last checkpoint of a run is its own best model.
        """
        folder = self.best_path(best.step)
        if not folder.exists() and self.path(best.step).exists():
            return self.read(best.step, misfit)
        model = BestModel.read(folder)
        reason = (
            misfit(model)
            if model.best == best
            else f"it says step {model.best.step!r} and dev score {model.best.score!r}"
        )
        if reason is not None:
            raise _damaged(folder, reason)
        return model


def _numbers(folder: Path, kind: str) -> list[int]:
    """Return the steps in the names of folders such as "step-0000003", ascending."""
    matches = (re.fullmatch(rf"{kind}-(\d+)", path.name) for path in folder.glob("*"))
    return sorted(int(match[1]) for match in matches if match)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as safetensors; a full disk is an OSError, as for other writers."""
    with writing_weights(path):
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)
    follow_umask(path)


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


def random_tensors(device: torch.device) -> Tensors:
    """Return the state of torch's generators, which dropout draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(states: Tensors, device: torch.device) -> None:
    """Restore the state that `random_tensors` returned; another kind of device continues with its
    own state.
    """
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
