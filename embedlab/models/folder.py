"""What a model folder says about itself, read without loading it: weights, pooling, normalisation, the longest input."""

from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.names import pooling_names
from embedlab.core.recipe import Pooling
from embedlab.models.folder_files import (
    RESTORE_HINT,
    Config,
    Module,
    NormalizeFile,
    PoolingFile,
    PromptsFile,
    Statement,
    TokenizerFile,
    TransformerFile,
    WordWeightsFile,
    read_model_file,
)

STATEMENT = "embedlab.json"  # what our own models say: pooling and max_tokens, in our words
TRANSFORMER = "sentence_bert_config.json"  # what sentence-transformers says of the transformer
MODULES = "modules.json"
SHORTEST = 3  # tokens: one word between the two that begin and end a text
DEFAULT_MAX_TOKENS = 512  # where a folder states none: BERT's limit, longer than any sentence of the evaluations
# These count positions from the padding token's id on, so that many of their position vectors are never used.
POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "mpnet", "longformer"}
# Of these the encoder alone is loaded, as sentence-transformers does: their decoder asks for a second text.
ENCODER_HALVES = {"t5", "mt5", "umt5"}
APPLIED = {"Transformer", "Pooling", "WordWeights", "Normalize"}  # sentence-transformers' modules that embedlab computes too


@dataclass(frozen=True, kw_only=True)
class Usage:
    """How the transformer in a folder becomes sentence vectors."""

    pooling: Pooling
    max_tokens: int  # never more than the model has positions
    is_normalised: bool = False  # each vector is brought to length 1
    training_text: tuple[str, ...] | None = None  # as the folder states it; None: it states nothing
    notes: tuple[str, ...] = ()


def read_usage(folder: Path, *, pooling: Pooling | None = None, max_tokens: int | None = None) -> Usage:
    """The pooling and longest input that were asked for, else those that FOLDER states, else mean pooling and a note that says so.

    A folder states them in our own file or in sentence-transformers' files, which also say whether vectors are normalised:
    that holds beside a pooling that was asked for. A prompt that they put before each text is left out, with a note. A folder
    without a config.json, or with modules that do what embedlab does not and no pooling asked for, is a MissingError.
    """
    limit = position_limit(folder)
    own = read_statement(folder)
    modules = _read_modules(folder)
    chosen: Pooling | None = pooling or _own_pooling(folder, own) or _module_pooling(folder, modules)
    notes = []
    if chosen is None:
        notes.append("no pooling was stated: mean")
    if pooling is not None and (strange := _strange(modules)):
        notes.append(f"its module {strange[0]!r} is left out: a pooling was asked for")
    if prompt := _default_prompt(folder):
        notes.append(f"its prompt {prompt!r} is left out")
    tokens = min(max_tokens or own.max_tokens or _transformer_file(folder).max_seq_length or limit, limit)
    if tokens < SHORTEST:
        raise MissingError(f"{str(folder)!r} reads at most {tokens} tokens of a text: too few for a word", hint=RESTORE_HINT)
    is_normalised = "Normalize" in modules
    return Usage(
        pooling=chosen or "mean", max_tokens=tokens, is_normalised=is_normalised, training_text=own.training_text, notes=tuple(notes)
    )


def read_statement(folder: Path) -> Statement:
    """What FOLDER's own embedlab.json states; nothing where there is none."""
    return read_model_file(folder / STATEMENT, Statement) or Statement()


def is_lower_casing(folder: Path) -> bool:
    """Whether sentence-transformers lower-cases what the model in FOLDER reads, whatever its tokenizer does."""
    return bool(_transformer_file(folder).do_lower_case)


def _transformer_file(folder: Path) -> TransformerFile:
    return read_model_file(folder / TRANSFORMER, TransformerFile) or TransformerFile()


def _default_prompt(folder: Path) -> str:
    """What sentence-transformers puts before each text that is encoded by the model in FOLDER without naming a prompt."""
    file = read_model_file(folder / "config_sentence_transformers.json", PromptsFile)
    return file.default_prompt if file else ""


def pooling_label(pooling: Pooling, *, is_normalised: bool) -> str:
    """How tables name what makes a sentence vector of token vectors."""
    return f"{pooling}, normalised" if is_normalised else pooling


def position_limit(folder: Path) -> int:
    """The longest input in tokens: what tokenizer and position vectors allow, at most DEFAULT_MAX_TOKENS."""
    config = read_config(folder)
    positions = config.max_position_embeddings or config.n_positions or DEFAULT_MAX_TOKENS
    if config.model_type in POSITIONS_AFTER_PADDING:
        positions -= (config.pad_token_id or 0) + 1
    file = read_model_file(folder / "tokenizer_config.json", TokenizerFile)
    return int(min(positions, (file and file.model_max_length) or DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS))


def read_config(folder: Path) -> Config:
    """The config.json of a transformers folder."""
    config = read_model_file(folder / "config.json", Config)
    if config is None:
        raise MissingError(
            f"{str(folder)!r} holds no transformers model: there is no config.json", hint="give the folder that save_pretrained wrote"
        )
    return config


def hidden_size(folder: Path) -> int:
    """The length of the vectors of the transformer in FOLDER, in whichever words its architecture states it."""
    width = read_config(folder).width
    if width is None:
        raise MissingError(f"{str(folder / 'config.json')!r} states no hidden_size", hint="is it a whole transformers folder?")
    return width


def is_bare(folder: Path) -> bool:
    """Whether FOLDER says that its model is an encoder alone, without any task's head."""
    named = read_config(folder).architectures or ()
    return bool(named) and all(name.endswith("Model") and not name.endswith("LMHeadModel") for name in named)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model folder, in name order; empty where there are only pickled weights or none."""
    return sorted(folder.glob("model*.safetensors"))


def _read_modules(folder: Path) -> list[str]:
    """The classes of sentence-transformers' modules, in order; Normalize stands for that of whole sentences alone."""
    modules = []
    for module in read_model_file(folder / MODULES, list[Module]) or []:
        name = module.type.rsplit(".", 1)[-1]
        options = read_model_file(folder / module.path / "config.json", NormalizeFile) if name == "Normalize" else None
        vectors = options.module_input_name if options else "sentence_embedding"
        modules.append(name if vectors == "sentence_embedding" else f"{name} of {vectors}")
    return modules


def _strange(modules: list[str]) -> list[str]:
    return [module for module in modules if module not in APPLIED]


def _own_pooling(folder: Path, own: Statement) -> Pooling | None:
    if own.pooling is not None and own.pooling not in pooling_names():
        raise _unknown_pooling(folder / STATEMENT, own.pooling)
    return own.pooling


def _module_pooling(folder: Path, modules: list[str]) -> Pooling | None:
    if strange := _strange(modules):
        raise MissingError(
            f"{str(folder)!r} has a module {strange[0]!r} that embedlab does not apply",
            hint="?pooling=mean takes its transformer without it",
        )
    for path in sorted(folder.glob("*_Pooling/config.json")):
        modes = (read_model_file(path, PoolingFile) or PoolingFile()).modes
        if len(modes) != 1 or modes[0] not in ("cls", "mean", "max"):
            raise _unknown_pooling(path, modes[0] if len(modes) == 1 else modes)
        return _weighted_pooling(folder) if "WordWeights" in modules else modes[0]
    return None


def _unknown_pooling(path: Path, mode: str | list[str]) -> MissingError:
    return MissingError(f"{path}: pooling {mode!r} is not known", hint=f"state one of {', '.join(pooling_names())}: ?pooling=mean")


def _weighted_pooling(folder: Path) -> Pooling:
    for path in folder.glob("*_WordWeights/config.json"):
        file = read_model_file(path, WordWeightsFile)
        if file is not None and list(file.word_weights.values()) == [0]:
            return "mean-without-cls"
    raise MissingError(f"{str(folder)!r} weights its words, which embedlab does not do", hint="state a pooling: ?pooling=mean")
