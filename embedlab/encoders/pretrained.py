"""Load weights and tokenizers of model folders: complete, finite, and without remote code.

transformers initialises missing tensors at random and drops unknown ones, with a warning at most.
Both are refused here, and so is anything else that would make a model differ from its folder.
"""

import re
from pathlib import Path
from typing import Any

from tokenizers import normalizers
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForTextEncoding,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from embedlab.core.errors import MissingError
from embedlab.encoders.damaged_files import WHOLE
from embedlab.encoders.device import DeviceMap
from embedlab.encoders.model_types import refuse_other_type
from embedlab.encoders.narrow_weights import widen_vectors
from embedlab.encoders.weight_checks import (
    POOLER,
    is_headless,
    reading_file,
    refuse_foreign_code,
    refuse_infinite,
    refuse_other_size,
    refuse_other_tensors,
)
from embedlab.models.config import ENCODER_HALVES, read_config
from embedlab.models.cross_encoder import PairUsage
from embedlab.models.folder import Usage


def load_backbone(
    folder: Path, *, is_narrow: bool = False, device_map: DeviceMap | None = None
) -> tuple[PreTrainedModel, nn.Linear | None]:
    """Load the encoder in FOLDER in float32, and apart from it its pooler, if it has one; weights
    that are not whole are a MissingError.

    If it IS_NARROW, weights are read as bf16 and no others are made: for encoding under autocast.
    With a DEVICE_MAP accelerate spreads the layers over several devices.
    """
    kind = (
        AutoModelForTextEncoding if read_config(folder).model_type in ENCODER_HALVES else AutoModel
    )
    model, info = _load(
        folder, kind, dtype="bfloat16" if is_narrow else "float32", device_map=device_map
    )
    refuse_other_tensors(folder, model, info)
    refuse_infinite(folder, model)
    if is_narrow:
        widen_vectors(model)
    if not isinstance(getattr(model.config, "hidden_size", None), int):
        raise MissingError(
            f"the model in {str(folder)!r} is not a text encoder: it states no hidden_size",
            hint=WHOLE,
        )
    # A pooler that is missing in the checkpoint would be random.
    pooler = (
        None if any(re.search(POOLER, name) for name in info["missing_keys"]) else _pooler(model)
    )
    if getattr(model, "pooler", None) is not None:
        model.register_module("pooler", None)
    return model, pooler


def _pooler(model: PreTrainedModel) -> nn.Linear | None:
    """The linear layer of BERT's pooler, and of its kin's, before tanh; None where MODEL has
    another one or none.
    """
    pooler = getattr(model, "pooler", None)
    activation = getattr(
        pooler, "activation", getattr(model, "pooler_activation", None)
    )  # ALBERT's is beside its layer
    linear = getattr(pooler, "dense", pooler)
    return (
        linear.float()
        if isinstance(linear, nn.Linear) and isinstance(activation, nn.Tanh)
        else None
    )


def load_language_model(folder: Path) -> PreTrainedModel | None:
    """Load the whole masked language model in FOLDER, under the same conditions; None if its
    weights have no such head.
    """
    model, info = _load(folder, AutoModelForMaskedLM)
    if is_headless(model, info["missing_keys"]):
        return None
    refuse_other_tensors(folder, model, info)
    refuse_infinite(folder, model)
    return model


def load_with_head(folder: Path, kind: Any, *, labels: int) -> PreTrainedModel:
    """Load the model in FOLDER by one of transformers' Auto classes with its last layer, which
    gives so many LABELS, in float32.

    Tensors that are missing, in the last layer and before it, are a MissingError, and so are
    unknown ones.
    """
    model, info = _load(folder, kind)
    refuse_other_tensors(folder, model, info, has_head=True)
    refuse_infinite(folder, model)
    if model.config.num_labels != labels:
        raise MissingError(
            f"{folder / 'config.json'}: {model.config.num_labels} labels, of which {labels} "
            f"are named",
            hint=WHOLE,
        )
    return model


def load_tokenizer(usage: Usage | PairUsage) -> PreTrainedTokenizerFast:
    """Load the fast tokenizer of a model, lower-casing where sentence-transformers does; anything
    else is a MissingError.
    """
    refuse_foreign_code(usage.source)
    refuse_other_type(usage.source)
    folder = usage.tokenizer_folder
    with reading_file(folder, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        tokenizer("a")  # some damage appears only when a text is read
    tokenizer.init_kwargs.pop("auto_map", None)  # code that is not run: what is saved names none
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise MissingError(
            f"{str(folder)!r} has no tokenizer.json", hint="save it again with a fast tokenizer"
        )
    if usage.reading.case == "lower":
        backend = tokenizer.backend_tokenizer
        backend.normalizer = normalizers.Sequence(
            [normalizers.Lowercase(), *([backend.normalizer] if backend.normalizer else [])]
        )
    return tokenizer


def _load(
    folder: Path, kind: Any, *, dtype: str = "float32", device_map: DeviceMap | None = None
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Load the model in FOLDER by one of transformers' Auto classes, with its missing, unexpected
    and mismatched tensors.
    """
    refuse_foreign_code(folder)
    refuse_other_type(folder)
    refuse_other_size(folder, kind)
    with reading_file(folder, "model"):
        model, info = kind.from_pretrained(
            folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=dtype,
            device_map=device_map,
            ignore_mismatched_sizes=True,  # the caller refuses them by name
            output_loading_info=True,
        )
    vars(model.config).pop("auto_map", None)  # code that is not run: what is saved names none
    return model, info
