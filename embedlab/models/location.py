"""Where the files of a resolved model are, length and backend of its vectors and its fingerprint,
known without loading it: torch-free programs find stored scores by it.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core import plugins
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import file_hash
from embedlab.models.catalog import FIT, ModelSpec, hub_spec
from embedlab.models.encoder_kind import (
    combined_fingerprint,
    encoder_kind,
    fingerprint_parts,
)

if TYPE_CHECKING:
    from embedlab.models.folder import Usage


def model_folder(spec: ModelSpec, *, offline: bool) -> Path:
    """Return the folder of a transformer; of a hub model its snapshot, even if a local folder has
    its name.

    The base model of an adapter is on this machine then too, downloaded if needed and allowed.
    """
    from embedlab.models.adapters import fetch_bases, typed_adapter
    from embedlab.models.hub import hub_folder

    folder = Path(spec.location)
    if spec.is_on_hub and not folder.is_absolute():  # an absolute one is pinned to a snapshot
        folder = hub_folder(spec.location, spec.revision, offline=offline)
    if spec.adapter is not None:
        typed_adapter(spec.adapter, offline=offline)
    elif not offline:
        fetch_bases(folder)
    return folder


def model_usage(spec: ModelSpec, *, offline: bool, is_loaded: bool = False) -> "Usage":
    """Return how the folder of SPEC is used, with the spec's note; files that differ from the
    checksums they were written with are a MissingError where the model IS to be LOADED.
    """
    from embedlab.models.folder import read_intact_usage, read_usage

    read = read_intact_usage if is_loaded else read_usage
    usage = read(model_folder(spec, offline=offline), spec)
    return usage if spec.note is None else replace(usage, notes=(*usage.notes, spec.note))


def pin_snapshots(spec: ModelSpec, *, offline: bool) -> ModelSpec:
    """Return SPEC with each hub model replaced by its current snapshot folder, downloaded if needed
    and allowed.

    The fingerprinted weights are then the loaded ones, even if the hub's main moves on meanwhile. A
    cross-encoder is one from then on.
    """
    if spec.parts:
        return replace(
            spec, parts=tuple(pin_snapshots(part, offline=offline) for part in spec.parts)
        )
    if spec.repository is not None and not Path(spec.location).is_dir():
        from embedlab.models.hub import hub_folder

        folder = hub_folder(spec.repository, spec.revision, offline=offline)
        return replace(spec, location=str(folder))
    if not spec.is_transformer:
        return spec
    folder = model_folder(spec, offline=offline)
    if not spec.is_on_hub:
        return spec
    model = hub_spec(spec, folder)
    return model if model.repository is not None else replace(spec, location=str(folder))


def vector_length(spec: ModelSpec) -> int | None:
    """Return the length of the vectors of SPEC; None if it has no vectors (words, predictions or an
    order only) or cannot be read.
    """
    if spec.kind in {"dice", "ensemble", "rerank"}:
        return None
    if spec.parts:
        lengths = [vector_length(part) for part in spec.parts]
        known_lengths = [length for length in lengths if length is not None]
        if spec.kind != "concat":
            return lengths[0]
        return sum(known_lengths) if len(known_lengths) == len(lengths) else None
    if spec.whiten is not None or spec.is_prefixed:
        length = None
        if spec.whiten is not None:
            length = vector_length(spec.untransformed)
        elif plugins.can_load(plugins.require("encoders", spec.kind)):
            length = encoder_kind(spec.kind).dim(spec.location)
        return length and min(length, spec.dim or length)
    try:
        return model_usage(spec, offline=True).vector_dim()
    except EmbedlabError:  # damaged, or gone since: whoever loads it says so
        return None


def backends(spec: ModelSpec) -> tuple[str, ...]:
    """Return the backends of SPEC: "torch" for transformers, "numpy" for word vectors, "python" for
    words.
    """
    return tuple(sorted({_backend(part) for part in spec.uncombined}))


def _backend(spec: ModelSpec) -> str:
    if spec.is_prefixed:
        return spec.shipped.backend
    return "python" if spec.counts_words else "torch"


def spec_fingerprint(spec: ModelSpec, *, precision: str) -> str:
    """Return the fingerprint of the loaded scorer of SPEC; a hub model must have been downloaded
    before.
    """
    if spec.parts:
        part_fingerprints = [spec_fingerprint(part, precision=precision) for part in spec.parts]
        if spec.depth is not None:
            part_fingerprints.append(str(spec.depth))
        return combined_fingerprint(spec.kind, *part_fingerprints)
    if spec.kind == "dice":
        return combined_fingerprint("dice")
    if spec.is_transformed:
        inner_fingerprint = spec_fingerprint(spec.untransformed, precision=precision)
        return transformed_fingerprint(spec, inner_fingerprint)
    if spec.is_prefixed:
        typed_options = [
            f"{key}={value}"
            for key in ("prompt", "dim", "role", "label", "activation")
            if (value := getattr(spec, key)) is not None
        ]
        typed_options += [f"precision={precision}"] if spec.shipped.scorer is not None else []
        if spec.kind == "sentence-transformers":
            typed_options.append(f"similarity={spec.shipped.similarity(spec.location)}")
        return combined_fingerprint(
            spec.kind, *fingerprint_parts(spec.kind, spec.location), *typed_options
        )
    from embedlab.models.folder_identity import used_fingerprint

    return used_fingerprint(model_usage(spec, offline=True), precision=precision)


def transformed_fingerprint(spec: ModelSpec, inner_fingerprint: str) -> str:
    """Fingerprint of vectors that are whitened, cut, normalised and stored in bits as SPEC says;
    INNER_FINGERPRINT is the fingerprint of the untransformed vectors.
    """
    steps = []
    if spec.whiten is not None:
        fitted_on = "fit" if spec.whiten == FIT else file_hash(Path(spec.whiten))
        steps += [fitted_on, f"dim={spec.dim}"]
    steps += ["normalised"] if spec.normalise else []
    steps += [f"bits={spec.bits}"] if spec.bits is not None else []
    return combined_fingerprint("transformed", inner_fingerprint, *steps)
