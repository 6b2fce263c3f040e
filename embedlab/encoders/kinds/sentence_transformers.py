"""Folders whose modules embedlab does not compute itself, through sentence-transformers: `sentence-transformers:FOLDER`.

`FOLDER?backend=onnx` and `FOLDER?backend=openvino` are the same with its weights for that program.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from embedlab.core.errors import MissingError
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import OPTIONS, EncoderKind
from embedlab.models.prompts import read_prompts, typed_prompt

Backend = Literal["onnx", "openvino"]
# optimum-onnx 0.1 needs transformers 4, and embedlab needs 5: no extra can install both.
_BROUGHT = "where optimum does not support this transformers, encode in an environment of its own and bring the result: vectors:FILE"
OWN_OPTIONS = ("prompt", "role", "backend")


class SentenceTransformersEncoder:
    """The vectors of sentence-transformers' own `encode`, in float32 on the CPU."""

    facts = EncoderFacts(pooling="sentence-transformers")

    def __init__(self, encode: Any) -> None:
        self._encode = encode

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order."""
        return np.asarray(self._encode(list(sentences), show_progress_bar=False), np.float32)


def open_folder(
    location: str, *, prompt: str | None = None, role: str | None = None, backend: Backend | None = None
) -> SentenceTransformersEncoder:
    """The model in a folder; without the package, or where it refuses the folder, a MissingError. Code of the folder is not run."""
    read_prompts(Path(location))  # refuses a model of another class: the package would open it as the mean of its tokens
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingError("sentence-transformers is not installed", hint="pip install 'embedlab[st]'") from error
    from embedlab.encoders.hf_logging import silence_transformers

    if backend is not None and find_spec("optimum") is None:
        raise MissingError(f"?backend={backend} needs the package optimum for it, beside sentence-transformers", hint=_BROUGHT)
    try:
        with silence_transformers():
            model = SentenceTransformer(location, device="cpu", local_files_only=True, trust_remote_code=False, backend=backend or "torch")
    except Exception as error:  # whatever it raises over files that are not its own
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise MissingError(
            f"sentence-transformers cannot load {location!r}: {reason}",
            hint=_BROUGHT if backend is not None else "is it a whole folder that it wrote?",
        ) from error
    options = {"prompt": None if prompt is None else typed_prompt(prompt, Path(location)), "task": role}
    return SentenceTransformersEncoder(partial(model.encode, **{name: value for name, value in options.items() if value is not None}))


def _locate(rest: str) -> str:
    folder = Path(rest).expanduser()
    if not folder.is_dir():
        raise MissingError(f"no model folder {str(folder)!r}", hint="sentence-transformers:FOLDER takes a folder that it wrote")
    return str(folder)


ENCODER = EncoderKind(
    open=open_folder,
    locate=_locate,
    backend="sentence-transformers",
    options=(*OPTIONS, *OWN_OPTIONS),
    opened_with=OWN_OPTIONS,
    pooling="sentence-transformers",
)
