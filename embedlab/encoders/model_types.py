"""Check that a model folder is of the type in its config.json: another type may read the same
tensors differently.

RoBERTa has BERT's tensors but another first position; Gemma has Llama's but adds 1 to the weights
of its norms. So the type must be confirmed by a second fact in the folder: an architecture, the
names of its tensors, or its tokenizer's class.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import transformers
from transformers import MODEL_MAPPING

from embedlab.core.errors import MissingError
from embedlab.encoders.damaged_files import WHOLE
from embedlab.encoders.weight_checks import reading_file, tensor_sizes
from embedlab.models.config import read_config
from embedlab.models.folder_files import TokenizerFile, read_model_file

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
