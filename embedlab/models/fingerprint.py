"""Fingerprints of encoders, known without loading them, so that torch-free programs find stored scores."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash
from embedlab.core.plugins import identity
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.encoder_kind import fingerprint_parts
from embedlab.models.folder import Usage, read_usage
from embedlab.models.folder_files import ADAPTER, ADAPTER_WEIGHTS, weight_files
from embedlab.models.location import model_folder
from embedlab.models.modules import BETWEEN
from embedlab.models.token_vectors import is_model2vec

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",  # for some classes it decides on lower case and accents, overriding tokenizer.json
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
)


def spec_fingerprint(spec: ModelSpec, *, precision: str) -> str:
    """Return the fingerprint of the loaded scorer of SPEC; a hub model must have been downloaded before."""
    if spec.parts:
        return combined_fingerprint(spec.kind, *(spec_fingerprint(part, precision=precision) for part in spec.parts))
    if spec.kind == "dice":
        return combined_fingerprint("dice")
    if spec.is_transformed:
        return transformed_fingerprint(spec, spec_fingerprint(spec.untransformed, precision=precision))
    if spec.is_prefixed:
        options = (("prompt", spec.prompt), ("dim", spec.dim), ("role", spec.role))
        typed = [f"{key}={value}" for key, value in options if value is not None]
        return combined_fingerprint(spec.kind, *fingerprint_parts(spec.kind, spec.location), *typed)
    folder = model_folder(spec, offline=True)
    usage = read_usage(folder, spec.wishes)
    return used_fingerprint(usage, precision=precision)


def transformed_fingerprint(spec: ModelSpec, before: str) -> str:
    """Fingerprint of vectors that are whitened, cut and normalised as SPEC says; BEFORE is that of the vectors before."""
    steps = [
        *(["fit" if spec.whiten == FIT else file_hash(Path(spec.whiten)), f"dim={spec.dim}"] if spec.whiten is not None else []),
        *(["normalised"] if spec.normalise else []),
    ]
    return combined_fingerprint("transformed", before, *steps)


def used_fingerprint(usage: Usage, *, precision: str) -> str:
    """Fingerprint of what is in a folder, used as USAGE says: weights, architecture, tokenizer, layers and settings."""
    parts = weight_parts(usage)
    changes = [*(["normalised"] if usage.is_normalised else []), *(["lower-cased"] if usage.is_lower_casing else []), *usage.details]
    for layer in usage.layers:
        changes += [layer.kind, *_hashes(layer.folder, ("config.json", "model.safetensors"))]
    if usage.word_weights is not None:
        changes += ["word weights", *_hashes(usage.word_weights, ("config.json",))]
    if usage.is_static:
        changes += ["as model2vec"] if is_model2vec(usage.source) else []
        return combined_fingerprint("static", *parts, *changes)
    if precision == "bf16":
        changes += ["weights in bf16"]  # they were float32 before, and gave slightly other vectors
    code = [own for part in usage.pooling.split(BETWEEN) if (own := identity("poolings", part))]  # of plug-ins
    return combined_fingerprint("transformer", *parts, usage.pooling, str(usage.max_tokens), precision, *changes, *code)


def weight_parts(usage: Usage) -> list[str]:
    """The hashes of the weights, the architecture, the tokenizer and the adapter of a model."""
    folder, weights = usage.source, weight_files(usage.source)
    if not weights:
        raise MissingError(
            f"{str(folder)!r} holds no safetensors weights", hint="embedlab loads no pickled weights; convert the checkpoint to safetensors"
        )
    adapter = _hashes(usage.adapter, (ADAPTER, ADAPTER_WEIGHTS)) if usage.adapter is not None else []
    return [*_named_hashes(weights), *_hashes(folder, ("config.json",)), *_hashes(usage.tokenizer_folder, TOKENIZER_FILES), *adapter]


def _hashes(folder: Path, names: Sequence[str]) -> list[str]:
    return _named_hashes([folder / name for name in names])


def _named_hashes(files: Sequence[Path]) -> list[str]:
    return [f"{file.name}={file_hash(file)}" for file in files if file.is_file()]


def combined_fingerprint(kind: str, *parts: str) -> str:
    """Return sixteen hex digits for a KIND of scorer made of PARTS, in order."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()[:16]
