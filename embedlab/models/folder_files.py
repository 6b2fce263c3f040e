"""The JSON files of a model folder as typed records: each wrong shape is one error that names the
file and the key.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from annotated_types import Gt

from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import (
    MIB,
    read_foreign,
    refuse_foreign,
    refuse_other_content,
)
from embedlab.core.printable import first_few
from embedlab.core.schema import adapter, reason_of

T = TypeVar("T")
PositiveInt = Annotated[int, Gt(0)]
ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
WHOLE_WEIGHTS = "model.safetensors"
STATEMENT = "embedlab.json"  # what our own models say: pooling and max_tokens, in our words
INDEX = "model.safetensors.index.json"  # not read where WHOLE_WEIGHTS exists
# of what describes a model, its vocabulary included; published ones have up to 40 MiB
LARGEST_DESCRIPTION = 512 * MIB
LONGEST_HEADER = 10**8  # bytes, as safetensors allows
_READ = {
    ".json": LARGEST_DESCRIPTION,
    ".txt": LARGEST_DESCRIPTION,
    ".model": LARGEST_DESCRIPTION,
    ".safetensors": None,
}
_VOCABULARIES = ("tokenizer*.json", "vocab.*", "*.model", "*.tiktoken", "tekken.json")
_NOT_VOCABULARIES = {"tokenizer_config.json"}
_SERVED = "serve it, for example with llama-server, and name http://HOST/v1#MODEL"
_BROUGHT = "encode with {} in another environment, and name the result vectors:FILE"
_PICKLED = "embedlab loads no pickled weights; convert the checkpoint to safetensors"
# Weights that embedlab does not read, by their suffix: what they are, and how to use them.
OTHER_WEIGHTS: Mapping[str, tuple[str, str]] = {
    suffix: (f"{what} weights", way)
    for suffixes, what, way in (
        (".gguf", "GGUF", _SERVED),
        (".ggml", "GGML", _SERVED),
        (".onnx", "ONNX", _BROUGHT.format("onnxruntime")),
        (".tflite .h5 .keras .pb", "TensorFlow", _BROUGHT.format("TensorFlow")),
        (".msgpack", "Flax", _BROUGHT.format("Flax")),
        (".xml", "OpenVINO", _BROUGHT.format("OpenVINO")),
        (".mlmodel .mlpackage", "Core ML", _BROUGHT.format("Core ML")),
        (".bin .pt .pth .ckpt .pkl .ot", "pickled", _PICKLED),
    )
    for suffix in suffixes.split()
}
RESTORE_HINT = "restore the file as its author published it, or save the model again"


@dataclass(frozen=True, kw_only=True)
class Config:
    """The part of config.json, the description of a transformer, that embedlab reads; each key is
    absent in some architectures.
    """

    model_type: str | None = None
    architectures: tuple[str, ...] | None = None
    pad_token_id: int | None = 1
    max_position_embeddings: int | None = None
    n_positions: int | None = None
    hidden_size: PositiveInt | None = None
    dim: PositiveInt | None = None
    d_model: PositiveInt | None = None
    n_embd: PositiveInt | None = None
    num_hidden_layers: PositiveInt | None = None
    n_layers: PositiveInt | None = None
    n_layer: PositiveInt | None = None
    num_layers: PositiveInt | None = None
    # Read to be refused here where they are not positive: some architectures compute with a
    # negative number of heads until shapes differ.
    num_attention_heads: PositiveInt | None = None
    n_heads: PositiveInt | None = None
    n_head: PositiveInt | None = None
    num_heads: PositiveInt | None = None
    num_key_value_heads: PositiveInt | None = None

    @property
    def width(self) -> int | None:
        """The length of a token's vector, under whichever key the architecture states it."""
        return self.hidden_size or self.dim or self.d_model or self.n_embd

    @property
    def layers(self) -> int | None:
        """The number of layers, in the same way."""
        return self.num_hidden_layers or self.n_layers or self.n_layer or self.num_layers


@dataclass(frozen=True, kw_only=True)
class AdapterFile:
    """adapter_config.json: what an adapter of peft changes, and how."""

    base_model_name_or_path: str | None = None
    revision: str | None = None  # of the base model
    megatron_config: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """embedlab.json: the statement of embedlab's own models, or of their publishers, on their
    use.
    """

    pooling: str | None = None
    max_tokens: PositiveInt | None = None
    # not recorded by a run next to the model; empty: none, absent: unknown
    training_text: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class TokenizerFile:
    """tokenizer_config.json; a tokenizer without a limit states 10³⁰ tokens."""

    model_max_length: Annotated[float, Gt(0)] | None = None
    tokenizer_class: str | None = None
    # tokenizer.VERSION.json for versions of transformers
    fast_tokenizer_files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NamedWeights:
    """The key of config.json by which transformers reads other weights than the usual ones."""

    transformers_weights: str | None = None  # a safetensors file or an index of several


@dataclass(frozen=True, kw_only=True)
class WeightIndex:
    """model.safetensors.index.json: the file of each tensor."""

    weight_map: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class TensorHeader:
    """What a safetensors file states of a tensor."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Model2VecFile:
    """config.json of a folder that model2vec wrote; null means no limit of the input."""

    model_type: str | None = None
    normalize: bool = False
    max_length: PositiveInt | None = 512


@dataclass(frozen=True, kw_only=True)
class Module:
    """One entry of modules.json."""

    type: str
    path: str


@dataclass(frozen=True, kw_only=True)
class PlaceFile:
    """The part of a Dense or Normalize module's config.json that names its input and output."""

    module_input_name: str = "sentence_embedding"
    module_output_name: str | None = None  # in the place of what it reads


@dataclass(frozen=True, kw_only=True)
class DenseFile:
    """config.json of a Dense module."""

    in_features: PositiveInt
    out_features: PositiveInt
    bias: bool = True
    activation_function: str = "torch.nn.modules.activation.Tanh"
    use_residual: bool = False


@dataclass(frozen=True, kw_only=True)
class LayerNormFile:
    """config.json of a LayerNorm module."""

    dimension: PositiveInt


@dataclass(frozen=True, kw_only=True)
class RouterFile:
    """router_config.json, or config.json of an Asym module: the modules of each route."""

    types: Mapping[str, str]
    structure: Mapping[str, tuple[str, ...]]


# The switches of versions 2 to 5 in the order in which their vectors are concatenated.
SWITCHES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, kw_only=True)
class PoolingFile:
    """config.json of a Pooling module; before sentence-transformers 6 it has one switch a mode."""

    include_prompt: bool = True
    pooling_mode: str | tuple[str, ...] | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False

    @property
    def modes(self) -> list[str]:
        """The names of its pooling modes."""
        if isinstance(self.pooling_mode, str):
            return [self.pooling_mode]
        if self.pooling_mode is not None:
            return list(self.pooling_mode)
        return [mode for name, mode in SWITCHES.items() if getattr(self, name)]


@dataclass(frozen=True, kw_only=True)
class PromptsFile:
    """config_sentence_transformers.json."""

    prompts: Mapping[str, str | None] | None = field(default=None)
    default_prompt_name: str | None = None
    truncate_dim: PositiveInt | None = None
    similarity_fn_name: str | None = None
    model_type: str = "SentenceTransformer"  # the class of sentence-transformers that wrote it
    activation_fn: str | None = None  # of a cross-encoder
    keep_in_fp32_modules: tuple[str, ...] | None = None  # of a cross-encoder

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of each prompt, by name."""
        return {name: text or "" for name, text in (self.prompts or {}).items()}

    @property
    def default_prompt(self) -> str:
        """The text before each sentence that is encoded without naming a prompt."""
        return self.texts.get(self.default_prompt_name or "", "")


def read_model_file(path: Path, kind: type[T]) -> T | None:
    """Return the content of the JSON file at PATH as a KIND, None if there is no such file; any
    fault is a MissingError.

    Keys that KIND does not have are ignored: they belong to other programs.
    """
    with _as_file_errors(path):
        if path.exists():
            return _parse(read_foreign(path, limit=LARGEST_DESCRIPTION), kind)
    return None


def read_stated(path: Path, kind: type[T]) -> T:
    """Return what `read_model_file` does, or a KIND that states nothing where there is no file."""
    content = read_model_file(path, kind)
    return kind() if content is None else content


def read_header(weights: Path) -> Mapping[str, TensorHeader]:
    """Return what a safetensors file states of its tensors; a header that cannot be read, or that
    states another size than the file has, is a MissingError.
    """
    with _as_file_errors(weights, "its header: "):
        with weights.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = _parse(file.read(min(length, LONGEST_HEADER)), dict[str, Any])
        header.pop("__metadata__", None)
        tensors: dict[str, TensorHeader]
        tensors = adapter(dict[str, TensorHeader]).validate_python(header)
        size = 8 + length + max((tensor.data_offsets[1] for tensor in tensors.values()), default=0)
        if weights.stat().st_size != size:
            raise MissingError(
                f"{str(weights)!r} has not the {size:,} bytes that its header states",
                hint=RESTORE_HINT,
            )
    return tensors


def _parse(content: bytes, kind: type[T]) -> T:
    description: T = adapter(cast("Any", kind)).validate_json(content, strict=True)
    return description


@contextmanager
def _as_file_errors(path: Path, what: str = "") -> Iterator[None]:
    """Turn a fault of the file at PATH, or of JSON in it, which says WHAT, into one line."""
    import pydantic

    try:
        yield
    except pydantic.ValidationError as error:
        raise MissingError(
            f"{path}: {what}{_reason(error.errors(include_url=False)[0])}", hint=RESTORE_HINT
        ) from error
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}", hint="check its permissions"
        ) from error


def refuse_devices(folder: Path) -> None:
    """Refuse a model FOLDER where a file that would be read, there or in a module's folder, is a
    pipe, a device, too large, damaged, or by its signature another one than its name says.
    """
    for path in (*folder.glob("*.*"), *folder.glob("*/*.*")):
        if path.suffix in _READ:
            refuse_foreign(path, limit=_READ[path.suffix])
            with suppress(OSError):  # its reader says that it cannot be read
                refuse_other_content(path)
            if path.suffix == ".safetensors" and path.exists():
                read_header(path)


def refuse_incomplete(weights: Path, tokenizer: Path) -> None:
    """Refuse a model without weights that are read, in the folder WEIGHTS, or without a vocabulary,
    in the folder TOKENIZER.
    """
    if not weight_files(weights):
        refuse_other_weights(weights)
        hint = RESTORE_HINT
        for path in sorted(weights.glob("*.safetensors"))[:1]:
            hint = f"{path.name} is not called {WHOLE_WEIGHTS}"
        raise MissingError(f"{str(weights)!r} holds no safetensors weights", hint=hint)
    refuse_no_vocabulary(tokenizer)


def refuse_no_vocabulary(tokenizer: Path) -> None:
    """Refuse a folder of a TOKENIZER without a file of its vocabulary: transformers would make an
    empty vocabulary, in which every text is unknown.
    """
    files = {path.name for pattern in _VOCABULARIES for path in tokenizer.glob(pattern)}
    if not files - _NOT_VOCABULARIES:
        raise MissingError(
            f"{str(tokenizer)!r} has no tokenizer (tokenizer.json, vocab.txt, ...)",
            hint="copy the tokenizer's files of the model that it was trained from into the folder",
        )


def refuse_other_weights(folder: Path) -> None:
    """Refuse FOLDER, which has no weights that are read, where it has others."""
    for path in (*sorted(folder.glob("*.*")), *sorted(folder.glob("*/*.*"))):
        is_openvino = path.with_suffix(".xml").is_file()  # it describes the numbers in a .bin
        if (suffix := ".xml" if is_openvino else path.suffix.lower()) in OTHER_WEIGHTS:
            description, hint = OTHER_WEIGHTS[suffix]
            finding = f"{description} ({path.relative_to(folder)}), which are not read"
            raise MissingError(f"{str(folder)!r} holds {finding}, and no safetensors", hint=hint)


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a model folder, in name order; empty if it has only pickled
    weights or none.
    """
    named_paths = {path for path in _named_weights(folder) if path.suffix == ".safetensors"}
    return sorted(
        {*folder.glob("model*.safetensors"), *(path for path in named_paths if path.is_file())}
    )


def named_files(folder: Path) -> set[Path]:
    """Return the files of weights and tokenizers that the files in FOLDER name; a path that leaves
    FOLDER is a MissingError.
    """
    config = folder / "tokenizer_config.json"
    tokenizer = read_stated(config, TokenizerFile)
    return {
        *_named_weights(folder),
        *(path_inside(folder, name, config) for name in tokenizer.fast_tokenizer_files),
    }


def _named_weights(folder: Path) -> set[Path]:
    """Return the files that transformers reads weights from by what a file in FOLDER says, the
    index among them.
    """
    config, index = folder / "config.json", folder / INDEX
    stated_weights = read_stated(config, NamedWeights).transformers_weights
    if stated_weights is not None:
        index = path_inside(folder, stated_weights, config)
    elif (folder / WHOLE_WEIGHTS).is_file():
        return set()
    listed = None
    if index.name.endswith(".index.json"):
        listed = read_model_file(index, WeightIndex)
    names = () if listed is None else listed.weight_map.values()
    return {index, *(path_inside(folder, name, index) for name in names)}


def path_inside(folder: Path, path: str, naming_file: Path) -> Path:
    """Return the PATH in FOLDER that NAMING_FILE names; an absolute path, or one that leaves
    FOLDER, is a MissingError.

    A file elsewhere would be read as part of the model, but a copy of the folder would lack it.
    """
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise MissingError(
            f"{naming_file} names {path!r}, which is outside its folder",
            hint=f"copy it into {str(folder)!r} and name it there",
        )
    return folder / path


def _reason(error: Mapping[str, Any]) -> str:
    """Return one line that names the key, its value and its fault."""
    text = reason_of(error)
    if error["type"] == "json_invalid":
        return f"not valid JSON: {text.partition(': ')[2] or text}"
    key = ".".join(str(step) for step in error["loc"])
    if error["type"] in {"missing", "missing_argument"}:
        return f"{key!r} is missing"
    value = repr(error["input"])
    shortened = value[:60] + "…" * (len(value) > 60)
    return f"{key!r} is {shortened}: {text}" if key else f"{text}, and it is {shortened}"


MODEL2VEC_VECTORS = "embeddings"  # as model2vec calls its vectors
_STATIC_VECTORS = ("embedding.weight", MODEL2VEC_VECTORS)


def static_vectors(weights: Path) -> tuple[str, int]:
    """Return the name and the length of the static token vectors in a safetensors file, by its
    header.
    """
    tensors = read_header(weights)
    for name in _STATIC_VECTORS:
        if name in tensors and len(shape := tensors[name].shape) == 2:
            return name, shape[1]
    names = first_few(map(repr, sorted(tensors)), 3)
    raise MissingError(
        f"{str(weights)!r} holds no token vectors; its tensors: {names or 'none'}",
        hint=RESTORE_HINT,
    )


def static_weights(folder: Path) -> Path:
    """Return the file of the static token vectors in FOLDER."""
    return next(iter(weight_files(folder)), folder / WHOLE_WEIGHTS)
