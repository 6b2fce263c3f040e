"""Fingerprints of encoders, known without loading them, so that torch-free programs find stored
scores.
"""

from pathlib import Path

from embedlab.core.paths import file_hash
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint, fingerprint_parts
from embedlab.models.location import model_folder


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
        typed = [
            f"{key}={value}"
            for key in ("prompt", "dim", "role", "label", "activation")
            if (value := getattr(spec, key)) is not None
        ]
        typed += [f"precision={precision}"] if spec.shipped.scorer is not None else []
        return combined_fingerprint(spec.kind, *fingerprint_parts(spec.kind, spec.location), *typed)
    from embedlab.models.folder import read_usage
    from embedlab.models.folder_identity import used_fingerprint

    usage = read_usage(model_folder(spec, offline=True), spec.wishes)
    return used_fingerprint(usage, precision=precision)


def transformed_fingerprint(spec: ModelSpec, before: str) -> str:
    """Fingerprint of vectors that are whitened, cut, normalised and stored in bits as SPEC says;
    BEFORE is that of the vectors before.
    """
    steps = []
    if spec.whiten is not None:
        how = "fit" if spec.whiten == FIT else file_hash(Path(spec.whiten))
        steps += [how, f"dim={spec.dim}"]
    steps += ["normalised"] if spec.normalise else []
    steps += [f"bits={spec.bits}"] if spec.bits is not None else []
    return combined_fingerprint("transformed", before, *steps)
