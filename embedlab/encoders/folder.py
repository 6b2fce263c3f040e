"""What a model folder says about itself, read without loading it: weights, pooling, normalisation, the longest input."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from embedlab.errors import MissingError
from embedlab.recipe import Pooling

STATEMENT = "embedlab.json"  # what our own models say: pooling and max_tokens, in our words
TRANSFORMER = "sentence_bert_config.json"  # what sentence-transformers says of the transformer
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
    notes: tuple[str, ...] = ()


def read_usage(folder: Path, *, pooling: Pooling | None = None, max_tokens: int | None = None) -> Usage:
    """The pooling and longest input that were asked for, else those that FOLDER states, else mean pooling and a note that says so.

    A folder states them in our own file or in sentence-transformers' files, which also say whether vectors are normalised:
    that holds beside a pooling that was asked for. A prompt that they put before each text is left out, with a note. A folder
    without a config.json, or with modules that do what embedlab does not and no pooling asked for, is a MissingError.
    """
    limit = position_limit(folder)
    own = _read_json(folder / STATEMENT)
    modules = _read_modules(folder)
    chosen: Pooling | None = pooling or own.get("pooling") or _module_pooling(folder, modules)
    notes = []
    if chosen is None:
        notes.append("no pooling was stated: mean")
    if pooling is not None and (strange := _strange(modules)):
        notes.append(f"its module {strange[0]!r} is left out: a pooling was asked for")
    if prompt := _default_prompt(folder):
        notes.append(f"its prompt {prompt!r} is left out")
    tokens = max_tokens or own.get("max_tokens") or _read_json(folder / TRANSFORMER).get("max_seq_length") or limit
    return Usage(pooling=chosen or "mean", max_tokens=min(tokens, limit), is_normalised="Normalize" in modules, notes=tuple(notes))


def is_lower_casing(folder: Path) -> bool:
    """Whether sentence-transformers lower-cases what the model in FOLDER reads, whatever its tokenizer does."""
    return bool(_read_json(folder / TRANSFORMER).get("do_lower_case"))


def _default_prompt(folder: Path) -> str:
    """What sentence-transformers puts before each text that is encoded by the model in FOLDER without naming a prompt."""
    config = _read_json(folder / "config_sentence_transformers.json")
    return str((config.get("prompts") or {}).get(config.get("default_prompt_name")) or "")


def pooling_label(pooling: Pooling, *, is_normalised: bool) -> str:
    """How tables name what makes a sentence vector of token vectors."""
    return f"{pooling}, normalised" if is_normalised else pooling


def position_limit(folder: Path) -> int:
    """The longest input in tokens: what tokenizer and position vectors allow, at most DEFAULT_MAX_TOKENS."""
    config = read_config(folder)
    positions = int(config.get("max_position_embeddings") or config.get("n_positions") or DEFAULT_MAX_TOKENS)
    if config.get("model_type") in POSITIONS_AFTER_PADDING:
        positions -= int(config.get("pad_token_id", 1)) + 1
    tokenizer = _read_json(folder / "tokenizer_config.json").get("model_max_length") or DEFAULT_MAX_TOKENS
    return int(min(positions, tokenizer, DEFAULT_MAX_TOKENS))


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a transformers folder."""
    if not (folder / "config.json").is_file():
        raise MissingError(
            f"{str(folder)!r} holds no transformers model: there is no config.json", hint="give the folder that save_pretrained wrote"
        )
    config: dict[str, Any] = _read_json(folder / "config.json")
    return config


def hidden_size(folder: Path) -> int:
    """The length of the vectors of the transformer in FOLDER, in whichever words its architecture states it."""
    config = read_config(folder)
    stated = next((config[key] for key in ("hidden_size", "dim", "d_model", "n_embd") if key in config), None)
    if stated is None:
        raise MissingError(f"{str(folder / 'config.json')!r} states no hidden_size", hint="is it a whole transformers folder?")
    return int(stated)


def is_bare(folder: Path) -> bool:
    """Whether FOLDER says that its model is an encoder alone, without any task's head."""
    named = [str(name) for name in read_config(folder).get("architectures") or ()]
    return bool(named) and all(name.endswith("Model") and not name.endswith("LMHeadModel") for name in named)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model folder, in name order; empty where there are only pickled weights or none."""
    return sorted(folder.glob("model*.safetensors"))


def _read_modules(folder: Path) -> list[str]:
    """The classes of sentence-transformers' modules, in order; Normalize stands for that of whole sentences alone."""
    modules = []
    for module in _read_json(folder / "modules.json", default=[]):
        name = module["type"].rsplit(".", 1)[-1]
        options = _read_json(folder / module["path"] / "config.json") if name == "Normalize" else {}
        vectors = options.get("module_input_name", "sentence_embedding")
        modules.append(name if vectors == "sentence_embedding" else f"{name} of {vectors}")
    return modules


def _strange(modules: list[str]) -> list[str]:
    return [module for module in modules if module not in APPLIED]


def _module_pooling(folder: Path, modules: list[str]) -> Pooling | None:
    if strange := _strange(modules):
        raise MissingError(
            f"{str(folder)!r} has a module {strange[0]!r} that embedlab does not apply",
            hint="?pooling=mean takes its transformer without it",
        )
    configs = sorted(folder.glob("*_Pooling/config.json"))
    if not configs:
        return None
    config = _read_json(configs[0])
    # Files written before sentence-transformers 6 have one key a mode: pooling_mode_cls_token, pooling_mode_mean_tokens …
    modes = [key.split("_", 2)[2].rsplit("_", 1)[0] for key, is_on in config.items() if key.startswith("pooling_mode_") and is_on]
    mode = config.get("pooling_mode") or (modes[0] if len(modes) == 1 else modes)
    if mode not in ("cls", "mean", "max"):
        raise MissingError(
            f"{configs[0]}: pooling {mode!r} is not known", hint=f"state one of {', '.join(get_args(Pooling))}: ?pooling=mean"
        )
    known: Pooling = mode
    return _weighted_pooling(folder) if "WordWeights" in modules else known


def _weighted_pooling(folder: Path) -> Pooling:
    for file in folder.glob("*_WordWeights/config.json"):
        weights = _read_json(file)["word_weights"]
        if len(weights) == 1 and next(iter(weights.values())) == 0:
            return "mean-without-cls"
    raise MissingError(f"{str(folder)!r} weights its words, which embedlab does not do", hint="state a pooling: ?pooling=mean")


def _read_json(path: Path, default: Any = None) -> Any:
    """The content of a JSON file, or DEFAULT (an empty table) where there is none."""
    if not path.is_file():
        return {} if default is None else default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MissingError(f"{path}: not valid JSON: {error}") from error
