"""What an encoder would leave out of a model folder: code of the folder's own (`auto_map`), or the
head of a classifier.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError, UsageError
from embedlab.models.config import read_config
from embedlab.models.folder_files import read_model_file

NATIVE = "native"  # the one value of @code
NATIVE_NOTE = "its own code is not run: transformers' class computes it"
# Of the classes that code can be named for, those that an encoder is loaded by; a head's own class
# changes no vector.
_USED = ("AutoConfig", "AutoModel", "AutoModelForTextEncoding", "AutoTokenizer")
# Models whose last layer gives labels or scores; an encoder of a language model loses nothing that
# its vectors depend on.
_HEAD_CLASS = "AutoModelForSequenceClassification"  # that a cross-encoder is loaded by
_HEADS = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForMultipleChoice",
    "ForQuestionAnswering",
)


@dataclass(frozen=True, kw_only=True)
class CodeFile:
    """What config.json and tokenizer_config.json state of code."""

    model_type: str | None = None
    auto_map: Any = None  # a mapping, of some old tokenizers a list


def native_notes(
    title: Path, folders: Sequence[Path], code: str | None, *, is_ours: bool = False
) -> list[str]:
    """Return what is to be said of the model called TITLE, whose transformer is read from FOLDERS,
    where they bring code for it.

    Without ?CODE=native it is refused, unless it IS_OURS: embedlab trained it by transformers'
    class. @code without any code is a UsageError.
    """
    has_code = any(map(brings_code, folders))
    if not has_code and code is not None:
        raise UsageError(f"{str(title)!r} brings no code of its own", hint="remove @code")
    if has_code and code is None and not is_ours:
        configs = (read_model_file(folder / "config.json", CodeFile) for folder in folders)
        kind = next((config.model_type for config in configs if config is not None), None)
        raise MissingError(
            f"{str(title)!r} wants to run its own code for the model type {kind!r}: embedlab "
            f"runs none",
            hint="encode with its author's program and bring the result: vectors:FILE; "
            "@code=native takes transformers' own class of that type, whose vectors may be others",
        )
    return [NATIVE_NOTE] if has_code else []


def brings_code(folder: Path, *, with_head: bool = False) -> bool:
    """Return whether the files in FOLDER name code of its own for a class that an encoder, or a
    model WITH a HEAD, is loaded by.
    """
    files = (
        read_model_file(folder / name, CodeFile)
        for name in ("config.json", "tokenizer_config.json")
    )
    used = (*_USED, _HEAD_CLASS) if with_head else _USED
    return any(_is_used(file.auto_map, used) for file in files if file is not None)


def _is_used(auto_map: Any, used: Sequence[str]) -> bool:
    return (
        any(auto_map.get(name) for name in used)
        if isinstance(auto_map, Mapping)
        else bool(auto_map)
    )


def refuse_head(folder: Path, weights: Path) -> None:
    """Refuse FOLDER, which states no pooling, where its WEIGHTS are of a cross-encoder or a
    classifier: its vectors would be no one's.
    """
    name = next(
        (name for name in read_config(weights).architectures or () if name.endswith(_HEADS)), None
    )
    if name is not None:
        pairs = (
            f"cross-encoder:{folder} scores pairs with it"
            if name.endswith(_HEADS[0])
            else "bring its scores of pairs as scores:FILE"
        )
        raise MissingError(
            f"{str(folder)!r} is a {name}, a cross-encoder or a classifier: its last layer "
            f"gives scores, not sentence vectors",
            hint=f"{pairs}; {folder}@pooling=mean is the encoder below that layer",
        )
