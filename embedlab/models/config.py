"""What the config.json of a transformers folder states of the model: its width, its longest input,
its head, and code of the folder's own (`auto_map`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.data.table_file import TABLES
from embedlab.models.folder_files import (
    RESTORE_HINT,
    Config,
    TokenizerFile,
    read_model_file,
    read_stated,
    refuse_other_weights,
    weight_files,
)

# where a folder states none: BERT's limit, longer than any sentence of the evaluations
DEFAULT_MAX_TOKENS = 512
UNLIMITED = 10**9  # tokens: a tokenizer without a limit states 10³⁰
# These count positions from the padding token's id on, so that many of their position vectors are
# never used.
POSITIONS_AFTER_PADDING = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "roberta-prelayernorm",
    "camembert",
    "mpnet",
    "longformer",
}
# Only the encoder of these is loaded, as by sentence-transformers: their decoder needs a second
# text.
ENCODER_HALVES = {"t5", "mt5", "umt5"}


def most_positions(folder: Path) -> int | None:
    """The number of tokens that the model in FOLDER has positions for; None where it states
    none.
    """
    config = read_config(folder)
    positions = config.max_position_embeddings or (
        None if config.model_type in ENCODER_HALVES else config.n_positions
    )
    if positions is not None and config.model_type in POSITIONS_AFTER_PADDING:
        positions -= (config.pad_token_id or 0) + 1
    return positions


def input_length(
    folder: Path,
    weights: Path,
    tokenizer: Path,
    *,
    stated: int | None,
    shortest: int,
    typed: int | None = None,
) -> int:
    """Return the longest input in tokens of the model in FOLDER: as TYPED or STATED, but not more
    than tokenizer and positions allow, which is DEFAULT_MAX_TOKENS where they state nothing; less
    than the SHORTEST is a MissingError.
    """
    positions = most_positions(weights)
    file = read_stated(tokenizer / "tokenizer_config.json", TokenizerFile)
    limits = [positions, file.model_max_length]
    bounds = [limit for limit in limits if limit is not None and limit < UNLIMITED]
    limit = int(min(bounds, default=DEFAULT_MAX_TOKENS))
    if stated is not None:  # it holds whatever the tokenizer states, as in sentence-transformers
        limit = max(limit, min(stated, positions or stated))
    length = min(typed or stated or limit, limit)
    if length < shortest:
        raise MissingError(
            f"{str(folder)!r} reads at most {count_text(length, 'tokens')} of a text, fewer "
            f"than {shortest}",
            hint=f"give {shortest} or more" if typed else RESTORE_HINT,
        )
    return length


def read_config(folder: Path) -> Config:
    """Read the config.json of a transformers folder."""
    config = read_model_file(folder / "config.json", Config)
    if config is None:
        if not weight_files(folder):
            refuse_other_weights(folder)
        problem = "holds no transformers model: there is no config.json"
        hint = "give the folder that save_pretrained wrote"
        inner_folders = sorted(path.parent for path in folder.glob("*/config.json"))
        rows = sorted(path for path in folder.glob("*") if path.suffix in TABLES)
        if inner_folders:
            hint = f"{inner_folders[0]} has one"
        elif rows:
            problem = "is a folder of files of rows, not a model"
            hint = f"name one of them, for example {rows[0]}"
        elif any((folder / name).is_file() for name in ("dataset_info.json", "dataset_dict.json")):
            problem = "is a dataset that save_to_disk wrote, not a model"
            hint = "write its rows with to_parquet, and name that file"
        raise MissingError(f"{str(folder)!r} {problem}", hint=hint)
    return config


def hidden_size(folder: Path) -> int:
    """Return the length of the vectors of the transformer in FOLDER, under any architecture's
    key.
    """
    width = read_config(folder).width
    if width is None:
        raise MissingError(
            f"{str(folder / 'config.json')!r} states no hidden_size",
            hint="is it a whole transformers folder?",
        )
    return width


def is_bare(folder: Path) -> bool:
    """Return whether FOLDER's model is an encoder alone, without any task's head, by its
    config.json.
    """
    architectures = read_config(folder).architectures or ()
    return bool(architectures) and all(
        name.endswith("Model") and not name.endswith("LMHeadModel") for name in architectures
    )


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
    """Return the notes on the model called TITLE if FOLDERS, from which its transformer is read,
    bring code for it.

    Without ?CODE=native it is refused, unless it IS_OURS: embedlab trained it by transformers'
    class. @code for a model without code is a UsageError.
    """
    has_code = any(map(brings_code, folders))
    if not has_code and code is not None:
        raise UsageError(f"{str(title)!r} has no code of its own", hint="remove @code")
    if has_code and code is None and not is_ours:
        configs = [read_model_file(folder / "config.json", CodeFile) for folder in folders]
        kind = next((config.model_type for config in configs if config is not None), None)
        raise MissingError(
            f"{str(title)!r} needs its own code for the model type {kind!r}, which embedlab "
            f"does not run",
            hint="encode with its author's program and name the result vectors:FILE; "
            "@code=native uses transformers' class of that type, whose vectors may differ",
        )
    return [NATIVE_NOTE] if has_code else []


def brings_code(folder: Path, *, with_head: bool = False) -> bool:
    """Return whether the files in FOLDER name code of its own for a class that an encoder, or a
    model WITH a HEAD, is loaded by.
    """
    keys = (*_USED, _HEAD_CLASS) if with_head else _USED
    for name in ("config.json", "tokenizer_config.json"):
        code = read_stated(folder / name, CodeFile).auto_map
        if any(map(code.get, keys)) if isinstance(code, Mapping) else code:
            return True
    return False


def refuse_head(folder: Path, weights: Path) -> None:
    """Refuse FOLDER, which states no pooling, where its WEIGHTS are of a cross-encoder or a
    classifier: its vectors would be no one's.
    """
    for name in read_config(weights).architectures or ():
        if not name.endswith(_HEADS):
            continue
        pairs = "name its scores of pairs scores:FILE"
        if name.endswith(_HEADS[0]):
            pairs = f"cross-encoder:{folder} scores pairs with it"
        raise MissingError(
            f"{str(folder)!r} is a {name}, a cross-encoder or a classifier: its last layer "
            f"gives scores, not sentence vectors",
            hint=f"{pairs}; {folder}@pooling=mean is the encoder below that layer",
        )
