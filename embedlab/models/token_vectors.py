"""The static token vectors of a folder or a file, by the header of their safetensors file."""

from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError
from embedlab.models.folder_files import RESTORE_HINT, read_header, weight_files


def static_width(folder: Path) -> int:
    """The length of static token vectors, by the header of their safetensors file."""
    return table_width(_static_file(folder))


def table_width(path: Path) -> int:
    """The length of the token vectors in a safetensors file, by its header."""
    header = _header(path)
    try:
        table = header.get("embedding.weight") or header["embeddings"]
        return int(table["shape"][1])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise MissingError(f"{str(path)!r} holds no token vectors", hint=RESTORE_HINT) from error


def is_model2vec(folder: Path) -> bool:
    """Whether the token vectors in FOLDER are stored as model2vec stores them."""
    return "embeddings" in _header(_static_file(folder))


def _static_file(folder: Path) -> Path:
    return next(iter(weight_files(folder)), folder / "model.safetensors")


def _header(path: Path) -> dict[str, Any]:
    try:
        return read_header(path)[1]
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}", hint=RESTORE_HINT
        ) from error
    except ValueError as error:
        raise MissingError(f"{str(path)!r} holds no token vectors", hint=RESTORE_HINT) from error
