"""Folders that score pairs of texts which they read together: `cross-encoder:FOLDER`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import typed_path
from embedlab.models.cross_encoder import listed_source
from embedlab.models.encoder_kind import EncoderKind
from embedlab.models.folder_files import named_files

if TYPE_CHECKING:
    from embedlab.encoders.cross_encoder import CrossEncoderScorer
    from embedlab.encoders.device import Machine
    from embedlab.models.catalog import ModelSpec

OPTIONS = ("label", "activation", "prompt")


def _load(spec: "ModelSpec", fingerprint: str, machine: "Machine") -> "CrossEncoderScorer":
    """Load the cross-encoder of SPEC."""
    from embedlab.encoders.cross_encoder import load_cross_encoder  # torch

    return load_cross_encoder(spec, fingerprint, machine)


def _locate(rest: str) -> str:
    folder = typed_path(rest)
    if not folder.is_dir():
        raise MissingError(
            f"no model folder {str(folder)!r}",
            hint="cross-encoder:FOLDER takes a folder, cross-encoder:OWNER/NAME a model of the hub",
        )
    return str(folder)


def _further(location: str) -> Iterator[Path]:
    """Refuse a path in the folder's files that leaves it; nothing outside the folder decides its
    scores.
    """
    folder = Path(location)
    for path in {folder, listed_source(folder)}:
        named_files(path)
    yield from ()


def _no_vectors(location: str, **_: Any) -> NoReturn:
    raise UsageError(
        f"{location!r} has no vectors: it only scores pairs",
        hint="use it with compare, pairs and evaluate",
    )


ENCODER = EncoderKind(
    open=_no_vectors,
    locate=_locate,
    backend="torch",
    options=OPTIONS,
    has_vectors=False,
    is_cached=False,
    further=_further,
    scorer=_load,
)
