"""Vector lengths and backends of models, known without loading them."""

from embedlab.core.errors import EmbedlabError
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import prefixed_length
from embedlab.models.folder import read_usage, vector_dim
from embedlab.models.location import model_folder


def vector_length(spec: ModelSpec) -> int | None:
    """Return the length of the vectors of SPEC; None if it has none (words, predictions or an order
    alone) or cannot be read.
    """
    match spec.kind:
        case "dice" | "ensemble" | "rerank":
            return None
        case "concat":
            lengths = [vector_length(part) for part in spec.parts]
            return (
                None if None in lengths else sum(length for length in lengths if length is not None)
            )
        case "average" | "normalized-average":
            return vector_length(spec.parts[0])
    if spec.whiten is not None:
        length = vector_length(spec.untransformed)
        return min(length, spec.dim or length) if length is not None else None
    if spec.is_prefixed:
        length = prefixed_length(spec.kind, spec.location)
        return min(length, spec.dim) if length is not None and spec.dim is not None else length
    try:
        return vector_dim(read_usage(model_folder(spec, offline=True), spec.wishes))
    except EmbedlabError:  # damaged, or gone since: whoever loads it says so
        return None


def backends(spec: ModelSpec) -> tuple[str, ...]:
    """Return the backends of SPEC: "torch" for transformers, "numpy" for word vectors, "python" for
    words.
    """
    if spec.parts:
        return tuple(sorted({name for part in spec.parts for name in backends(part)}))
    if spec.is_prefixed:
        return (spec.shipped.backend,)
    return ("python" if spec.counts_words else "torch",)
