"""Read the usage of a model folder without loading it: weights, pooling, normalisation, the longest
input.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from embedlab.choices import Similarity
from embedlab.core.disk import CHECKSUMS, check_folder
from embedlab.core.errors import MissingError, UsageError
from embedlab.models.adapters import (
    TransformerFiles,
    base_folder,
    base_title,
    is_adapter,
    transformer_files,
    typed_adapter,
)
from embedlab.models.config import (
    DEFAULT_MAX_TOKENS,
    hidden_size,
    input_length,
    native_notes,
    read_config,
    refuse_head,
)
from embedlab.models.folder_files import (
    RESTORE_HINT,
    STATEMENT,
    PromptsFile,
    Statement,
    read_model_file,
    refuse_devices,
    static_vectors,
    weight_files,
)
from embedlab.models.modules import (
    MODULES,
    Layer,
    Modules,
    pooling_parts,
    read_dense,
    read_modules,
    read_prompts,
    read_transformer_file,
    typed_prompt,
)
from embedlab.models.reading import CHOICES, Reading, UsageOptions

SHORTEST = 3  # tokens: one word between the two that begin and end a text


@dataclass(frozen=True, kw_only=True)
class Usage:
    """How the content of a folder becomes sentence vectors."""

    pooling: str  # several poolings joined by "+"
    reading: Reading
    is_normalised: bool  # each vector is brought to length 1, after the layers
    training_text: tuple[str, ...] | None  # as the folder states it; None: it states nothing
    notes: tuple[str, ...]
    source: Path  # the folder with the weights
    folders: tuple[Path, ...]  # of the whole model: its own, its base's and its adapter's
    adapter: Path | None  # changes to these weights
    tokenizer: Path | None  # its folder where that is another one
    is_static: bool  # a vector a token, averaged
    layers: tuple[Layer, ...]  # between pooling and the last normalisation
    includes_prompt: bool  # whether the tokens of a prompt are pooled
    dim: int | None  # vectors are cut to so many numbers
    # whose hidden states are pooled, from 0, the embeddings; None: what the model gives
    layer: int | None
    similarity: Similarity

    @property
    def tokenizer_folder(self) -> Path:
        """The folder of the tokenizer."""
        return self.tokenizer or self.source

    @property
    def details(self) -> tuple[str, ...]:
        """What decides vectors or scores beside weights, pooling, tokens and normalisation; empty
        for most models.
        """
        details = {
            f"dim={self.dim}": self.dim is not None,
            f"layer={self.layer}": self.layer is not None,
            f"similarity={self.similarity}": self.similarity != "cosine",
            "prompt not pooled": self.reading.prompt and not self.includes_prompt,
        }
        return (*self.reading.details, *(name for name, is_used in details.items() if is_used))


def read_usage(folder: Path, wishes: UsageOptions | None = None) -> Usage:
    """How FOLDER states that it is used, in our own file or in sentence-transformers' files, except
    for WISHES; without both by the mean.

    Layers, normalisation and similarity hold with any pooling. A folder without a config.json, or
    with modules that embedlab does not compute, is a MissingError; a prompt or role that it does
    not state a UsageError.
    """
    wishes = wishes or UsageOptions()
    folder, adapter = _folder_and_adapter(folder, wishes.adapter)
    for path in filter(None, (folder, adapter)):
        refuse_devices(path)
    statement, file, modules = read_statement(folder), read_prompts(folder), read_modules(folder)
    source, is_static = modules.source, modules.is_static
    files = TransformerFiles(weights=source, tokenizer=source)
    if not is_static:
        files = transformer_files(source, adapter)
    elif adapter is not None:
        raise UsageError(
            f"{str(folder)!r} has static token vectors: no adapter fits", hint="remove @adapter"
        )
    read_folders = sorted({source, files.weights, files.tokenizer})
    notes = native_notes(folder, read_folders, wishes.code, is_ours=(folder / STATEMENT).is_file())
    pooling = wishes.pooling or _own_pooling(folder, statement) or modules.pooling
    if pooling is None and not is_static:
        refuse_head(folder, files.weights)
        unlisted = next(folder.glob("*_Pooling/config.json"), None)
        reason = (
            "no pooling was stated"
            if unlisted is None
            else f"{unlisted.parent.name} is not listed in {MODULES}, which alone counts"
        )
        notes.append(f"{reason}: mean")
    layers = modules.layers
    if wishes.pooling is not None and modules.pooling is not None and layers:
        notes.append(
            f"the layers after pooling were trained with {modules.pooling!r} pooling, not "
            f"{wishes.pooling!r}"
        )
    reading = _reading(folder, modules, files, wishes, statement, file)
    layer = None
    if wishes.layer is not None:
        layer = _layer(folder, None if is_static else files.weights, wishes.layer)
    if reading.prompt:
        notes.append(f"prompt {reading.prompt!r}")
    if files.adapter is not None:
        notes.append(f"an adapter of {base_title(files.weights)!r}")
    ends_normalised = bool(layers) and layers[-1].kind == "normalise"
    layers = layers[:-1] if ends_normalised else layers
    if layer is not None and layers:
        notes.append("the layers after pooling were trained with the last hidden states")
    folders = dict.fromkeys((folder, files.base, files.adapter))
    if (similarity := file.similarity_fn_name or "cosine") not in get_args(Similarity):
        raise MissingError(
            f"{str(folder)!r} states the similarity {similarity!r}",
            hint=f"embedlab computes {', '.join(get_args(Similarity))}",
        )
    usage = Usage(
        pooling=pooling or "mean",
        reading=reading,
        is_normalised=ends_normalised,
        training_text=statement.training_text if adapter is None else None,
        notes=tuple(notes),
        source=files.weights,
        folders=tuple(filter(None, folders)),
        adapter=files.adapter,
        tokenizer=files.tokenizer,
        is_static=is_static,
        layers=layers,
        includes_prompt=modules.includes_prompt,
        dim=wishes.dim or file.truncate_dim,
        layer=layer,
        similarity=cast("Similarity", similarity),
    )
    if usage.dim is not None or layers:  # refuses layers that do not fit, too
        width = vector_width(usage)
        if usage.dim is not None and usage.dim > width:
            raise UsageError(
                f"{str(folder)!r} has vectors of {width} numbers, fewer than {usage.dim}",
                hint=f"give @dim={width} or less",
            )
    return usage


def read_intact_usage(folder: Path, wishes: UsageOptions | None) -> Usage:
    """`read_usage` of a folder that is to be loaded: files that differ from the checksums it was
    written with are a MissingError.
    """
    refuse_devices(folder)
    check_folder(
        folder,
        hint=f"train or export it again, or restore the file; if you changed it yourself, remove "
        f"{CHECKSUMS!r} there",
    )
    return read_usage(folder, wishes)


def _folder_and_adapter(folder: Path, typed: str | None) -> tuple[Path, Path | None]:
    """The folder whose statements hold, and an adapter of it: one that was TYPED, or FOLDER itself
    where it states no usage.
    """
    if typed is not None:
        return folder, typed_adapter(typed)
    files = ((folder / MODULES).is_file(), (folder / STATEMENT).is_file())
    states_usage = any((*files, *folder.glob("*_Pooling/config.json")))
    if is_adapter(folder) and not states_usage and not weight_files(folder):
        return base_folder(folder), folder
    return folder, None


def vector_width(usage: Usage, token_width: int | None = None) -> int:
    """The length of vectors before they are cut to `dim`; TOKEN_WIDTH is the length of token
    vectors, if it is known already.
    """
    if usage.is_static:
        width = static_vectors(usage.source)[1]
    else:
        width = (token_width or hidden_size(usage.source)) * len(pooling_parts(usage.pooling))
    for layer in usage.layers:
        if layer.kind == "dense" and (in_features := read_dense(layer.folder).in_features) != width:
            raise MissingError(
                f"{layer.folder / 'config.json'}: in_features is {in_features}, but vectors have "
                f"{width} numbers",
                hint=RESTORE_HINT,
            )
        width = layer.width(width)
    return width


def vector_dim(usage: Usage, token_width: int | None = None) -> int:
    """The length of sentence vectors."""
    width = vector_width(usage, token_width)
    return min(width, usage.dim or width)


def _reading(
    folder: Path,
    modules: Modules,
    files: TransformerFiles,
    wishes: UsageOptions,
    statement: Statement,
    prompts: PromptsFile,
) -> Reading:
    """How a text is read, as FOLDER states but for WISHES; static token vectors take a prompt
    alone.
    """
    prompt = (
        prompts.default_prompt if wishes.prompt is None else typed_prompt(wishes.prompt, folder)
    )
    typed_choices = {key: value for key in CHOICES if (value := getattr(wishes, key)) is not None}
    if modules.is_static:
        if typed_choices or wishes.max_tokens is not None:
            key = next(iter(typed_choices), "max_tokens")
            raise UsageError(
                f"{str(folder)!r} has static token vectors, which take no option {key!r}",
                hint=f"remove @{key}",
            )
        return Reading(max_tokens=DEFAULT_MAX_TOKENS, prompt=prompt)
    settings = read_transformer_file(modules.source)
    tokens = input_length(
        folder,
        files.weights,
        files.tokenizer,
        stated=statement.max_tokens or settings.max_seq_length,
        typed=wishes.max_tokens,
        shortest=SHORTEST,
    )
    case = "lower" if settings.do_lower_case else "kept"
    return Reading(**{"max_tokens": tokens, "prompt": prompt, "case": case, **typed_choices})


def _layer(folder: Path, weights: Path | None, wish: int) -> int:
    """The number of a hidden state, counted from the embeddings; a number that the model does not
    have is a UsageError.
    """
    count = None if weights is None else read_config(weights).layers
    if count is None:
        raise UsageError(f"{str(folder)!r} has no layers to choose from", hint="remove @layer")
    if not -count - 1 <= wish <= count:
        raise UsageError(
            f"{str(folder)!r} has {count} layers, none of them {wish}",
            hint=f"@layer takes 0, the embeddings, to {count}, or -1",
        )
    return wish % (count + 1)


def read_statement(folder: Path) -> Statement:
    """Return the content of FOLDER's embedlab.json; an empty statement if there is none."""
    return read_model_file(folder / STATEMENT, Statement) or Statement()


def pooling_label(usage: Usage) -> str:
    """How tables name what makes a sentence vector of token vectors."""
    parts = ["static" if usage.is_static else usage.pooling]
    parts += [layer.kind for layer in usage.layers if layer.kind != "normalise"]
    parts += ["normalised"] if usage.is_normalised else []
    return ", ".join([*parts, *usage.details])


def _own_pooling(folder: Path, statement: Statement) -> str | None:
    if statement.pooling is not None:
        try:
            pooling_parts(statement.pooling)
        except UsageError as error:
            raise MissingError(f"{folder / STATEMENT}: {error.message}", hint=error.hint) from error
    return statement.pooling
