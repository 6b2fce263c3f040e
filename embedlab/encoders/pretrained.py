"""Load weights and tokenizers of model folders: complete, finite, and without remote code.

transformers initialises missing tensors at random and drops unknown ones, with a warning at most.
Both are refused here, and so is anything else that would make a model differ from its folder.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import normalizers
from torch import Tensor, nn
from transformers import (
    MODEL_MAPPING,
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
from embedlab.encoders.weight_checks import (
    POOLER,
    is_headless,
    reading_file,
    refuse_foreign_code,
    refuse_infinite,
    refuse_other_size,
    refuse_other_tensors,
    tensor_sizes,
)
from embedlab.models.config import ENCODER_HALVES, read_config
from embedlab.models.cross_encoder import PairUsage
from embedlab.models.folder import Usage
from embedlab.models.folder_files import TokenizerFile, read_model_file


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


def widen_vectors(backbone: nn.Module) -> None:
    """Make a bf16 BACKBONE compute under autocast as one with float32 weights does, but for the
    rounding of its weights.

    Norms and biases are few and become float32 parameters again; embeddings stay in bf16 and give
    float32 rows, so that what the layers add up is float32.
    """
    for parameter in backbone.parameters():
        if parameter.ndim < 2 and parameter.dtype == torch.bfloat16:
            parameter.data = parameter.data.float()
    for module in backbone.modules():
        if isinstance(module, nn.Embedding):
            module.register_forward_hook(_widened)


def _widened(module: nn.Module, given: Any, rows: Tensor) -> Tensor:
    return rows.float()


# Types whose encoders have tensors of the same names, by transformers 5.23.
BERT_LIKE = frozenset(
    {
        "bert",
        "big_bird",
        "camembert",
        "data2vec-text",
        "electra",
        "ernie",
        "mra",
        "roberta",
        "splinter",
        "xlm-roberta",
        "yoso",
    }
)
# Prefixes that most decoders, and several other families, put before the names of their tensors.
_SHARED_PREFIXES = {"", "model", "transformer", "encoder", "backbone"}


def refuse_other_type(folder: Path) -> None:
    """Refuse a model_type that contradicts the folder's architecture, or that nothing in the folder
    confirms.
    """
    config = read_config(folder)
    named = config.architectures or ()
    known = {name: of for name in named if (of := _type_of(folder, name)) is not None}
    for name, of in known.items():
        if of != config.model_type:
            raise MissingError(
                f"{folder / 'config.json'}: the model_type is {config.model_type!r}, but its "
                f"architecture {name!r} is of {of!r}",
                hint=WHOLE,
            )
    if (
        known
        or config.model_type is None
        or any(_plain(name).startswith(_plain(config.model_type)) for name in named)
    ):
        return
    tensors = tensor_sizes(folder)
    kind = _model_class(folder, config.model_type) if tensors else None
    if kind is not None and not _is_confirmed(
        folder, config.model_type, kind.base_model_prefix, tensors
    ):
        raise MissingError(
            f"{folder / 'config.json'}: nothing confirms the model_type "
            f"{config.model_type!r}: models of other types have such tensors too",
            hint=f'if it is right, add "architectures": ["{kind.__name__}"] there',
        )


def _type_of(folder: Path, architecture: str) -> str | None:
    """Return the model_type of transformers' class of this name; None if it does not exist."""
    with reading_file(folder, "model"):
        model_type = getattr(
            getattr(getattr(transformers, architecture, None), "config_class", None),
            "model_type",
            None,
        )
    return model_type if isinstance(model_type, str) else None


def _model_class(folder: Path, model_type: str) -> Any:
    """Return the encoder class of this type; None if it does not exist, which loading refuses."""
    with reading_file(folder, "model"):
        model_class = MODEL_MAPPING.get(transformers.CONFIG_MAPPING[model_type], None)
    return model_class[0] if isinstance(model_class, tuple) else model_class


def _is_confirmed(folder: Path, model_type: str, prefix: str, tensors: Collection[str]) -> bool:
    """Return whether the names of its TENSORS are unique to this type, or its tokenizer's class is
    named after the type.
    """
    if prefix not in _SHARED_PREFIXES and (
        model_type not in BERT_LIKE or any(name.startswith(f"{prefix}.") for name in tensors)
    ):
        return True
    tokenizer = read_model_file(folder / "tokenizer_config.json", TokenizerFile) or TokenizerFile()
    return _plain(tokenizer.tokenizer_class or "") in {
        f"{_plain(model_type)}tokenizer",
        f"{_plain(model_type)}tokenizerfast",
    }


def _plain(name: str) -> str:
    """Normalise NAME for comparison: types are written "xlm-roberta" and classes "XLMRoberta"."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
