"""Tensors in one safetensors file with its checksum in the metadata."""

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from embedlab.core.disk import KEY, UNSEALED, read_sealed, write_sealed
from embedlab.core.errors import MissingError
from embedlab.runs.store import RunFolder

# next to model/: the heads of every stage's objective, "<stage>.<parameter>"
HEADS_FILE = "heads.safetensors"


def write_sealed_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Replace the file at PATH in one step."""
    content = save(
        {name: tensor.detach().contiguous() for name, tensor in tensors.items()},
        metadata={KEY: UNSEALED},
    )
    write_sealed(path, content)


def read_heads(run: RunFolder) -> dict[str, Tensor]:
    """Read the trained heads of a run's objectives; a damaged or absent file is a MissingError."""
    path, hint = run.path / HEADS_FILE, heads_hint(run)
    try:
        return load(read_sealed(path, hint=hint))
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {str(error).splitlines()[0]}", hint=hint
        ) from error


def heads_hint(run: RunFolder) -> str:
    """Return the hint for unusable heads of RUN."""
    return f"restore the file, or train {run.name!r} again under another name"
