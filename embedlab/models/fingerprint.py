"""Fingerprints of encoders, known without loading them, so that torch-free programs find stored
scores.

The fingerprint of a folder covers every file of it but those of `NEVER_READ`.
"""

import hashlib
from collections.abc import Sequence, Set
from pathlib import Path

from embedlab.core.paths import file_hash
from embedlab.core.plugins import identity
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.encoder_kind import fingerprint_parts
from embedlab.models.folder import Usage, read_usage
from embedlab.models.folder_files import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    INDEX,
    STATEMENT,
    is_model2vec,
    refuse_incomplete,
    usual_weights,
    weight_files,
)
from embedlab.models.folder_identity import decisive_files, folder_parts
from embedlab.models.location import model_folder
from embedlab.models.modules import BETWEEN, MODULES, module_folders
from embedlab.models.prompts import FILE as PROMPTS

TOKENIZER_FILES = (
    "tokenizer.json",
    # for some classes it decides on lower case and accents, overriding tokenizer.json
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
)
LAYER_FILES = ("config.json", "model.safetensors")
# Of these what they say of the usage is hashed.
USAGE_FILES = (
    MODULES,
    STATEMENT,
    PROMPTS,
    INDEX,
    "router_config.json",
    "sentence_*_config.json",
    "*_Pooling/config.json",
)


def spec_fingerprint(spec: ModelSpec, *, precision: str) -> str:
    """Return the fingerprint of the loaded scorer of SPEC; a hub model must have been downloaded
    before.
    """
    if spec.parts:
        depth = [str(spec.depth)] if spec.depth is not None else []
        parts = (spec_fingerprint(part, precision=precision) for part in spec.parts)
        return combined_fingerprint(spec.kind, *parts, *depth)
    if spec.kind == "dice":
        return combined_fingerprint("dice")
    if spec.is_transformed:
        before = spec_fingerprint(spec.untransformed, precision=precision)
        return transformed_fingerprint(spec, before)
    if spec.is_prefixed:
        options = (
            *(
                (key, getattr(spec, key))
                for key in ("prompt", "dim", "role", "label", "activation")
            ),
            ("precision", precision if spec.shipped.scorer is not None else None),
        )
        typed = [f"{key}={value}" for key, value in options if value is not None]
        return combined_fingerprint(spec.kind, *fingerprint_parts(spec.kind, spec.location), *typed)
    usage = read_usage(model_folder(spec, offline=True), spec.wishes)
    return used_fingerprint(usage, precision=precision)


def transformed_fingerprint(spec: ModelSpec, before: str) -> str:
    """Fingerprint of vectors that are whitened, cut, normalised and stored in bits as SPEC says;
    BEFORE is that of the vectors before.
    """
    steps = [
        *(
            ["fit" if spec.whiten == FIT else file_hash(Path(spec.whiten)), f"dim={spec.dim}"]
            if spec.whiten is not None
            else []
        ),
        *(["normalised"] if spec.normalise else []),
        *([f"bits={spec.bits}"] if spec.bits is not None else []),
    ]
    return combined_fingerprint("transformed", before, *steps)


def used_fingerprint(usage: Usage, *, precision: str) -> str:
    """Fingerprint of what is in a folder, used as USAGE says: every file that is read, and the
    settings.
    """
    refuse_incomplete(usage.source, usage.tokenizer_folder)
    files = [part for folder in usage.folders for part in folder_parts(folder)]
    return combined_fingerprint("folder", weights_fingerprint(usage, precision=precision), *files)


def missed_files(usage: Usage) -> list[Path]:
    """Return the files of a model that its `weights_fingerprint` does not depend on."""
    whole = [path for folder in usage.folders for path in decisive_files(folder)]
    modules = {
        module_folder for folder in usage.folders for module_folder in module_folders(folder)
    }
    known = {usage.source / "config.json", *usual_weights(usage.source)}
    # Of an adapter with a tokenizer of its own that of the base is not read.
    known |= {
        path / name for path in (usage.tokenizer_folder, usage.source) for name in TOKENIZER_FILES
    }
    known |= (
        {usage.adapter / name for name in (ADAPTER, ADAPTER_WEIGHTS)}
        if usage.adapter is not None
        else set()
    )
    known |= {layer.folder / name for layer in usage.layers for name in LAYER_FILES}
    return [
        path
        for path in whole
        if path not in known and not _is_of_usage(path, modules - {usage.source})
    ]


def _is_of_usage(path: Path, modules: Set[Path]) -> bool:
    """Return whether what PATH says is a part of the usage: the settings of a folder, or of one of
    its MODULES without weights.
    """
    return any(path.match(name) for name in USAGE_FILES) or (
        path.name == "config.json" and path.parent in modules
    )


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
        changes += ["as model2vec"] if is_model2vec(usage.source) else []
        return combined_fingerprint("static", *parts, *changes)
    if precision == "bf16":
        changes += ["weights in bf16"]  # they were float32 before, and gave slightly other vectors
    code = [
        digest for name in usage.pooling.split(BETWEEN) if (digest := identity("poolings", name))
    ]  # of plug-ins
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
        *_hashes(usage.tokenizer_folder, TOKENIZER_FILES),
        *adapter,
    ]


def _hashes(folder: Path, names: Sequence[str]) -> list[str]:
    return _named_hashes([folder / name for name in names])


def _named_hashes(files: Sequence[Path]) -> list[str]:
    return [f"{file.name}={file_hash(file)}" for file in files if file.is_file()]


def combined_fingerprint(kind: str, *parts: str) -> str:
    """Return sixteen hex digits for a KIND of scorer made of PARTS, in order."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()[:16]
