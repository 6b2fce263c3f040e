"""Read the usage of a model folder without loading it: weights, pooling, normalisation, the longest
input.
"""

from dataclasses import dataclass
from pathlib import Path

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
    STATEMENT,
    Statement,
    read_stated,
    refuse_devices,
    static_vectors,
    static_weights,
    weight_files,
)
from embedlab.models.modules import (
    MODULES,
    Layer,
    pooling_parts,
    prompt_text,
    read_modules,
    read_prompts,
    read_transformer_file,
    stated_similarity,
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
    tokenizer: Path  # its folder
    is_static: bool  # a vector a token, averaged
    layers: tuple[Layer, ...]  # between pooling and the last normalisation
    includes_prompt: bool  # whether the tokens of a prompt are pooled
    dim: int | None  # vectors are cut to so many numbers
    # whose hidden states are pooled, from 0, the embeddings; None: what the model gives
    layer: int | None
    similarity: Similarity

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

    @property
    def pooling_label(self) -> str:
        """How tables name what makes a sentence vector of token vectors."""
        layers = [layer.kind for layer in self.layers if layer.kind != "normalise"]
        end = ["normalised"] if self.is_normalised else []
        return ", ".join(
            ["static" if self.is_static else self.pooling, *layers, *end, *self.details]
        )

    def width(self, token_width: int | None = None) -> int:
        """The length of vectors before they are cut to `dim`; TOKEN_WIDTH is the length of token
        vectors, if it is known already.
        """
        if self.is_static:
            width = static_vectors(static_weights(self.source))[1]
        else:
            width = (token_width or hidden_size(self.source)) * len(pooling_parts(self.pooling))
        for layer in self.layers:
            width = layer.width(width)
        return width

    def vector_dim(self, token_width: int | None = None) -> int:
        """The length of sentence vectors."""
        width = self.width(token_width)
        return min(width, self.dim or width)


def read_usage(folder: Path, wishes: UsageOptions | None = None) -> Usage:
    """How FOLDER states that it is used, in our own file or in sentence-transformers' files, except
    for WISHES; without both by the mean.

    Layers, normalisation and similarity hold with any pooling. A folder without a config.json, or
    with modules that embedlab does not compute, is a MissingError; a prompt or role that it does
    not state a UsageError.
    """
    wishes = wishes or UsageOptions()
    adapter = None if wishes.adapter is None else typed_adapter(wishes.adapter)
    if adapter is None and _is_adapter_alone(folder):
        folder, adapter = base_folder(folder), folder
    for path in filter(None, (folder, adapter)):
        refuse_devices(path)
    statement, prompts, modules = read_statement(folder), read_prompts(folder), read_modules(folder)
    if modules.is_static:
        _refuse_options_of_transformers(folder, wishes, adapter)
    files = transformer_files(modules.source, adapter)
    read_folders = sorted({modules.source, files.weights, files.tokenizer})
    notes = native_notes(folder, read_folders, wishes.code, is_ours=(folder / STATEMENT).is_file())
    pooling = wishes.pooling or _own_pooling(folder, statement) or modules.pooling
    if pooling is None and not modules.is_static:
        refuse_head(folder, files.weights)
        notes.append(f"{_why_no_pooling(folder)}: mean")
    prompt = prompt_text(folder, prompts, wishes.prompt)
    reading = Reading(max_tokens=DEFAULT_MAX_TOKENS, prompt=prompt)
    if not modules.is_static:
        reading = _reading(
            folder, modules.source, files, wishes, stated=statement.max_tokens, prompt=prompt
        )
    layers = modules.layers
    ends_normalised = bool(layers) and layers[-1].kind == "normalise"
    inner_layers = layers[:-1] if ends_normalised else layers
    trained_with = "the layers after pooling were trained with"
    remarks = {
        f"{trained_with} {modules.pooling!r} pooling, not {wishes.pooling!r}": (
            wishes.pooling and modules.pooling and layers
        ),
        f"prompt {prompt!r}": prompt,
        f"an adapter of {base_title(files.weights)!r}": files.adapter,
        f"{trained_with} the last hidden states": wishes.layer is not None and inner_layers,
    }
    usage = Usage(
        pooling=pooling or "mean",
        reading=reading,
        is_normalised=ends_normalised,
        training_text=statement.training_text if adapter is None else None,
        notes=(*notes, *(remark for remark, holds in remarks.items() if holds)),
        source=files.weights,
        folders=tuple(dict.fromkeys(filter(None, (folder, files.base, files.adapter)))),
        adapter=files.adapter,
        tokenizer=files.tokenizer,
        is_static=modules.is_static,
        layers=inner_layers,
        includes_prompt=modules.includes_prompt,
        dim=wishes.dim or prompts.truncate_dim,
        layer=None if wishes.layer is None else _layer(folder, files.weights, wishes.layer),
        similarity=stated_similarity(str(folder), prompts.similarity_fn_name),
    )
    if usage.dim is not None or inner_layers:  # refuses layers that do not fit, too
        width = usage.width()
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


def read_statement(folder: Path) -> Statement:
    """Return the content of FOLDER's embedlab.json; an empty statement if there is none."""
    return read_stated(folder / STATEMENT, Statement)


def _own_pooling(folder: Path, statement: Statement) -> str | None:
    if statement.pooling is not None:
        try:
            pooling_parts(statement.pooling)
        except UsageError as error:
            raise MissingError(f"{folder / STATEMENT}: {error.message}", hint=error.hint) from error
    return statement.pooling


def _is_adapter_alone(folder: Path) -> bool:
    """Whether FOLDER holds an adapter and states no usage, so that the statements of its base
    hold.
    """
    stating = (folder / MODULES, folder / STATEMENT, *folder.glob("*_Pooling/config.json"))
    return (
        is_adapter(folder)
        and not any(path.is_file() for path in stating)
        and not weight_files(folder)
    )


def _why_no_pooling(folder: Path) -> str:
    unlisted = next(folder.glob("*_Pooling/config.json"), None)
    if unlisted is None:
        return "no pooling was stated"
    return f"{unlisted.parent.name} is not listed in {MODULES}, which alone counts"


def _refuse_options_of_transformers(
    folder: Path, wishes: UsageOptions, adapter: Path | None
) -> None:
    """Refuse what static token vectors do not take, among it the ADAPTER that FOLDER is."""
    values = {**vars(wishes), "adapter": adapter}
    for key in ("adapter", "layer", "max_tokens", *CHOICES):
        if values[key] is not None:
            raise UsageError(
                f"{str(folder)!r} has static token vectors, which take no option {key!r}",
                hint=f"remove @{key}",
            )


def _reading(
    folder: Path,
    source: Path,
    files: TransformerFiles,
    wishes: UsageOptions,
    *,
    stated: int | None,
    prompt: str,
) -> Reading:
    """How a transformer in FOLDER reads a text after a PROMPT: as its files say but for WISHES."""
    settings = read_transformer_file(source)
    tokens = input_length(
        folder,
        files.weights,
        files.tokenizer,
        stated=stated or settings.max_seq_length,
        typed=wishes.max_tokens,
        shortest=SHORTEST,
    )
    case = "lower" if settings.do_lower_case else "kept"
    typed = {key: value for key in CHOICES if (value := getattr(wishes, key)) is not None}
    return Reading(**{"max_tokens": tokens, "prompt": prompt, "case": case, **typed})


def _layer(folder: Path, weights: Path, wish: int) -> int:
    """The number of a hidden state, counted from the embeddings; a number that the model does not
    have is a UsageError.
    """
    count = read_config(weights).layers
    if count is None:
        raise UsageError(f"{str(folder)!r} has no layers to choose from", hint="remove @layer")
    if not -count - 1 <= wish <= count:
        raise UsageError(
            f"{str(folder)!r} has {count} layers, none of them {wish}",
            hint=f"@layer takes 0, the embeddings, to {count}, or -1",
        )
    return wish % (count + 1)
