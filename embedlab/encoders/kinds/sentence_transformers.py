"""Folders whose modules embedlab does not compute itself, through sentence-transformers: `sentence-transformers:FOLDER`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embedlab.core.errors import MissingError
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import EncoderKind


class SentenceTransformersEncoder:
    """The vectors of sentence-transformers' own `encode`, in float32 on the CPU."""

    facts = EncoderFacts(pooling="sentence-transformers")

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order."""
        return np.asarray(self._model.encode(list(sentences), show_progress_bar=False), np.float32)


def open_folder(location: str) -> SentenceTransformersEncoder:
    """The model in a folder; without the package, or where it refuses the folder, a MissingError. Code of the folder is not run."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingError("sentence-transformers is not installed", hint="pip install 'embedlab[st]'") from error
    from embedlab.encoders.hf_logging import silence_transformers

    try:
        with silence_transformers():
            return SentenceTransformersEncoder(SentenceTransformer(location, device="cpu", local_files_only=True, trust_remote_code=False))
    except Exception as error:  # whatever it raises over files that are not its own
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise MissingError(
            f"sentence-transformers cannot load {location!r}: {reason}", hint="is it a whole folder that it wrote?"
        ) from error


def _locate(rest: str) -> str:
    folder = Path(rest).expanduser()
    if not folder.is_dir():
        raise MissingError(f"no model folder {str(folder)!r}", hint="sentence-transformers:FOLDER takes a folder that it wrote")
    return str(folder)


ENCODER = EncoderKind(open=open_folder, locate=_locate, backend="sentence-transformers")
