"""The length of a model's vectors and what computes them, known without loading it."""

from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.models.catalog import ModelSpec
from embedlab.models.folder import hidden_size
from embedlab.models.hub import model_folder


def vector_length(spec: ModelSpec) -> int | None:
    """The length of the vectors of SPEC; None for what has none (word overlap, an ensemble of predictions) or cannot be read."""
    match spec.kind:
        case "dice" | "ensemble":
            return None
        case "word-vectors":
            return _numbers_in(Path(spec.location))
        case "concat":
            lengths = [vector_length(part) for part in spec.parts]
            return None if None in lengths else sum(length for length in lengths if length is not None)
        case "average" | "normalized-average":
            return vector_length(spec.parts[0])
    try:
        return hidden_size(model_folder(spec, offline=True))
    except MissingError:  # damaged, or gone since: whoever loads it says so
        return None


def backends(spec: ModelSpec) -> tuple[str, ...]:
    """What computes the vectors, or the similarity, of SPEC: "torch" for transformers, "numpy" for word vectors, "python" for words."""
    if spec.parts:
        return tuple(sorted({name for part in spec.parts for name in backends(part)}))
    return ({"dice": "python", "word-vectors": "numpy"}.get(spec.kind, "torch"),)


def _numbers_in(path: Path) -> int | None:
    """The length of the vectors in a text file: its first line is two counts, the second of them this, or a word with its numbers."""
    try:
        with path.open("rb") as file:
            first = file.readline().split()
    except OSError:
        return None
    if len(first) == 2 and all(field.isdigit() for field in first):
        return int(first[1])
    return max(len(first) - 1, 0) or None
