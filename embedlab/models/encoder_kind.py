"""Encoders that a model name calls by a prefix, `PREFIX:rest`: the contract of their kinds, and how
one is found by its prefix.

Each file of encoders/kinds is one and has an `ENCODER`; a plug-in is the same, or only a function
or class that takes the text after the prefix and returns an object with `encode(sentences)`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core import plugins
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.nearest import nearest_hint
from embedlab.core.paths import file_hash, files_below, typed_path
from embedlab.core.printable import first_few

if TYPE_CHECKING:
    from embedlab.data.dataset import Part
    from embedlab.data.mteb_files import StatedFigures
    from embedlab.data.queries import Run

# that any encoder called by a prefix can be given
OPTIONS = (
    "prompt",
    "dim",
    "whiten",
    "normalise",
    "bits",
)


class SentenceEncoder(Protocol):
    """What a kind opens; one without vectors has `score(first, second)` instead, with nan for pairs
    that it cannot score.
    """

    def encode(self, sentences: Sequence[str]) -> Any:
        """One vector a sentence, in order: an array of shape (sentences, dim)."""


RowScores = tuple[NDArray[np.float32], str]
"""Similarities of the rows of a dataset, in their order, (rows,), and a note on them."""


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class EncoderKind:
    """A kind of encoders, each called by the text after the prefix."""

    open: Callable[..., Any]  # of SentenceEncoder
    # what is typed → what identifies the encoder; refuses what names none
    locate: Callable[[str], str] = str
    # the length of its vectors, where it is known without loading it
    dim: Callable[[str], int | None] = _nothing
    backend: str = "plugin"  # what computes the vectors
    # sentences that are computed together before they are cached; None: many
    per_save: int | None = None
    is_remote: bool = False  # whether it needs the network
    # of what a remote one is now, where another one may be at its address than before
    identity: Callable[[str], str | None] = _nothing
    has_vectors: bool = True  # otherwise it only scores pairs
    options: tuple[str, ...] = OPTIONS  # what can be typed behind its names
    # those of them that `open` takes as keywords; the others are applied to what it gives
    opened_with: tuple[str, ...] = ()
    # how tables name what makes its vectors, where that is known without opening it
    pooling: str | None = None
    # how two of its vectors are compared, where `pooling` is known
    similarity: Callable[[str], Similarity] = lambda _: "cosine"
    # whether its vectors are stored; not where computing them is as fast, or gives facts of its own
    is_cached: bool = True
    # of a kind that knows the rows of datasets, but no texts
    score_rows: Callable[[str, Part], RowScores | None] | None = None
    # of files that only state figures of whole datasets
    figures: Callable[[str], Sequence[StatedFigures]] = lambda _: ()
    # of files of predicted classes: dataset, item, prediction, place
    items: Callable[[str], pl.DataFrame] | None = None
    # of files of the documents that a program found for queries
    found: Callable[[str], Run | None] = _nothing
    # of a shipped kind that only searches: an index of documents
    index: Callable[[str, Sequence[str]], Any] | None = None
    # whether others can have the same encoder: not a file or a folder of the user's own
    is_published: bool = False
    # of a shipped kind that computes pairs: of the model, its fingerprint and the machine
    scorer: Callable[..., Any] | None = None
    # where its results are kept; absent: in the cache
    results: Callable[[], Path | None] = _nothing
    # of a shipped kind: what decides beside what is named
    further: Callable[[str], Iterable[Path]] = lambda _: ()


ADDED = EncoderKind(open=_nothing)


def prefix_of(name: str) -> str | None:
    """Return the prefix of an encoder kind that NAME begins with; None where it begins with
    none.
    """
    prefix, colon, _ = name.partition(":")
    return prefix if colon and plugins.find("encoders", prefix) is not None else None


def names_file(prefix: str, location: str) -> bool:
    """Whether LOCATION, after the PREFIX of an encoder kind, is the path of a file."""
    return "/" in location or (
        plugins.find("encoders", prefix) is not None and shipped_kind(prefix).backend != "plugin"
    )


def encoder_kind(prefix: str) -> EncoderKind:
    """Return the kind called PREFIX."""
    plugin = plugins.require("encoders", prefix)
    loaded = plugin.load()
    if not isinstance(loaded, EncoderKind) and callable(loaded):
        return EncoderKind(open=loaded)
    return plugin.check_instance(loaded, EncoderKind)


def shipped_kind(prefix: str) -> EncoderKind:
    """Return the kind called PREFIX if embedlab ships it; otherwise, without loading anything, the
    kind that stands for all plug-ins.
    """
    plugin = plugins.find("encoders", prefix)
    return encoder_kind(prefix) if plugin is not None and plugin.is_shipped else ADDED


def locate(prefix: str, location: str) -> str:
    """Return the identity of the encoder PREFIX:LOCATION; for a plug-in that this process does not
    load, what was typed.
    """
    plugin = plugins.require("encoders", prefix)
    if plugin.fault is not None:
        raise plugin.fault
    return encoder_kind(prefix).locate(location) if plugins.can_load(plugin) else location


def fingerprint_parts(prefix: str, location: str) -> Iterator[str]:
    """What decides the vectors of an encoder: the code of its plug-in, and the content of the file
    or folder that it names.
    """
    if code := plugins.identity("encoders", prefix):
        yield code
    path, part = file_and_part(location)
    # these take any text, Path refuses some
    if os.path.isfile(path) or (location and os.path.isdir(path)):  # noqa: PTH112, PTH113
        if path.is_dir():
            from embedlab.models.folder_files import refuse_devices

            refuse_devices(path)
        yield from _content(path)
        if part and path.is_file():
            yield part
        for further in shipped_kind(prefix).further(location):
            yield from (f"{further.name} {part}" for part in _content(further))
    else:
        yield location
    if identity := shipped_kind(prefix).identity(location):
        yield f"identity={identity}"


def combined_fingerprint(kind: str, *parts: str) -> str:
    """Return sixteen hex digits for a KIND of scorer made of PARTS, in order."""
    return hashlib.sha256("\0".join([kind, *parts]).encode()).hexdigest()[:16]


def _content(path: Path) -> Iterator[str]:
    """Yield the hash of a file, or the path and the hash of every file in a folder."""
    if path.is_file():
        yield file_hash(path)
    elif path.is_dir():
        yield from (
            f"{file.relative_to(path)}={file_hash(file)}" for file in sorted(files_below(path))
        )


def file_and_part(location: str) -> tuple[Path, str | None]:
    """Return the path that LOCATION names, and the column or other part behind a "#"; a "#" that
    belongs to the path stays there.
    """
    expanded = os.path.expanduser(location)  # noqa: PTH111 - this takes any text, Path refuses some
    path, _, part = expanded.rpartition("#")
    return (Path(expanded), None) if not path or os.path.exists(expanded) else (Path(path), part)  # noqa: PTH110


def file_column(path: Path, name: str, columns: Sequence[str]) -> str:
    """Return NAME, which must be one of the COLUMNS of a file; otherwise the error offers the
    nearest.
    """
    if name not in columns:
        hint = nearest_hint(name, columns, f"columns: {first_few(columns)}")
        raise UsageError(f"{path}: no column {name!r}", hint=hint)
    return name


def existing_column(location: str, *, missing: str, hint: str) -> str:
    """Return the file that LOCATION names, and the column behind its "#"."""
    path, column = file_and_part(location)
    file = existing_file(str(path), missing=missing, hint=hint)
    return file if column is None else f"{file}#{column}"


def existing_file(location: str, *, missing: str, hint: str) -> str:
    """Return the path of the file that LOCATION names; without such a file, raise an error with
    MISSING and HINT.
    """
    file = typed_path(location)
    if not file.is_dir():
        refuse_foreign(file)
    if not file.is_file():
        raise MissingError(f"{missing} {str(file)!r}", hint=hint)
    return str(file)
