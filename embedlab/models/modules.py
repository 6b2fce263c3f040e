"""The files of sentence-transformers in a folder: what computes token vectors, how they are pooled,
which layers follow, how the transformer is fed, and the prompts.

Read from the files of versions 2 to 6 without loading anything. What embedlab does not compute is a
MissingError.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from embedlab.choices import Similarity
from embedlab.core.errors import MissingError
from embedlab.core.names import check_pooling
from embedlab.core.nearest import unknown_name_error
from embedlab.models.folder_files import (
    RESTORE_HINT,
    STATEMENT,
    DenseFile,
    LayerNormFile,
    Model2VecFile,
    Module,
    PlaceFile,
    PoolingFile,
    PositiveInt,
    PromptsFile,
    RouterFile,
    path_inside,
    read_model_file,
    read_stated,
)

PROMPTS = "config_sentence_transformers.json"
# classes of sentence-transformers
ENCODER_TYPE, CROSS_ENCODER = (
    "SentenceTransformer",
    "CrossEncoder",
)
# What models of other classes give, and how their scores of pairs are brought; any other class
# gives what its author says.
_SPARSE = "a sparse encoder: a vector of word weights for each text"
_MULTI = "a multi-vector encoder: a vector for each token"
_OTHER_TYPES: Mapping[str, tuple[str, str]] = {
    "SparseEncoder": (_SPARSE, "SparseEncoder.similarity_pairwise"),
    "MultiVectorEncoder": (_MULTI, "MultiVectorEncoder.similarity_pairwise"),
    "ColBERT": (_MULTI, "PyLate"),
}
_ROLES = {"query", "document"}  # whose prompts the package knows as empty


def read_prompts(folder: Path, *, kind: str = ENCODER_TYPE) -> PromptsFile:
    """Return what FOLDER states of prompts, similarity and length; nothing where it has no such
    file.

    A model of another KIND, which gives no sentence vectors, and a default prompt that is not among
    the prompts, are a MissingError.
    """
    file = read_model_file(folder / PROMPTS, PromptsFile)
    if file is None:
        return PromptsFile()
    if file.model_type != kind:
        raise _unused_type(folder, file.model_type)
    known_names = {"", *file.texts, *(_ROLES if kind == ENCODER_TYPE else ())}
    if (file.default_prompt_name or "") not in known_names:
        raise MissingError(
            f"{folder / PROMPTS}: no prompt {file.default_prompt_name!r}, which "
            f"'default_prompt_name' names",
            hint=RESTORE_HINT,
        )
    return file


def _unused_type(folder: Path, kind: str) -> MissingError:
    """Return the error of a FOLDER whose model is of a KIND that embedlab does not use so."""
    if kind == CROSS_ENCODER:
        return MissingError(
            f"{str(folder)!r} is a cross-encoder: it scores pairs and has no vectors",
            hint=f"name it cross-encoder:{folder}",
        )
    outputs, scored_by = _OTHER_TYPES.get(
        kind, (f"of the class {kind}, which gives no sentence vectors", kind)
    )
    return MissingError(
        f"{str(folder)!r} is {outputs}; embedlab computes one dense vector a sentence",
        hint=f"score the pairs with {scored_by} and name them scores:FILE",
    )


def stated_similarity(name: str, stated: str | None) -> Similarity:
    """Return how vectors of the model called NAME are compared: as it STATED, else by cosine."""
    if (stated or "cosine") not in get_args(Similarity):
        raise MissingError(
            f"{name!r} states the similarity {stated!r}",
            hint=f"embedlab computes {', '.join(get_args(Similarity))}",
        )
    return cast("Similarity", stated or "cosine")


def stated_prompts(folder: Path) -> Mapping[str, str]:
    """Return the prompts that FOLDER states, by name."""
    return read_prompts(folder).texts


def prompt_text(folder: Path, file: PromptsFile, typed: str | None) -> str:
    """Return the text before each sentence: of the prompt that is TYPED, by the name that the FILE
    in FOLDER gives it or as it is; otherwise of the file's default prompt.
    """
    if typed is None:
        return file.default_prompt
    if typed and typed not in file.texts and not re.search(r"[\s:|]", typed):
        raise unknown_name_error(
            "prompt",
            typed,
            list(file.texts),
            listing=f"prompts that {str(folder)!r} states; a text ends with a colon or a space",
        )
    return file.texts.get(typed, typed)


TRANSFORMER = "sentence_bert_config.json"
# Version 2 named the file by the architecture; the first that exists holds.
_ARCHITECTURES = "bert roberta distilbert camembert albert xlm-roberta xlnet"
_LAST_STATES = {"method": "forward", "method_output_name": "last_hidden_state"}
_LOGITS = {"method": "forward", "method_output_name": "logits"}
# What a transformer of each purpose gives for a text, under which name, and what that is.
_OUTPUTS = {
    "feature-extraction": (_LAST_STATES, "token_embeddings", "token vectors"),
    "sequence-classification": (_LOGITS, "scores", "scores"),
}
# Arguments for transformers that do not change a vector in float32; any other may.
_HARMLESS = {
    *[
        "add_pooling_layer",
        "attn_implementation",
        "device_map",
        "dtype",
        "torch_dtype",
        "low_cpu_mem_usage",
        "use_safetensors",
        "local_files_only",
        "padding_side",
        "trust_remote_code",
        "use_cache",
        "use_fast",
    ]
}


@dataclass(frozen=True, kw_only=True)
class TransformerFile:
    """The settings of a Transformer module, in the files of versions 2 to 6."""

    max_seq_length: PositiveInt | None = None
    do_lower_case: bool | None = None
    transformer_task: str = "feature-extraction"
    modality_config: Mapping[str, Mapping[str, Any]] | None = None  # by kind of input
    module_output_name: str = "token_embeddings"
    processing_kwargs: Mapping[str, Mapping[str, Any]] | None = None
    tokenizer_name_or_path: str | None = None
    model_args: Mapping[str, Any] | None = None
    tokenizer_args: Mapping[str, Any] | None = None
    config_args: Mapping[str, Any] | None = None
    model_kwargs: Mapping[str, Any] | None = None
    processor_kwargs: Mapping[str, Any] | None = None
    config_kwargs: Mapping[str, Any] | None = None

    def uncomputed(self, purpose: str) -> str | None:
        """Name the setting that embedlab does not compute for a PURPOSE; None where it computes
        all.
        """
        output, name, output_name = _OUTPUTS[purpose]
        modalities = self.modality_config or {"text": output}
        settings = {
            f"for {self.transformer_task}": self.transformer_task != purpose,
            "with a chat template": "message" in modalities,
            f"without {output_name} of texts": modalities.get("text") != output
            or self.module_output_name != name,
            "with processing_kwargs": any((self.processing_kwargs or {}).values()),
            "with another tokenizer": self.tokenizer_name_or_path is not None,
        }
        for key, value in vars(self).items():
            if key.endswith(("_args", "_kwargs")) and key != "processing_kwargs":
                settings[f"with {key}"] = not _HARMLESS.issuperset(value or ())
        return next((name for name, is_set in settings.items() if is_set), None)


def read_transformer_file(folder: Path) -> TransformerFile:
    """Return the settings of the transformer in FOLDER; where it states none, the usual ones."""
    for name in _ARCHITECTURES.split():
        file = read_model_file(folder / f"sentence_{name}_config.json", TransformerFile)
        if file is not None:
            return file
    return TransformerFile()


T = TypeVar("T")
MODULES = "modules.json"
LayerKind = Literal["dense", "layer-norm", "normalise"]
# The names by which sentence-transformers' files call poolings, and embedlab's.
POOLING_NAMES: Mapping[str, str] = {
    "cls": "cls",
    "mean": "mean",
    "max": "max",
    "mean_sqrt_len_tokens": "mean-sqrt-length",
    "weightedmean": "weighted-mean",
    "lasttoken": "last",
}
# before the name of one that sentence-transformers does not have, in the place of its type
OWN_POOLING = "embedlab.poolings."
BETWEEN = "+"  # poolings whose vectors are concatenated
_LAYERS: Mapping[str, LayerKind] = {
    "Dense": "dense",
    "LayerNorm": "layer-norm",
    "Normalize": "normalise",
}
_ROUTERS = {"Router", "Asym"}
_IDENTITIES = {"Dropout"}  # do nothing outside training
# What embedlab does not compute, and version 6 of the package has a class for.
_OF_PACKAGE = {"BoW", "CLIPModel", "CNN", "LSTM", "WeightedLayerPooling", "WordEmbeddings"}
_VECTORS = "sentence_embedding"
# Where sentence-transformers has its modules, in versions 2 to 5 and in version 6; the file of a
# module is called like its class.
PACKAGE = "sentence_transformers."
_TYPE = re.compile(
    rf"{PACKAGE}(?:models|base\.modules|sentence_transformer\.modules)(?:\.(?P<file>\w+))?\.(?P<name>\w+)"
)
BROUGHT = (
    "encode with its author's program and name the result vectors:FILE, or of pairs that "
    "it scores scores:FILE"
)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer between the pooled vector and the sentence vector."""

    kind: LayerKind
    folder: Path

    def width(self, input_width: int) -> int:
        """The length of the vectors that it gives for vectors of length INPUT_WIDTH; one that it
        does not take is a MissingError.
        """
        if self.kind != "dense":
            return input_width
        file = read_dense(self.folder)
        if file.in_features != input_width:
            raise MissingError(
                f"{self.folder / 'config.json'}: in_features is {file.in_features}, but vectors "
                f"have {input_width} numbers",
                hint=RESTORE_HINT,
            )
        return file.out_features


@dataclass(frozen=True, kw_only=True)
class Modules:
    """What computes the sentence vectors of a folder."""

    source: Path  # the folder of the transformer or of the static token vectors
    is_static: bool
    pooling: str | None  # absent where no module pools
    includes_prompt: bool  # whether the tokens of a prompt are pooled too
    layers: tuple[Layer, ...]


def read_modules(folder: Path) -> Modules:
    """The modules of FOLDER; a folder without modules.json is a transformer, or what model2vec
    wrote.
    """
    steps = listed_modules(folder)
    if steps is None:
        steps = _unlisted_modules(folder)
    elif steps and steps[0][0] == "Transformer":
        setting = read_transformer_file(steps[0][1]).uncomputed("feature-extraction")
        if setting is not None:
            raise _uncomputed_module_error(folder, f"Transformer {setting}")
    first, source = steps[0] if steps else ("none", folder)
    if first not in {"Transformer", "StaticEmbedding"}:
        raise _uncomputed_module_error(folder, first)
    is_static = first == "StaticEmbedding"
    rest = deque(step for step in steps[1:] if step[0] not in _IDENTITIES)
    pooling, includes_prompt = None, True
    # as embedlab writes its mean without [CLS]
    leaves_out_cls = bool(rest) and rest[0][0] == "WordWeights" and (folder / STATEMENT).is_file()
    if leaves_out_cls:
        rest.popleft()
    if rest and not is_static and (rest[0][0] == "Pooling" or rest[0][0].startswith(OWN_POOLING)):
        pooling, includes_prompt = _read_pooling(*rest.popleft())
    if leaves_out_cls:
        if pooling != "mean":
            raise _uncomputed_module_error(folder, f"WordWeights before {pooling}")
        pooling = "mean-without-cls"
    return Modules(
        source=source,
        is_static=is_static,
        pooling=pooling,
        includes_prompt=includes_prompt,
        layers=tuple(_read_layer(folder, name, path) for name, path in rest),
    )


def _unlisted_modules(folder: Path) -> list[tuple[str, Path]]:
    file = read_model_file(folder / "config.json", Model2VecFile)
    if file is None or file.model_type != "model2vec":
        return [("Transformer", folder)]
    return [("StaticEmbedding", folder), ("Normalize", folder)][: 1 + file.normalize]


def _read_pooling(name: str, folder: Path) -> tuple[str, bool]:
    """Return the pooling of the module called NAME, and whether it pools the tokens of a prompt."""
    path = folder / "config.json"
    file = _read_required(path, PoolingFile)
    if name != "Pooling":
        return name.removeprefix(OWN_POOLING), file.include_prompt
    modes = file.modes or ["mean"]
    for mode in modes:
        if mode not in POOLING_NAMES:
            raise MissingError(
                f"{path}: pooling {mode!r} is not known",
                hint=f"embedlab knows {', '.join(POOLING_NAMES)}",
            )
    return BETWEEN.join(POOLING_NAMES[mode] for mode in modes), file.include_prompt


def _read_layer(folder: Path, name: str, path: Path) -> Layer:
    """Return the module called NAME, at PATH, of the model in FOLDER."""
    if name not in _LAYERS:
        raise _uncomputed_module_error(folder, name)
    place = PlaceFile() if name == "LayerNorm" else read_stated(path / "config.json", PlaceFile)
    output_name = place.module_output_name or place.module_input_name
    if {place.module_input_name, output_name} != {_VECTORS}:
        raise _uncomputed_module_error(
            folder, f"{name} from {place.module_input_name} to {output_name}"
        )
    return Layer(kind=_LAYERS[name], folder=path)


def listed_modules(folder: Path) -> list[tuple[str, Path]] | None:
    """Return the name and the folder of each module that FOLDER lists, in order, those of
    sentence-transformers by their own name; None where it lists none.
    """
    modules = read_model_file(folder / MODULES, tuple[Module, ...])
    if modules is None:
        return None
    steps = []
    for module in modules:
        name = module.type
        if "." not in name:
            raise MissingError(
                f"a module has the type {name!r}, which is not the full name of a class",
                hint=RESTORE_HINT,
            )
        if match := _TYPE.fullmatch(name):
            file = (match["file"] or match["name"]).replace("_", "").lower()
            name = match["name"] if file == match["name"].lower() else name
        steps.append((name, path_inside(folder, module.path, folder / MODULES)))
    return steps


def all_modules(folder: Path) -> list[tuple[str, Path]]:
    """Return what `listed_modules` does, and the modules of every route of a router by the full
    name of their type, which is empty where the router does not state it.
    """
    modules = list(listed_modules(folder) or ())
    for path, file in _routers(folder):
        names = dict.fromkeys([*chain.from_iterable(file.structure.values()), *file.types])
        modules += [
            (file.types.get(name, ""), path_inside(path.parent, name, path)) for name in names
        ]
    return modules


def routes(folder: Path) -> frozenset[str]:
    """Return the names of the routes of the routers that FOLDER lists."""
    return frozenset(name for _, router in _routers(folder) for name in router.structure)


def _routers(folder: Path) -> Iterator[tuple[Path, RouterFile]]:
    """Yield the file of each router (config.json before version 5) and its content."""
    for name, module in listed_modules(folder) or ():
        if name in _ROUTERS:
            path = module / "router_config.json"
            if not path.is_file():
                path = module / "config.json"
            yield path, _read_required(path, RouterFile)


def pooling_parts(pooling: str) -> tuple[str, ...]:
    """The poolings whose vectors are concatenated: the names that "+" joins. An unknown one is a
    UsageError.
    """
    return tuple(check_pooling(name) for name in pooling.split(BETWEEN))


def read_dense(folder: Path) -> DenseFile:
    """The config.json of a Dense layer."""
    return _read_required(folder / "config.json", DenseFile)


def read_layer_norm(folder: Path) -> LayerNormFile:
    """The config.json of a LayerNorm layer."""
    return _read_required(folder / "config.json", LayerNormFile)


def _read_required(path: Path, kind: type[T]) -> T:
    content = read_model_file(path, kind)
    if content is None:
        raise MissingError(f"{str(path)!r} is missing", hint=RESTORE_HINT)
    return content


def _uncomputed_module_error(folder: Path, name: str) -> MissingError:
    known_modules = {*_OF_PACKAGE, *_ROUTERS, *_LAYERS, "Transformer", "Pooling", "WordWeights"}
    is_known = name.partition(" ")[0] in known_modules
    return MissingError(
        f"{str(folder)!r} has a module {name!r} that embedlab does not compute",
        hint=f"sentence-transformers:{folder} computes it with that package (extra st)"
        if is_known
        else BROUGHT,
    )
