"""The fingerprint of a model folder, and the files that belong to it: all except a short list of
files that decide no vector.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path, PurePosixPath

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash, files_below
from embedlab.core.plugins import identity
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.folder import Usage
from embedlab.models.folder_files import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    INDEX,
    MODEL2VEC_VECTORS,
    STATEMENT,
    named_files,
    refuse_incomplete,
    static_vectors,
    static_weights,
    weight_files,
)
from embedlab.models.modules import BETWEEN, MODULES, PROMPTS, all_modules

# For some classes tokenizer_config.json decides on lower case and accents, overriding
# tokenizer.json.
TOKENIZER_FILES = [
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
]
LAYER_FILES = ("config.json", "model.safetensors")
# What `weights_fingerprint` depends on: these files themselves, or what they say of the usage.
COUNTED = (
    *TOKENIZER_FILES,
    *LAYER_FILES,
    "model*.safetensors",
    ADAPTER,
    ADAPTER_WEIGHTS,
    MODULES,
    STATEMENT,
    PROMPTS,
    INDEX,
    MODEL2VEC_VECTORS,
    "router_config.json",
    "sentence_*_config.json",
)
# By what they are. A pattern with "/" is of all that is in such a folder; another of a name in any
# folder. Folders of modules are read. A file that another one names is read, whatever it is called.
NEVER_READ: Mapping[str, str] = {
    "texts and pictures": "*.md README* LICENSE* LICENCE* NOTICE* COPYING* CITATION* "
    "*.png *.jpg *.jpeg *.gif *.svg *.pdf",
    "weights in other formats": "*.bin *.bin.index.json *.pt *.pth *.ckpt *.h5 *.msgpack *.ot "
    "*.onnx *.onnx_data *.gguf onnx/* openvino/* coreml/*",
    "programs, which are never run": "*.py",
    "what a training left": "data_config.json trainer_state.json checkpoint-*/*",
    "what a download or a version control left": ".gitattributes .gitignore .git/* .cache/* "
    ".DS_Store",
    # the checksums of the other files, which are compared with them; the training text of an
    # export, which decides marks alone
    "embedlab's own notes on a model": "checksums.json training/*/seed-*/*",
}
_PATTERNS = " ".join(NEVER_READ.values()).split()


def used_fingerprint(usage: Usage, *, precision: str) -> str:
    """Fingerprint of a folder's content under USAGE: every file that is read, and the settings."""
    refuse_incomplete(usage.source, usage.tokenizer)
    files = [part for folder in usage.folders for part in folder_parts(folder)]
    return combined_fingerprint("folder", weights_fingerprint(usage, precision=precision), *files)


def missed_files(usage: Usage) -> list[Path]:
    """Return the files of a model that its `weights_fingerprint` does not depend on."""
    files = chain.from_iterable(map(decisive_files, usage.folders))
    return [path for path in files if not any(path.match(name) for name in COUNTED)]


def weights_fingerprint(usage: Usage, *, precision: str) -> str:
    """Fingerprint of weights, architecture, tokenizer, layers and settings alone."""
    parts, precision = weight_parts(usage), usage.reading.dtype or precision
    changes = [
        *(["normalised"] if usage.is_normalised else []),
        *(["lower-cased"] if usage.reading.case == "lower" else []),
        *usage.details,
    ]
    for layer in usage.layers:
        changes += [layer.kind, *_hashes(layer.folder, LAYER_FILES)]
    if usage.is_static:
        table_name, _ = static_vectors(static_weights(usage.source))
        changes += ["as model2vec"] if table_name == MODEL2VEC_VECTORS else []
        return combined_fingerprint("static", *parts, *changes)
    if precision == "bf16":
        changes += ["weights in bf16"]  # they were float32 before, and gave slightly other vectors
    # of plug-ins
    code = [
        digest for name in usage.pooling.split(BETWEEN) if (digest := identity("poolings", name))
    ]
    return combined_fingerprint(
        "transformer",
        *parts,
        usage.pooling,
        str(usage.reading.max_tokens),
        precision,
        *changes,
        *code,
    )


def weight_parts(usage: Usage) -> list[str]:
    """The hashes of the weights, the architecture, the tokenizer and the adapter of a model."""
    folder, weights = usage.source, weight_files(usage.source)
    adapter = (
        _hashes(usage.adapter, (ADAPTER, ADAPTER_WEIGHTS)) if usage.adapter is not None else []
    )
    return [
        *_named_hashes(weights),
        *_hashes(folder, ("config.json",)),
        *_hashes(usage.tokenizer, TOKENIZER_FILES),
        *adapter,
    ]


def _hashes(folder: Path, names: Sequence[str]) -> list[str]:
    return _named_hashes([folder / name for name in names])


def _named_hashes(files: Sequence[Path]) -> list[str]:
    return [f"{file.name}={file_hash(file)}" for file in files if file.is_file()]


def folder_parts(folder: Path) -> list[str]:
    """Return the path and the hash of each file in FOLDER that belongs to its fingerprint, in order
    of their paths.
    """
    return [
        f"{path.relative_to(folder).as_posix()}={_hash(path)}" for path in decisive_files(folder)
    ]


def decisive_files(folder: Path) -> list[Path]:
    """Return the files in FOLDER that belong to its fingerprint, in order; a file that names a path
    outside is a MissingError.
    """
    folders = (folder, *(path for _, path in all_modules(folder)))
    named_paths = set(chain.from_iterable(map(named_files, folders)))

    # the history of a repository or a trainer's checkpoints may be larger than the model
    def is_skipped(inner: Path) -> bool:
        return _is_never_read(inner / "-", folders) and not any(
            path.is_relative_to(inner) for path in (*folders, *named_paths)
        )

    return sorted(
        path
        for path in files_below(folder, skips=is_skipped)
        if path in named_paths or not _is_never_read(path, folders)
    )


@lru_cache(maxsize=4096)
def is_never_read(name: str) -> bool:
    """Return whether no vector depends on the file called NAME, a path in the folder of a model or
    of one of its modules.
    """
    path = PurePosixPath(name)
    return any(
        candidate.match(pattern)
        for pattern in _PATTERNS
        for candidate in ((path, *path.parents) if "/" in pattern else (path,))
    )


def _is_never_read(path: Path, folders: Sequence[Path]) -> bool:
    """Return whether no vector depends on PATH, by its name in the innermost of FOLDERS that holds
    it.
    """
    holding = (folder for folder in folders if path.is_relative_to(folder))
    return is_never_read(min((path.relative_to(folder).as_posix() for folder in holding), key=len))


def _hash(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}",
            hint="check its permissions; every file of a model is read",
        ) from error
