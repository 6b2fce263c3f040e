"""The layers between a pooled vector and the sentence vector: Dense, LayerNorm and normalisation,
as sentence-transformers stores them.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
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
from embedlab.models.folder_files import (
    RESTORE_HINT,
    STATEMENT,
    SWITCHES,
    DenseFile,
    LayerNormFile,
)
from embedlab.models.modules import (
    OWN_POOLING,
    PROMPTS,
    TRANSFORMER,
    Layer,
    pooling_parts,
    read_dense,
    read_layer_norm,
)

TORCH = "torch.nn"  # where activations may come from


class Dense(nn.Module):
    """A linear layer with an activation, and on request with its input added to its output."""

    type_name = "Dense"

    def __init__(self, file: DenseFile, activation: nn.Module) -> None:
        super().__init__()
        width, out = file.in_features, file.out_features
        self.file = file
        self.linear = nn.Linear(width, out, bias=file.bias)
        self.activation_function = activation  # the name of its weights in files
        is_mapped = file.use_residual and width != out
        self.residual = nn.Linear(width, out, bias=False) if is_mapped else None

    def forward(self, vectors: Tensor) -> Tensor:
        """(batch, width) in, (batch, out) out."""
        mapped: Tensor = self.activation_function(self.linear(vectors))
        if not self.file.use_residual:
            return mapped
        return mapped + (vectors if self.residual is None else self.residual(vectors))

    @property
    def config(self) -> Mapping[str, Any]:
        """How its file describes it."""
        return {**asdict(self.file), "use_residual": self.file.use_residual or None}


class LayerNorm(nn.Module):
    """A layer norm of sentence vectors."""

    type_name = "LayerNorm"

    def __init__(self, file: LayerNormFile) -> None:
        super().__init__()
        self.config = asdict(file)
        self.norm = nn.LayerNorm(file.dimension)

    def forward(self, vectors: Tensor) -> Tensor:
        """(batch, width) in and out."""
        normed: Tensor = self.norm(vectors)
        return normed


class Normalise(nn.Module):
    """Vectors of length 1."""

    type_name = "Normalize"
    config: Mapping[str, Any] = {}

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
    layer = Dense(DenseFile(in_features=width, out_features=width), nn.Tanh())
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
        return _with_weights(LayerNorm(read_layer_norm(layer.folder)), layer.folder)
    file = read_dense(layer.folder)
    activation = _activation(layer.folder, file.activation_function)
    return _with_weights(Dense(file, activation), layer.folder)


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


# one of sentence-transformers' modules: its name, and the config and tensors in its folder
_Module = tuple[str, Mapping[str, Any], Mapping[str, Tensor]]


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
    modes = [method.exported_as for method in methods if method.exported_as is not None]
    modules: list[_Module] = [("Transformer", {}, {})]
    if len(methods) == 1 and methods[0].unweighted:
        modules.append(_word_weights(tokenizer, methods[0].unweighted))
    modules.append(("Pooling", _pooling(usage, modes, width), {}))
    steps: list[Any] = [*layers, *([Normalise()] if usage.is_normalised else [])]
    modules += [(step.type_name, step.config, step.state_dict()) for step in steps]
    entries = []
    for number, (name, config, tensors) in enumerate(modules):
        path = f"{number}_{name}" if number else ""
        kind = f"{MODULE}.{name}"
        if name == "Pooling" and len(modes) < len(methods):
            # sentence-transformers then refuses the folder by this name, and takes no mean in its
            # place
            kind = f"{OWN_POOLING}{usage.pooling}"
        entries.append({"idx": number, "name": str(number), "path": path, "type": kind})
        if config:
            _write_json(folder / path / "config.json", config)
        if tensors:
            contiguous = {key: value.contiguous() for key, value in tensors.items()}
            save_file(contiguous, folder / path / "model.safetensors")
    _write_json(folder / "modules.json", entries)
    tokens, prompt = usage.reading.max_tokens, usage.reading.prompt
    model_args = None if has_pooler else {"add_pooling_layer": False}
    _write_json(
        folder / TRANSFORMER,
        {"max_seq_length": tokens, "do_lower_case": False, "model_args": model_args},
    )
    if usage.details:
        _write_json(
            folder / PROMPTS,
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
            "max_tokens": tokens,
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


def _word_weights(tokenizer: PreTrainedTokenizerFast, unweighted: str) -> _Module:
    """Weights of 1 for all words but the special token that the tokenizer calls UNWEIGHTED."""
    token = getattr(tokenizer, unweighted)
    vocabulary = [
        word or f"[unused {number}]"
        for number, word in enumerate(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    ]
    weights = torch.ones(len(vocabulary), 1)
    weights[tokenizer.convert_tokens_to_ids(token)] = 0
    config = {"vocab": vocabulary, "word_weights": {token: 0.0}, "unknown_word_weight": 1}
    return "WordWeights", config, {"emb_layer.weight": weights}


def _write_json(path: Path, content: Any) -> None:
    """Write CONTENT, of an object without the keys that have no value."""
    if isinstance(content, Mapping):
        content = {key: value for key, value in content.items() if value is not None}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
