"""The hex digits that name what an encoder computes; known without loading it, so that light programs find stored scores."""

import hashlib
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash
from embedlab.core.plugins import identity
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import fingerprint_parts
from embedlab.models.folder import Usage, is_lower_casing, read_usage, weight_files
from embedlab.models.hub import model_folder

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",  # of some classes it decides on lower case and accents, whatever tokenizer.json says
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
)


def spec_fingerprint(spec: ModelSpec, *, precision: str) -> str:
    """The fingerprint that the loaded scorer of SPEC would have; a hub model must have been downloaded before."""
    if spec.parts:
        return combined_fingerprint(spec.kind, *(spec_fingerprint(part, precision=precision) for part in spec.parts))
    if spec.kind == "dice":
        return combined_fingerprint("dice")
    if spec.is_prefixed:
        return combined_fingerprint(spec.kind, *fingerprint_parts(spec.kind, spec.location))
    folder = model_folder(spec, offline=True)
    usage = read_usage(folder, pooling=spec.pooling)
    return used_fingerprint(folder, usage, precision=precision)


def used_fingerprint(folder: Path, usage: Usage, *, precision: str) -> str:
    """Fingerprint of the transformer in FOLDER, used as USAGE says."""
    return folder_fingerprint(
        folder, pooling=usage.pooling, max_tokens=usage.max_tokens, precision=precision, is_normalised=usage.is_normalised
    )


def folder_fingerprint(folder: Path, *, pooling: str, max_tokens: int, precision: str, is_normalised: bool = False) -> str:
    """Fingerprint of the transformer in FOLDER, used in this way: weights, architecture, tokenizer and the four settings."""
    weights = weight_files(folder)
    if not weights:
        raise MissingError(
            f"{str(folder)!r} holds no safetensors weights", hint="embedlab loads no pickled weights; convert the checkpoint to safetensors"
        )
    files = [*weights, folder / "config.json", *(folder / name for name in TOKENIZER_FILES)]
    parts = [f"{file.name}={file_hash(file)}" for file in files if file.is_file()]
    changes = [*(["normalised"] if is_normalised else []), *(["lower-cased"] if is_lower_casing(folder) else [])]
    code = [own] if (own := identity("poolings", pooling)) else []  # of a plug-in
    return combined_fingerprint("transformer", *parts, pooling, str(max_tokens), precision, *changes, *code)


def combined_fingerprint(kind: str, *parts: str) -> str:
    """Sixteen hex digits of a KIND of scorer made of PARTS, in their order."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()[:16]
