"""Read the usage of a model folder without loading it: weights, pooling, normalisation, the longest input."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

from embedlab.choices import Similarity
from embedlab.core.checksums import CHECKSUMS, check_folder
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import unknown
from embedlab.models.adapters import TransformerFiles, base_folder, base_title, is_adapter, transformer_files, typed_adapter
from embedlab.models.folder_files import (
    RESTORE_HINT,
    Config,
    PromptsFile,
    Statement,
    TokenizerFile,
    TransformerFile,
    read_model_file,
    weight_files,
)
from embedlab.models.modules import MODULES, Layer, pooling_parts, read_dense, read_modules

STATEMENT = "embedlab.json"  # what our own models say: pooling and max_tokens, in our words
TRANSFORMER = "sentence_bert_config.json"  # what sentence-transformers says of the transformer
SHORTEST = 3  # tokens: one word between the two that begin and end a text
DEFAULT_MAX_TOKENS = 512  # where a folder states none: BERT's limit, longer than any sentence of the evaluations
LONGEST_HEADER = 10**8  # bytes, as safetensors allows
UNLIMITED = 10**9  # tokens: a tokenizer without a limit states 10³⁰
# These count positions from the padding token's id on, so that many of their position vectors are never used.
POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "mpnet", "longformer"}
# Only the encoder of these is loaded, as by sentence-transformers: their decoder needs a second text.
ENCODER_HALVES = {"t5", "mt5", "umt5"}


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """How a model is to be used where that differs from what its folder states; what is absent stays as stated."""

    pooling: str | None = None
    max_tokens: int | None = None
    prompt: str | None = None  # the name of a prompt that the folder states, or its text; "" for none
    role: str | None = None
    dim: int | None = None  # numbers of each vector, the first ones
    layer: int | None = None  # whose hidden states are pooled, as transformers numbers them: 0 the embeddings, -1 the last
    adapter: str | None = None  # the folder or hub id of a peft adapter, with which the model is changed


@dataclass(frozen=True, kw_only=True)
class Usage:
    """How what is in a folder becomes sentence vectors."""

    pooling: str  # several poolings joined by "+"
    max_tokens: int  # never more than the model has positions
    is_normalised: bool = False  # each vector is brought to length 1, after the layers
    training_text: tuple[str, ...] | None = None  # as the folder states it; None: it states nothing
    notes: tuple[str, ...] = ()
    source: Path  # the folder with the weights
    adapter: Path | None = None  # changes to these weights
    tokenizer: Path | None = None  # its folder where that is another one
    settings: Path | None = None  # the folder of the transformer's settings where that is another one
    is_static: bool = False  # a vector a token, averaged
    layers: tuple[Layer, ...] = ()  # between pooling and the last normalisation
    word_weights: Path | None = None
    prompt: str = ""  # put before each text
    includes_prompt: bool = True  # whether its tokens are pooled
    dim: int | None = None  # vectors are cut to so many numbers
    layer: int | None = None  # whose hidden states are pooled, from 0, the embeddings; None: what the model gives
    similarity: Similarity = "cosine"

    @property
    def tokenizer_folder(self) -> Path:
        """The folder of the tokenizer."""
        return self.tokenizer or self.source

    @property
    def is_lower_casing(self) -> bool:
        """Whether sentence-transformers lower-cases the input, whatever the tokenizer does."""
        return bool(_transformer_file(self.settings or self.source).do_lower_case)

    @property
    def details(self) -> tuple[str, ...]:
        """What decides vectors or scores beside weights, pooling, tokens and normalisation; empty for most models."""
        similarity = None if self.similarity == "cosine" else self.similarity
        stated = {"prompt": self.prompt or None, "dim": self.dim, "layer": self.layer, "similarity": similarity}
        named = [f"{name}={value}" for name, value in stated.items() if value is not None]
        return (*named, *(["prompt not pooled"] if self.prompt and not self.includes_prompt else []))


def read_usage(folder: Path, wishes: Wishes | None = None) -> Usage:
    """How FOLDER states that it is used, in our own file or in sentence-transformers' files, except for WISHES; without both by the mean.

    Layers, normalisation and similarity hold with any pooling. A folder without a config.json, or with modules that embedlab does
    not compute, is a MissingError; a prompt or role that it does not state a UsageError.
    """
    wishes = wishes or Wishes()
    folder, adapter = _adapted(folder, wishes.adapter)
    own, modules = read_statement(folder), read_modules(folder, role=wishes.role)
    files = TransformerFiles(weights=modules.source, tokenizer=modules.source)
    if not modules.is_static:
        files = transformer_files(modules.source, adapter)
    elif adapter is not None:
        raise UsageError(f"{str(folder)!r} has static token vectors: no adapter fits", hint="remove ?adapter")
    file = read_model_file(folder / "config_sentence_transformers.json", PromptsFile) or PromptsFile()
    chosen = wishes.pooling or _own_pooling(folder, own) or modules.pooling
    notes = [] if chosen is not None or modules.is_static else ["no pooling was stated: mean"]
    if wishes.pooling is not None and modules.pooling is not None and modules.layers:
        notes.append(f"pooling {wishes.pooling!r} is followed by the layers that were trained with {modules.pooling!r}")
    ends_normalised = bool(modules.layers) and modules.layers[-1].kind == "normalise"
    usage = Usage(
        pooling=chosen or "mean",
        max_tokens=DEFAULT_MAX_TOKENS if modules.is_static else _max_tokens(folder, modules.source, files, wishes, own),
        is_normalised=ends_normalised,
        training_text=own.training_text if adapter is None else None,
        source=files.weights,
        adapter=files.adapter,
        tokenizer=files.tokenizer,
        settings=modules.source,
        is_static=modules.is_static,
        layers=modules.layers[:-1] if ends_normalised else modules.layers,
        word_weights=modules.word_weights if chosen == modules.pooling else None,
        prompt=_prompt(folder, file, wishes.prompt),
        includes_prompt=modules.includes_prompt,
        dim=wishes.dim or file.truncate_dim,
        layer=None if wishes.layer is None else _layer(folder, None if modules.is_static else files.weights, wishes.layer),
        similarity=_similarity(folder, file.similarity_fn_name),
    )
    if usage.prompt:
        notes.append(f"prompt {usage.prompt!r}")
    if usage.adapter is not None:
        notes.append(f"an adapter of {base_title(usage.source)!r}")
    if usage.layer is not None and usage.layers:
        notes.append("the layers after pooling were trained with the last hidden states")
    return _checked(folder, replace(usage, notes=tuple(notes)))


def read_intact_usage(folder: Path, wishes: Wishes | None = None) -> Usage:
    """`read_usage` of a folder that is to be loaded: files that differ from the checksums it was written with are a MissingError."""
    check_folder(folder, hint=f"train or export it again, or restore the file; if you changed it yourself, remove {CHECKSUMS!r} there")
    return read_usage(folder, wishes)


def _adapted(folder: Path, typed: str | None) -> tuple[Path, Path | None]:
    """The folder whose statements hold, and an adapter of it: one that was TYPED, or FOLDER itself where it states no usage."""
    if typed is not None:
        return folder, typed_adapter(typed)
    states_usage = any((folder / name).is_file() for name in (MODULES, STATEMENT)) or any(folder.glob("*_Pooling/config.json"))
    return (base_folder(folder), folder) if is_adapter(folder) and not states_usage and not weight_files(folder) else (folder, None)


def _checked(folder: Path, usage: Usage) -> Usage:
    """Refuse layers that do not fit, and a length that no vector has."""
    if usage.dim is None and not usage.layers:
        return usage
    width = vector_width(usage)
    if usage.dim is not None and usage.dim > width:
        raise UsageError(f"{str(folder)!r} has vectors of {width} numbers, fewer than {usage.dim}", hint=f"give ?dim={width} or less")
    return usage


def vector_width(usage: Usage, token_width: int | None = None) -> int:
    """The length of vectors before they are cut to `dim`; TOKEN_WIDTH is that of token vectors, where it is known already."""
    if usage.is_static:
        width = static_width(usage.source)
    else:
        width = (token_width or hidden_size(usage.source)) * len(pooling_parts(usage.pooling))
    for layer in usage.layers:
        if layer.kind == "dense" and (stated := read_dense(layer.folder).in_features) != width:
            raise MissingError(
                f"{layer.folder / 'config.json'}: in_features is {stated}, but vectors have {width} numbers", hint=RESTORE_HINT
            )
        width = layer.width(width)
    return width


def vector_dim(usage: Usage, token_width: int | None = None) -> int:
    """The length of sentence vectors."""
    width = vector_width(usage, token_width)
    return min(width, usage.dim or width)


def static_width(folder: Path) -> int:
    """The length of static token vectors, by the header of their safetensors file."""
    return table_width(_static_file(folder))


def table_width(path: Path) -> int:
    """The length of the token vectors in a safetensors file, by its header."""
    header = _header(path)
    try:
        table = header.get("embedding.weight") or header["embeddings"]
        return int(table["shape"][1])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise MissingError(f"{str(path)!r} holds no token vectors", hint=RESTORE_HINT) from error


def is_model2vec(folder: Path) -> bool:
    """Whether the token vectors in FOLDER are stored as model2vec stores them."""
    return "embeddings" in _header(_static_file(folder))


def _static_file(folder: Path) -> Path:
    return next(iter(weight_files(folder)), folder / "model.safetensors")


def _header(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return dict(json.loads(file.read(min(int.from_bytes(file.read(8), "little"), LONGEST_HEADER))))
    except OSError as error:
        raise MissingError(f"cannot read {str(path)!r}: {error.strerror}", hint=RESTORE_HINT) from error
    except (ValueError, TypeError) as error:
        raise MissingError(f"{str(path)!r} holds no token vectors", hint=RESTORE_HINT) from error


def _max_tokens(folder: Path, settings: Path, files: TransformerFiles, wishes: Wishes, own: Statement) -> int:
    limit = position_limit(files.weights, files.tokenizer)
    tokens = min(wishes.max_tokens or own.max_tokens or _transformer_file(settings).max_seq_length or limit, limit)
    if tokens < SHORTEST:
        raise MissingError(f"{str(folder)!r} reads at most {tokens} tokens of a text: too few for a word", hint=RESTORE_HINT)
    return tokens


def _prompt(folder: Path, file: PromptsFile, wish: str | None) -> str:
    """The text of the prompt that was WISHed for by name or in words, else of the folder's default."""
    return file.default_prompt if wish is None else typed_prompt(wish, folder, file)


def typed_prompt(wish: str, folder: Path, file: PromptsFile | None = None) -> str:
    """The text of the prompt that FOLDER calls so, or the text that was typed."""
    file = file or read_model_file(folder / "config_sentence_transformers.json", PromptsFile) or PromptsFile()
    prompts = file.prompts or {}
    if wish in prompts:
        return prompts[wish] or ""
    if wish and not any(character.isspace() or character in ":|" for character in wish):  # one word is a name
        raise unknown("prompt", wish, list(prompts), listing=f"prompts that {str(folder)!r} states; a text ends with a colon or a space")
    return wish


def _layer(folder: Path, weights: Path | None, wish: int) -> int:
    """The number of a hidden state, counted from the embeddings; one that the model does not have is a UsageError."""
    count = None if weights is None else read_config(weights).layers
    if count is None:
        raise UsageError(f"{str(folder)!r} has no layers to choose from", hint="remove ?layer")
    if not -count - 1 <= wish <= count:
        raise UsageError(
            f"{str(folder)!r} has {count} layers, none of them {wish}", hint=f"?layer takes 0, the embeddings, to {count}, or -1"
        )
    return wish % (count + 1)


def stated_prompts(folder: Path) -> Mapping[str, str]:
    """Return the prompts that FOLDER states, by name."""
    file = read_model_file(folder / "config_sentence_transformers.json", PromptsFile) or PromptsFile()
    return {name: text or "" for name, text in (file.prompts or {}).items()}


def _similarity(folder: Path, name: str | None) -> Similarity:
    if name is not None and name not in get_args(Similarity):
        raise MissingError(f"{str(folder)!r} states the similarity {name!r}", hint=f"embedlab computes {', '.join(get_args(Similarity))}")
    return cast("Similarity", name or "cosine")


def read_statement(folder: Path) -> Statement:
    """Return the content of FOLDER's embedlab.json; an empty statement if there is none."""
    return read_model_file(folder / STATEMENT, Statement) or Statement()


def _transformer_file(folder: Path) -> TransformerFile:
    return read_model_file(folder / TRANSFORMER, TransformerFile) or TransformerFile()


def pooling_label(usage: Usage) -> str:
    """How tables name what makes a sentence vector of token vectors."""
    pooling = "static" if usage.is_static else usage.pooling
    layers = [layer.kind for layer in usage.layers if layer.kind != "normalise"]
    weights = ["word weights"] if usage.word_weights is not None else []
    return ", ".join([pooling, *weights, *layers, *(["normalised"] if usage.is_normalised else []), *usage.details])


def position_limit(folder: Path, tokenizer: Path) -> int:
    """The longest input in tokens: what tokenizer and position vectors allow; DEFAULT_MAX_TOKENS where neither states a limit."""
    config = read_config(folder)
    positions = config.max_position_embeddings or (None if config.model_type in ENCODER_HALVES else config.n_positions)
    if positions is not None and config.model_type in POSITIONS_AFTER_PADDING:
        positions -= (config.pad_token_id or 0) + 1
    file = read_model_file(tokenizer / "tokenizer_config.json", TokenizerFile)
    stated = file.model_max_length if file is not None and (file.model_max_length or UNLIMITED) < UNLIMITED else None
    return int(min((limit for limit in (positions, stated) if limit is not None), default=DEFAULT_MAX_TOKENS))


def read_config(folder: Path) -> Config:
    """Read the config.json of a transformers folder."""
    config = read_model_file(folder / "config.json", Config)
    if config is None:
        raise MissingError(
            f"{str(folder)!r} holds no transformers model: there is no config.json", hint="give the folder that save_pretrained wrote"
        )
    return config


def hidden_size(folder: Path) -> int:
    """Return the length of the vectors of the transformer in FOLDER, under any architecture's key."""
    width = read_config(folder).width
    if width is None:
        raise MissingError(f"{str(folder / 'config.json')!r} states no hidden_size", hint="is it a whole transformers folder?")
    return width


def is_bare(folder: Path) -> bool:
    """Return whether FOLDER's model is an encoder alone, without any task's head, by its config.json."""
    named = read_config(folder).architectures or ()
    return bool(named) and all(name.endswith("Model") and not name.endswith("LMHeadModel") for name in named)


def _own_pooling(folder: Path, own: Statement) -> str | None:
    if own.pooling is not None:
        try:
            pooling_parts(own.pooling)
        except UsageError as error:
            raise MissingError(f"{folder / STATEMENT}: {error.message}", hint=error.hint) from error
    return own.pooling
