"""The heads of a finished run in its objectives: all of them, whole and finite, or an error that
names file and tensor.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from embedlab.core.errors import MissingError
from embedlab.encoders.sealed_tensors import HEADS_FILE, heads_hint, read_heads
from embedlab.objectives.objective import Objective, build_objectives, saved_tensors
from embedlab.runs.store import RunFolder


def load_objectives(run: RunFolder, dim: int) -> list[Objective]:
    """The objectives of RUN, one a stage, on vectors of DIM numbers, with the heads that it saved.

    Objectives draw their heads at random when they are made, so that a tensor which is absent,
    misshapen or not finite would give results of chance: it is a MissingError. What an objective
    took from its encoder was never saved.
    """
    objectives = build_objectives(run.recipe(), dim)
    tensors, expected = read_heads(run), saved_tensors(objectives)
    for name, parameter in expected.items():
        if flaw := _flaw(name, tensors, parameter):
            raise MissingError(f"{str(run.path / HEADS_FILE)!r} {flaw}", hint=heads_hint(run))
    nn.ModuleList(objectives).load_state_dict(
        {name: tensors[name] for name in expected}, strict=False
    )  # strict counts shared layers twice
    return objectives


def _flaw(name: str, tensors: Mapping[str, Tensor], expected: Tensor) -> str | None:
    """Why the tensor NAME among TENSORS cannot take the place of EXPECTED; None where it can."""
    tensor = tensors.get(name)
    if tensor is None:
        return f"lacks tensor {name!r}, which the run's recipe has"
    if tensor.shape != expected.shape:
        return (
            f"has tensor {name!r} in the shape {list(tensor.shape)}, but the run's recipe "
            f"has {list(expected.shape)}"
        )
    if not tensor.is_floating_point():
        return f"has tensor {name!r} without floating point numbers"
    return (
        None
        if torch.isfinite(tensor).all()
        else f"has numbers that are not finite in tensor {name!r}"
    )
