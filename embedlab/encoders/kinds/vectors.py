"""Vectors of sentences that another program computed: `vectors:FILE`, matched by the text of the
sentences.

The file is parquet with the columns sentence and vector, or a NAME.npy of shape (sentences, dim)
beside a NAME.txt of one sentence a line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.array_files import read_npy
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.data.text_file import read_text
from embedlab.encoders.encoder import RefusedTextsError, Vectors
from embedlab.models.encoder_kind import EncoderKind, existing_file

_FORMAT = (
    "vectors:FILE takes parquet with the columns sentence and vector, or NAME.npy with "
    "NAME.txt beside it"
)


class FileVectors:
    """The vectors of a file."""

    def __init__(self, path: Path, sentences: Sequence[str], vectors: Vectors) -> None:
        self._path = path
        self._rows = {sentence: row for row, sentence in enumerate(sentences)}
        self._vectors = vectors

    @property
    def sentences(self) -> list[str]:
        """The sentences that have a vector."""
        return list(self._rows)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._vectors.shape[1])

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vector of each sentence; those that the file lacks are refused, all of them by a
        MissingError.
        """
        places = [place for place, text in enumerate(sentences) if text not in self._rows]
        if places and len(places) == len(sentences):
            raise MissingError(
                f"{self._path} has no vector of {sentences[0]!r}, nor of any other sentence",
                hint="add them, or choose other data with --task",
            )
        vectors = self._vectors[[self._rows[text] for text in sentences if text in self._rows]]
        if places:
            lacking = [(sentences[place], "it is not in the file") for place in places]
            raise RefusedTextsError(str(self._path), lacking, places, vectors)
        return vectors


def open_vectors(location: str) -> FileVectors:
    """The vectors in a file; rows of different lengths, numbers that are not finite or a missing
    text file are a MissingError.
    """
    path = Path(location)
    sentences, vectors = _read_npy(path) if path.suffix == ".npy" else _read_parquet(path)
    if vectors.ndim != 2 or len(vectors) != len(sentences) or vectors.shape[1] == 0:
        raise MissingError(
            f"{path}: {len(sentences)} sentences, but an array of shape {vectors.shape}",
            hint=_FORMAT,
        )
    if not np.isfinite(vectors).all():
        raise MissingError(
            f"{path}: numbers that are not finite", hint="compute these vectors again"
        )
    _refuse_two_vectors(path, sentences, vectors)
    return FileVectors(path, sentences, vectors)


def _refuse_two_vectors(path: Path, sentences: Sequence[str], vectors: Vectors) -> None:
    """Refuse a sentence that occurs again with another vector."""
    first: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        if (before := first.setdefault(sentence, row)) != row and not (
            vectors[before] == vectors[row]
        ).all():
            raise MissingError(
                f"{path}: {sentence!r} has two different vectors, rows {before + 1} and {row + 1}",
                hint="leave one of them",
            )


def _read_npy(path: Path) -> tuple[list[str], Vectors]:
    text = _sentences_of(path)
    if not text.is_file():
        raise MissingError(
            f"no file {str(text)!r} with the sentences of {path.name!r}", hint=_FORMAT
        )
    try:
        vectors = read_npy(path)
        sentences = read_text(text).replace("\r\n", "\n").removesuffix("\n").split("\n")
        return sentences, _as_float32(vectors, path)
    except (OSError, ValueError) as error:
        raise MissingError(f"{path}: {' '.join(str(error).split())[:200]}", hint=_FORMAT) from error


def _read_parquet(path: Path) -> tuple[list[str], Vectors]:
    try:
        table = read_foreign_parquet(path)
        sentences: Any = table["sentence"].cast(pl.String).to_list()
        inner: Any = getattr(table["vector"].dtype, "inner", None)
        is_whole = inner is not None and inner.is_integer()
        kind = f"{'i' if inner.is_signed_integer() else 'u'}8" if is_whole else np.float64
        return sentences, _as_float32(np.array(table["vector"].to_list(), kind), path)
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise MissingError(f"{path}: {' '.join(str(error).split())[:200]}", hint=_FORMAT) from error


def _as_float32(numbers: NDArray[Any], path: Path) -> Vectors:
    if np.iscomplexobj(numbers):
        raise ValueError("complex numbers")
    is_byte = (
        numbers.dtype.kind in "ui"
        and numbers.size
        and numbers.min() >= -128
        and numbers.max() < 256
    )
    if is_byte and (numbers.itemsize == 1 or np.abs(numbers).max() > 1):
        raise UsageError(
            f"{path} holds {numbers.dtype}: packed bits, or numbers of 8 bits?",
            hint="of bits in uint8 store np.unpackbits(v, axis=1).astype(np.float32), in int8 the "
            "same of v.view(np.uint8) ^ 128; of numbers v.astype(np.float32)",
        )
    with np.errstate(over="ignore"):  # numbers that are too large are refused as not finite
        return np.asarray(numbers, np.float32)


def _locate(rest: str) -> str:
    return existing_file(rest, missing="no file of vectors", hint=_FORMAT)


def _further(location: str) -> list[Path]:
    """Return the file that says which vector is of which sentence."""
    path = Path(location)
    return [_sentences_of(path)] if path.suffix == ".npy" else []


def _sentences_of(array: Path) -> Path:
    return array.with_suffix(".txt")


ENCODER = EncoderKind(
    open=open_vectors, locate=_locate, backend="file", is_cached=False, further=_further
)
