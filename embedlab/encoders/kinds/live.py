"""Objects of the running program that encode sentences, under names that a call gives them:
`live:NAME`. Nothing identifies what such an object computes, and it may change, by training for
example, so its results are stored for one call only.
"""

import atexit
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.data.queries import PAIR
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import EncoderKind

PREFIX = "live:"
NOTE = "an object of this program: its results are kept for this call alone"
_MODELS: dict[str, "LiveEncoder"] = {}  # of the call at work
_NAMED: dict[str, Callable[[], Any]] = {}  # what each name of the session means, while it lives


class LiveEncoder:
    """An object with `encode`, or a function from texts to vectors."""

    facts = EncoderFacts(notes=(NOTE,))

    def __init__(self, model: Any, encode: Callable[[list[str]], Any]) -> None:
        self.model, self._encode = model, encode
        self.similarity_fn_name = getattr(model, "similarity_fn_name", None)
        self.identity = uuid4().hex

    def in_role(self, role: str | None) -> "LiveEncoder":
        """Return what encodes texts in one of its roles."""
        if role is None:
            return self
        return LiveEncoder(self.model, getattr(self.model, f"encode_{role}"))

    def encode(self, sentences: list[str]) -> Vectors:
        """One vector a sentence, as the object gives them."""
        vectors: Vectors = self._encode(list(sentences))
        return vectors


def live_name(model: Any, name: str) -> str:
    """Return how the object MODEL is named from now on, by NAME or after its class; what cannot
    encode is a UsageError. Nothing that it computed before counts as its own.
    """
    encode = getattr(model, "encode", None) or (model if callable(model) else None)
    if encode is None:
        raise UsageError(
            f"{type(model).__name__} is not a model",
            hint="give a name, an object with encode(sentences), or a function from texts to "
            "vectors",
        )
    base = unique_name = name or getattr(model, "__name__", type(model).__name__).strip("<>")
    number = 1
    while not name and unique_name in _NAMED and _NAMED[unique_name]() is not model:
        number += 1
        unique_name = f"{base}-{number}"
    _MODELS[unique_name] = LiveEncoder(model, encode)
    try:
        _NAMED[unique_name] = weakref.ref(model)
    except TypeError:  # an object that cannot be referred to weakly
        _NAMED[unique_name] = lambda: model
    return f"{PREFIX}{unique_name}"


@contextmanager
def live_models() -> Iterator[None]:
    """Let go of the models that the block names when it ends, and of their results: they may fill
    the memory and the disk.
    """
    before = dict(_MODELS)
    try:
        yield
    finally:
        if before != _MODELS:
            shutil.rmtree(_results(), ignore_errors=True)
        _MODELS.clear()
        _MODELS.update(before)


def roles_of(location: str) -> frozenset[str]:
    """Return the roles of texts that a live object has methods for, which sentence-transformers
    calls `encode_query` and `encode_document`.
    """
    model = _MODELS[location.partition("#")[0]].model
    return frozenset(role for role in PAIR if hasattr(model, f"encode_{role}"))


@cache
def session_folder() -> Path:
    """Return the folder of the session's files; it is deleted when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="embedlab-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _results() -> Path:
    return session_folder() / "results"


def _locate(name: str) -> str:
    if name not in _MODELS:
        raise unknown_name_error("live model", name, _MODELS)
    return f"{name}#{_MODELS[name].identity}"


ENCODER = EncoderKind(
    open=lambda location, role=None: _MODELS[location.partition("#")[0]].in_role(role),
    opened_with=("role",),
    locate=_locate,
    is_cached=False,
    results=_results,
)
