"""The layers between a pooled vector and the sentence vector: Dense, LayerNorm and normalisation,
as sentence-transformers stores them.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from embedlab.core.errors import MissingError, in_one_line
from embedlab.encoders.pooling import pooling_method, saved_pooling
from embedlab.encoders.weight_checks import read_tensors
from embedlab.models.folder import Usage
from embedlab.models.folder_files import RESTORE_HINT, STATEMENT, SWITCHES
from embedlab.models.modules import (
    OWN_POOLING,
    TRANSFORMER,
    Layer,
    pooling_parts,
    read_dense,
    read_layer_norm,
)

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
    layer = Dense(
        width,
        width,
        bias=True,
        activation=nn.Tanh(),
        activation_name=f"{TORCH}.modules.activation.Tanh",
        has_residual=False,
    )
    if pooler is not None:
        layer.linear = pooler
        return layer
    with torch.no_grad():
        layer.linear.weight.normal_(0, spread, generator=torch.Generator().manual_seed(seed))
        layer.linear.bias.zero_()
    return layer


def _load(layer: Layer) -> nn.Module:
    if layer.kind == "normalise":
        return Normalise()
    if layer.kind == "layer-norm":
        return _with_weights(LayerNorm(read_layer_norm(layer.folder).dimension), layer.folder)
    config = read_dense(layer.folder)
    dense = Dense(
        config.in_features,
        config.out_features,
        bias=config.bias,
        activation=_activation(layer.folder, config.activation_function),
        activation_name=config.activation_function,
        has_residual=config.use_residual,
    )
    return _with_weights(dense, layer.folder)


def _activation(folder: Path, name: str) -> nn.Module:
    """An activation by the name of its class; only torch's own are made, as others would run code
    of the folder's choice.
    """
    module, _, class_name = name.rpartition(".")
    activation = None
    if module == TORCH or module.startswith(f"{TORCH}.modules."):
        with suppress(AttributeError, TypeError):  # absent, or what takes arguments
            activation = getattr(nn, class_name)()
    if not isinstance(activation, nn.Module):
        raise MissingError(
            f"{folder / 'config.json'}: no activation {name!r} in torch.nn", hint=RESTORE_HINT
        )
    return activation


def _with_weights(module: nn.Module, folder: Path) -> nn.Module:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise MissingError(
            f"{str(folder)!r} holds no safetensors weights",
            hint="embedlab loads no pickled weights; convert the checkpoint",
        )
    weights = {name: value.float() for name, value in read_tensors(path, RESTORE_HINT).items()}
    try:
        module.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        raise MissingError(
            f"{str(path)!r} cannot be read: {in_one_line(error)}", hint=RESTORE_HINT
        ) from error
    return module


# The names of versions 2 to 5, which version 6 understands too.
MODULE = "sentence_transformers.models"
OPTIONS = "config_sentence_transformers.json"
_TYPES = {Dense: "Dense", LayerNorm: "LayerNorm", Normalise: "Normalize"}


def write_layout(
    folder: Path,
    *,
    tokenizer: PreTrainedTokenizerFast,
    usage: Usage,
    width: int,
    layers: nn.Sequential,
    has_pooler: bool,
) -> None:
    """Add our own statement and sentence-transformers' module files to a folder that holds a saved
    transformer used as USAGE says.

    WIDTH is the length of its token vectors. Without HAS_POOLER the transformer is loaded without
    the layer that it does not hold.
    """
    methods = [pooling_method(name) for name in pooling_parts(usage.pooling)]
    unweighted = methods[0].unweighted if len(methods) == 1 else None
    weighted = ["WordWeights"] if unweighted else []
    final_modules = ["Normalize"] if usage.is_normalised else []
    names = [
        "Transformer",
        *weighted,
        "Pooling",
        *(_TYPES[type(layer)] for layer in layers),
        *final_modules,
    ]
    paths = ["", *(f"{number}_{name}" for number, name in enumerate(names[1:], start=1))]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"{MODULE}.{name}"}
        for number, (name, path) in enumerate(zip(names, paths, strict=True))
    ]
    if unweighted:
        _write_word_weights(folder / "1_WordWeights", tokenizer, unweighted)
    pooling_index, modes = (
        names.index("Pooling"),
        [method.exported_as for method in methods if method.exported_as is not None],
    )
    # sentence-transformers then refuses the folder by this name, and takes no mean in its
    # place
    if len(modes) < len(methods):
        modules[pooling_index]["type"] = f"{OWN_POOLING}{usage.pooling}"
    _write_json(folder / paths[pooling_index] / "config.json", _pooling(usage, modes, width))
    for path, layer in zip(paths[pooling_index + 1 :], layers, strict=False):
        _write_layer(folder / path, layer)
    _write_json(folder / "modules.json", modules)
    _write_json(
        folder / TRANSFORMER,
        {
            "max_seq_length": usage.reading.max_tokens,
            "do_lower_case": False,
            "model_args": None if has_pooler else {"add_pooling_layer": False},
        },
    )
    if usage.details:
        prompt = usage.reading.prompt
        _write_json(
            folder / OPTIONS,
            {
                "prompts": {"default": prompt} if prompt else None,
                "default_prompt_name": "default" if prompt else None,
                "similarity_fn_name": usage.similarity,
                "truncate_dim": usage.dim,
            },
        )
    _write_json(
        folder / STATEMENT,
        {
            "pooling": saved_pooling(usage.pooling),
            "max_tokens": usage.reading.max_tokens,
            "training_text": usage.training_text,
        },
    )


def _pooling(usage: Usage, modes: Sequence[str], width: int) -> dict[str, Any]:
    """The switches of versions 2 to 5, and the poolings in their order where that is another
    one.
    """
    ordered = [mode for mode in SWITCHES.values() if mode in modes]
    return {
        "word_embedding_dimension": width,
        **{name: mode in modes for name, mode in SWITCHES.items()},
        "include_prompt": None if usage.includes_prompt else False,
        "pooling_mode": None if list(modes) == ordered else list(modes),
    }


def _write_layer(folder: Path, layer: nn.Module) -> None:
    folder.mkdir()
    if isinstance(layer, Dense):
        config = {
            "in_features": layer.linear.in_features,
            "out_features": layer.linear.out_features,
            "bias": layer.linear.bias is not None,
            "activation_function": layer.activation_name,
            "use_residual": layer.has_residual or None,
        }
        _write_json(folder / "config.json", config)
    elif isinstance(layer, LayerNorm):
        _write_json(folder / "config.json", {"dimension": layer.norm.normalized_shape[0]})
    if weights := layer.state_dict():
        save_file(
            {name: value.contiguous() for name, value in weights.items()},
            folder / "model.safetensors",
        )


def _write_word_weights(folder: Path, tokenizer: PreTrainedTokenizerFast, unweighted: str) -> None:
    """Write weights of 1 for all words but the special token that the tokenizer calls
    UNWEIGHTED.
    """
    token = getattr(tokenizer, unweighted)
    vocabulary = [
        word or f"[unused {number}]"
        for number, word in enumerate(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    ]
    weights = torch.ones(len(vocabulary), 1)
    weights[tokenizer.convert_tokens_to_ids(token)] = 0
    _write_json(
        folder / "config.json",
        {"vocab": vocabulary, "word_weights": {token: 0.0}, "unknown_word_weight": 1},
    )
    save_file({"emb_layer.weight": weights}, folder / "model.safetensors")


def _write_json(path: Path, content: Any) -> None:
    """Write CONTENT, of an object without the keys that have no value."""
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if value is not None}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
