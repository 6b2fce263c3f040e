"""The files by which sentence-transformers, old and new, knows how a transformers folder makes sentence vectors."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

from embedlab.core.recipe import Pooling
from embedlab.encoders.pooling import pooling_method
from embedlab.models.folder import STATEMENT, TRANSFORMER

# The names of versions 2 to 5, which version 6 understands too.
MODULE = "sentence_transformers.models"
MODES = ("cls", "mean", "max")


def write_layout(
    folder: Path,
    *,
    tokenizer: PreTrainedTokenizerFast,
    dim: int,
    pooling: Pooling,
    max_tokens: int,
    is_normalised: bool,
    training_text: Sequence[str] | None = None,
) -> None:
    """Add our own statement and sentence-transformers' module files to a folder that holds a saved transformer.

    TRAINING_TEXT is what no run records, where it is known.
    """
    method = pooling_method(pooling)
    weighted = ["WordWeights"] if method.unweighted else []
    names = ["Transformer", *weighted, "Pooling", *(["Normalize"] if is_normalised else [])]
    paths = ["", *(f"{number}_{name}" for number, name in enumerate(names[1:], start=1))]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"{MODULE}.{name}"}
        for number, (name, path) in enumerate(zip(names, paths, strict=True))
    ]
    if method.unweighted:
        _write_word_weights(folder / "1_WordWeights", tokenizer, method.unweighted)
    if method.exported_as is None:  # sentence-transformers then refuses the folder by this name, and takes no mean in its place
        modules[names.index("Pooling")]["type"] = f"embedlab.poolings.{pooling}"
    modes = {f"pooling_mode_{name}_token{'' if name == 'cls' else 's'}": name == method.exported_as for name in MODES}
    _write_json(folder / paths[names.index("Pooling")] / "config.json", {"word_embedding_dimension": dim, **modes})
    _write_json(folder / "modules.json", modules)
    _write_json(folder / TRANSFORMER, {"max_seq_length": max_tokens, "do_lower_case": False})
    known = {} if training_text is None else {"training_text": list(training_text)}
    _write_json(folder / STATEMENT, {"pooling": pooling, "max_tokens": max_tokens, **known})


def _write_word_weights(folder: Path, tokenizer: PreTrainedTokenizerFast, unweighted: str) -> None:
    """Write weights of 1 for all words but the special token that the tokenizer calls UNWEIGHTED."""
    token = getattr(tokenizer, unweighted)
    words = [word or f"[unused {number}]" for number, word in enumerate(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))]
    weights = torch.ones(len(words), 1)
    weights[tokenizer.convert_tokens_to_ids(token)] = 0
    _write_json(folder / "config.json", {"vocab": words, "word_weights": {token: 0.0}, "unknown_word_weight": 1})
    save_file({"emb_layer.weight": weights}, folder / "model.safetensors")


def _write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
