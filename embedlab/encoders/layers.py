"""The layers between a pooled vector and the sentence vector: Dense, LayerNorm and normalisation,
as sentence-transformers stores them.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from embedlab.core.errors import MissingError
from embedlab.models.folder_files import RESTORE_HINT
from embedlab.models.modules import Layer, read_dense, read_layer_norm

TORCH = "torch.nn"  # where activations may come from


class Dense(nn.Module):
    """A linear layer with an activation, and on request with its input added to its output."""

    def __init__(
        self,
        width: int,
        out: int,
        *,
        bias: bool,
        activation: nn.Module,
        activation_name: str,
        has_residual: bool,
    ) -> None:
        super().__init__()
        self.linear = nn.Linear(width, out, bias=bias)
        self.activation_function = activation  # the name of its weights in files
        self.activation_name = activation_name  # as files state it
        self.has_residual = has_residual
        self.residual = nn.Linear(width, out, bias=False) if has_residual and width != out else None

    def forward(self, vectors: Tensor) -> Tensor:
        """(batch, width) in, (batch, out) out."""
        mapped: Tensor = self.activation_function(self.linear(vectors))
        if not self.has_residual:
            return mapped
        return mapped + (vectors if self.residual is None else self.residual(vectors))


class LayerNorm(nn.Module):
    """A layer norm of sentence vectors."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, vectors: Tensor) -> Tensor:
        """(batch, width) in and out."""
        normed: Tensor = self.norm(vectors)
        return normed


class Normalise(nn.Module):
    """Vectors of length 1."""

    def forward(self, vectors: Tensor) -> Tensor:
        """(batch, width) in and out."""
        return F.normalize(vectors, dim=-1)


def load_layers(layers: Sequence[Layer]) -> nn.Sequential:
    """LAYERS with their weights in float32; weights that are missing, of another shape, pickled or
    not finite are a MissingError.
    """
    return nn.Sequential(*(_load(layer) for layer in layers))


def pooler_layer(pooler: nn.Linear | None, width: int, *, seed: int, spread: float) -> Dense:
    """The layer of the pooling `pooler`: tanh of a linear layer, POOLER or a new one of WIDTH drawn
    by SEED with the SPREAD of BERT's.
    """
    made = Dense(
        width,
        width,
        bias=True,
        activation=nn.Tanh(),
        activation_name=f"{TORCH}.modules.activation.Tanh",
        has_residual=False,
    )
    if pooler is not None:
        made.linear = pooler
        return made
    with torch.no_grad():
        made.linear.weight.normal_(0, spread, generator=torch.Generator().manual_seed(seed))
        made.linear.bias.zero_()
    return made


def _load(layer: Layer) -> nn.Module:
    if layer.kind == "normalise":
        return Normalise()
    if layer.kind == "layer-norm":
        return _with_weights(LayerNorm(read_layer_norm(layer.folder).dimension), layer.folder)
    stated = read_dense(layer.folder)
    made = Dense(
        stated.in_features,
        stated.out_features,
        bias=stated.bias,
        activation=_activation(layer.folder, stated.activation_function),
        activation_name=stated.activation_function,
        has_residual=stated.use_residual,
    )
    return _with_weights(made, layer.folder)


def _activation(folder: Path, name: str) -> nn.Module:
    """An activation by the name of its class; only torch's own are made, as others would run code
    of the folder's choice.
    """
    module, _, last = name.rpartition(".")
    activation = (
        getattr(nn, last, None)
        if module == TORCH or module.startswith(f"{TORCH}.modules.")
        else None
    )
    if not (
        isinstance(activation, type)
        and issubclass(activation, nn.Module)
        and activation.__module__.startswith(TORCH)
    ):
        raise MissingError(
            f"{folder / 'config.json'}: no activation {name!r} in torch.nn", hint=RESTORE_HINT
        )
    try:
        return activation()
    except TypeError as error:
        raise MissingError(
            f"{folder / 'config.json'}: {name!r} is not an activation", hint=RESTORE_HINT
        ) from error


def _with_weights(module: nn.Module, folder: Path) -> nn.Module:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise MissingError(
            f"{str(folder)!r} holds no safetensors weights",
            hint="embedlab loads no pickled weights; convert the checkpoint",
        )
    try:
        weights = {name: value.float() for name, value in load_file(path).items()}
        module.load_state_dict(weights, strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise MissingError(f"{str(path)!r} cannot be read: {reason}", hint=RESTORE_HINT) from error
    if not all(bool(torch.isfinite(value).all()) for value in weights.values()):
        raise MissingError(f"{str(path)!r}: numbers that are not finite", hint=RESTORE_HINT)
    return module
