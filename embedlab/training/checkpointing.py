"""Checkpoints: encoder, heads, optimizer and random states as safetensors, the rest as JSON; each folder is complete or absent."""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from embedlab.core.checksums import check_folder, read_sealed_json, sealed_json, write_checksums
from embedlab.core.errors import MissingError
from embedlab.core.paths import atomic_folder, follow_umask
from embedlab.encoders.weights import writing_weights
from embedlab.training.meter import Unreported

SCHEMA = 2
_OTHERS = "the same command with --resume goes on from another checkpoint, or from the beginning"
STATE = "state.json"

Tensors = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Best:
    """The highest dev score of a stage so far and its step."""

    score: float
    step: int


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything that training needs to continue as if uninterrupted.

    The schedule and the position in the data follow from the step: no random draw depends on earlier ones,
    except dropout, whose generator state is stored.
    """

    step: int  # steps done, over all stages
    best: Best | None
    encoder: Tensors
    heads: Tensors
    optimizer: Tensors
    random: Tensors
    unreported: Unreported = Unreported()  # noqa: RUF009 - frozen
    frozen_weights: str | None = None  # fingerprint of the weights that are not stored, as the run does not change them

    def write(self, folder: Path) -> None:
        """Write FOLDER atomically: complete or not at all."""
        with atomic_folder(folder) as place:
            for name in ("encoder", "heads", "optimizer", "random"):
                write_tensors(place / f"{name}.safetensors", getattr(self, name))
            values: dict[str, Any] = {"schema": SCHEMA, "step": self.step, "best": asdict(self.best) if self.best else None}
            values["unreported"] = asdict(self.unreported)
            if self.frozen_weights is not None:
                values["frozen_weights"] = self.frozen_weights
            (place / STATE).write_text(sealed_json(values, indent=2), encoding="utf-8")
            write_checksums(place)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read FOLDER; a damaged one is a MissingError."""
        try:
            check_folder(folder, hint=_OTHERS)
            values: dict[str, Any] = read_sealed_json(folder / STATE, hint=_OTHERS)
            if values["schema"] != SCHEMA:
                raise MissingError(f"{str(folder)!r} was written by another embedlab (schema {values['schema']})")
            tensors = {name: load_file(folder / f"{name}.safetensors") for name in ("encoder", "heads", "optimizer", "random")}
            best = Best(**values["best"]) if values["best"] else None
            unreported, frozen = _unreported(values.get("unreported")), values.get("frozen_weights")
            return cls(step=values["step"], best=best, unreported=unreported, frozen_weights=frozen, **tensors)
        # A RuntimeError means JSON that is nested too deeply, or a header with inconsistent numbers.
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise _damaged(folder, f"{type(error).__name__}: {error}") from error


def _damaged(folder: Path, reason: str) -> MissingError:
    return MissingError(f"checkpoint {str(folder)!r} is damaged: {reason}", hint=_OTHERS)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run: it stores the newest, the one before it (in case the newest is damaged) and the best."""

    folder: Path

    def path(self, step: int) -> Path:
        """Return the folder of the checkpoint after STEP."""
        return self.folder / f"step-{step:07d}"

    def steps(self) -> list[int]:
        """Return the steps of the complete checkpoints, ascending."""
        found = (re.fullmatch(r"step-(\d+)", path.name) for path in self.folder.glob("step-*"))
        return sorted(int(match[1]) for match in found if match)

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint; then delete the others, except the one before it and the best."""
        snapshot.write(self.path(snapshot.step))
        before = [step for step in self.steps() if step < snapshot.step][-1:]
        stored = {snapshot.step, *before, snapshot.best.step if snapshot.best else snapshot.step}
        for step in set(self.steps()) - stored:  # later ones too: they were skipped as damaged
            shutil.rmtree(self.path(step), ignore_errors=True)

    def newest(
        self, misfit: Callable[[Snapshot], str | None] = lambda _: None, *, with_best: bool = False
    ) -> tuple[Snapshot | None, list[str]]:
        """Return the newest checkpoint that is intact and fits, and a note for each newer one that does not.

        MISFIT returns the reason why a checkpoint does not belong to the run, if any. WITH_BEST requires an intact best checkpoint too.
        """
        refused: list[str] = []
        for step in reversed(self.steps()):
            try:
                snapshot = self.read(step, misfit)
                if with_best and snapshot.best is not None and snapshot.best.step != step:
                    self.read(snapshot.best.step, misfit)
            except MissingError as error:
                refused.append(error.message)
            else:
                return snapshot, [f"{reason}; training goes on from step {step}" for reason in refused]
        return None, [f"{reason}; training starts from the beginning" for reason in refused]

    def read(self, step: int, misfit: Callable[[Snapshot], str | None] = lambda _: None) -> Snapshot:
        """Read the checkpoint after STEP; an absent or damaged one, or another run's by MISFIT, is a MissingError."""
        snapshot = Snapshot.read(self.path(step))
        reason = misfit(snapshot) if snapshot.step == step else f"it says step {snapshot.step!r}"
        if reason is not None:
            raise _damaged(self.path(step), reason)
        return snapshot


def _unreported(values: Mapping[str, Any] | None) -> Unreported:
    """Return what `Snapshot.write` wrote; earlier versions wrote none."""
    return Unreported() if values is None else Unreported(losses=tuple(map(float, values["losses"])), steps=int(values["steps"]))


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as safetensors; a full disk is an OSError, as for other writers."""
    with writing_weights(path):
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)
    follow_umask(path)


def optimizer_tensors(optimizer: torch.optim.Optimizer, parameters: Mapping[str, nn.Parameter]) -> Tensors:
    """Return the optimizer's state as `<parameter>.<entry>`; a parameter without any gradient so far has none."""
    return {
        f"{name}.{entry}": value for name, parameter in parameters.items() for entry, value in optimizer.state.get(parameter, {}).items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, parameters: Mapping[str, nn.Parameter], tensors: Tensors) -> None:
    """Restore the state that `optimizer_tensors` returned."""
    for key, value in tensors.items():
        name, _, entry = key.rpartition(".")
        parameter = parameters[name]
        optimizer.state[parameter][entry] = value.to(parameter.device)  # the step count too: the fused kernel reads it on the device


def random_tensors(device: torch.device) -> Tensors:
    """Return the state of torch's generators, which dropout draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(states: Tensors, device: torch.device) -> None:
    """Restore the state that `random_tensors` returned; another kind of device continues with its own state."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
