"""What the config.json of a transformers folder states of the model: its width, its longest input,
whether it has a head.
"""

from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.data.table_file import TABLES
from embedlab.models.folder_files import (
    Config,
    TokenizerFile,
    read_model_file,
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


def position_limit(folder: Path, tokenizer: Path) -> int:
    """The longest input in tokens of a folder that states none: what tokenizer and positions allow,
    otherwise DEFAULT_MAX_TOKENS.
    """
    positions = most_positions(folder)
    file = read_model_file(tokenizer / "tokenizer_config.json", TokenizerFile)
    stated = (
        file.model_max_length
        if file is not None and (file.model_max_length or UNLIMITED) < UNLIMITED
        else None
    )
    return int(
        min(
            (limit for limit in (positions, stated) if limit is not None),
            default=DEFAULT_MAX_TOKENS,
        )
    )


def longest_input(folder: Path, tokenizer: Path, stated: int | None) -> int:
    """The longest input in tokens that the model in FOLDER can be given, where a length may be
    STATED: never more than its positions.
    """
    limit = position_limit(folder, tokenizer)
    if stated is not None:  # it holds whatever the tokenizer states, as in sentence-transformers
        limit = max(limit, min(stated, most_positions(folder) or stated))
    return limit


def read_config(folder: Path) -> Config:
    """Read the config.json of a transformers folder."""
    config = read_model_file(folder / "config.json", Config)
    if config is None:
        if not weight_files(folder):
            refuse_other_weights(folder)
        below = sorted(path.parent for path in folder.glob("*/config.json"))
        rows = sorted(path for path in folder.glob("*") if path.suffix in TABLES)
        if rows and not below:
            raise MissingError(
                f"{str(folder)!r} is a folder of files of rows, not a model",
                hint=f"name one of them, for example {rows[0]}",
            )
        raise MissingError(
            f"{str(folder)!r} holds no transformers model: there is no config.json",
            hint=f"{below[0]} has one" if below else "give the folder that save_pretrained wrote",
        )
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
    named = read_config(folder).architectures or ()
    return bool(named) and all(
        name.endswith("Model") and not name.endswith("LMHeadModel") for name in named
    )
