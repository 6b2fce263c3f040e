"""The one door by which weights and tokenizers of model folders come in: whole, finite, and without code of their own.

transformers fills what a folder lacks with random numbers and drops what it does not know, with a warning at most. Here either is
refused, and so is whatever else would make a model another one than its folder says.
"""

from pathlib import Path
from typing import Any

from tokenizers import normalizers
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForTextEncoding, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from embedlab.core.errors import MissingError
from embedlab.encoders.hf_logging import without_standard_error
from embedlab.encoders.model_types import refuse_other_type
from embedlab.encoders.weight_checks import (
    WHOLE,
    is_headless,
    reading,
    refuse_foreign_code,
    refuse_infinite,
    refuse_other_size,
    refuse_other_tensors,
)
from embedlab.models.folder import ENCODER_HALVES, is_lower_casing, read_config


def load_backbone(folder: Path) -> PreTrainedModel:
    """The encoder in FOLDER in float32, without its pooling layer; weights that are not whole and finite are a MissingError."""
    kind = AutoModelForTextEncoding if read_config(folder).model_type in ENCODER_HALVES else AutoModel
    model, info = _load(folder, kind)
    refuse_other_tensors(folder, model, info)
    refuse_infinite(folder, model)
    if not isinstance(getattr(model.config, "hidden_size", None), int):
        raise MissingError(f"the model in {str(folder)!r} is no encoder of text: it states no hidden_size", hint=WHOLE)
    # A pooling layer that the checkpoint lacks would be random, and nothing uses one.
    if getattr(model, "pooler", None) is not None:
        model.register_module("pooler", None)
    return model


def load_language_model(folder: Path) -> PreTrainedModel | None:
    """The whole masked language model in FOLDER, under the same conditions; None where its weights hold no head of one."""
    model, info = _load(folder, AutoModelForMaskedLM)
    if is_headless(model, info["missing_keys"]):
        return None
    refuse_other_tensors(folder, model, info)
    refuse_infinite(folder, model)
    return model


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The fast tokenizer in FOLDER, lower-casing where sentence-transformers does; anything else is a MissingError."""
    refuse_foreign_code(folder)
    refuse_other_type(folder)
    with reading(folder, "tokenizer"), without_standard_error():
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer("a")  # some damage shows only when a text is read
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise MissingError(f"{str(folder)!r} has no tokenizer.json", hint="save it again with a fast tokenizer")
    if is_lower_casing(folder):
        backend = tokenizer.backend_tokenizer
        backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *([backend.normalizer] if backend.normalizer else [])])
    return tokenizer


def _load(folder: Path, kind: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The model in FOLDER by one of transformers' Auto classes, and which tensors were missing, unexpected or of another shape."""
    refuse_foreign_code(folder)
    refuse_other_type(folder)
    refuse_other_size(folder, kind)
    with reading(folder, "model"):
        model, info = kind.from_pretrained(
            folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype="float32",
            ignore_mismatched_sizes=True,  # whoever loads refuses them by name
            output_loading_info=True,
        )
    return model, info
