"""An encoder whose finished vectors are whitened, cut, brought to length 1, and stored in fewer
bits.

Whitened vectors have mean 0, variance 1 and no correlations, by the mean and covariance of some
vectors: Su et al. 2021, "Whitening Sentence Representations for Better Semantics and Faster
Retrieval". The components are principal axes in order of their variance (the covariance divides by
n − 1), each with its largest weight positive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.array_files import read_npy
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.core.progress import ProgressCallback
from embedlab.data.table_file import sentences as sentences_in
from embedlab.encoders.encoder import Encoder, EncoderFacts, Text, Vectors, VectorScorer
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.fingerprint import transformed_fingerprint

# An axis with a smaller share of the largest variance is rounding of float32 numbers, and has no
# direction.
LEAST_VARIANCE = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """A mean to subtract and a matrix to multiply by."""

    mean: NDArray[np.float64]  # (width,)
    matrix: NDArray[np.float64]  # (width, dim)
    fitted_on: int  # vectors

    def apply(self, vectors: Vectors) -> Vectors:
        """Return whitened vectors; (n, width) in, (n, dim) out."""
        whitened: Vectors = ((vectors - self.mean) @ self.matrix).astype(np.float32)
        return whitened


def fit_whitening(vectors: Vectors, dim: int | None = None) -> Whitening:
    """Return the whitening of VECTORS, (n, width), to their first DIM components.

    Components without variance are zero. With no more vectors than components all pairs would be
    equally far apart: a UsageError.
    """
    count, width = vectors.shape
    size = dim or width
    if size > width:
        raise UsageError(
            f"vectors have {width} numbers, fewer than {size}", hint=f"give @dim={width} or less"
        )
    if count <= size:
        raise UsageError(
            f"{count} different sentences are too few to whiten vectors of {size} numbers",
            hint=f"give @whiten=FILE with more sentences, or fewer numbers: "
            f"@dim={max(1, count // 10)}",
        )
    exact = vectors.astype(np.float64)
    mean = exact.mean(axis=0)
    centred = exact - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / (count - 1))
    variances, axes = variances[::-1][:size], axes[:, ::-1][:, :size]
    has_variance = variances > LEAST_VARIANCE * max(float(variances[0]), np.finfo(np.float64).tiny)
    scales = np.divide(1, np.sqrt(variances.clip(min=0)), out=np.zeros(size), where=has_variance)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(size)])
    return Whitening(mean=mean, matrix=axes * (signs * scales), fitted_on=count)


def read_vectors(path: Path) -> Vectors | None:
    """Return the vectors of a .npy or .parquet file, (n, width) float32; None for another file,
    which has sentences.
    """
    if path.suffix not in {".npy", ".parquet"}:
        return None
    try:
        content = (
            read_npy(path)
            if path.suffix == ".npy"
            else np.array(read_foreign_parquet(path)["vector"].to_list())
        )
        vectors: Vectors = np.asarray(content, np.float32)
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise MissingError(
            f"{path}: {' '.join(str(error).split())[:200]}",
            hint="`embedlab encode` writes files of vectors",
        ) from error
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise MissingError(
            f"{path}: an array of shape {vectors.shape}, or with numbers that are not finite",
            hint="give (n, width) numbers",
        )
    return vectors


class TransformedEncoder(VectorScorer):
    """The vectors of INNER after what SPEC says: whitening, the first `dim` components of that,
    length 1, fewer bits.

    Whitening "fit" is fitted on the different sentences of each call of `encode` or `score`, so
    that these belong together.
    """

    def __init__(
        self, *, spec: ModelSpec, inner: Encoder, similarity: Similarity = "cosine"
    ) -> None:
        self.name = spec.name
        self.fingerprint = transformed_fingerprint(spec, inner.fingerprint)
        self._spec = spec
        self._inner = inner
        self.similarity = (
            "cosine" if spec.bits == 1 else similarity
        )  # of signs: the Hamming distance, reversed

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return min(self._inner.dim, self._cut or self._inner.dim)

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's facts, and what is done to its vectors."""
        whiten = self._spec.whiten
        named = "the scored sentences" if whiten == FIT else Path(whiten or "").name
        steps = [
            *([f"whitened by {named}"] if whiten is not None else []),
            *([f"dim={self._cut}"] if self._cut is not None else []),
            *(["normalised"] if self._spec.normalise else []),
            *([f"bits={self._spec.bits}"] if self._spec.bits is not None else []),
        ]
        facts = self._inner.facts
        fitted = self.__dict__.get("_by_file")  # absent while nothing was whitened
        notes = (
            (f"whitened by the {fitted.fitted_on} vectors of {named}",)
            if isinstance(fitted, Whitening)
            else ()
        )
        return replace(
            facts,
            pooling=", ".join([facts.pooling or "vectors", *steps]),
            notes=(*facts.notes, *notes),
        )

    def embed(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """A vector for each of these distinct sentences; none is known to be cut."""
        vectors = self._inner.encode(sentences, progress)
        if self._spec.whiten is not None:
            whitening = (
                fit_whitening(vectors, self._cut) if self._spec.whiten == FIT else self._by_file
            )
            vectors = whitening.apply(vectors)
        vectors = _unit(vectors) if self._spec.normalise else vectors
        vectors = vectors if self._spec.bits is None else in_bits(vectors, self._spec.bits)
        return vectors, np.zeros(len(vectors), np.bool_)

    @property
    def _cut(self) -> int | None:
        """How many components of whitened vectors remain; other vectors are cut before."""
        return self._spec.dim if self._spec.whiten is not None else None

    @cached_property
    def _by_file(self) -> Whitening:
        """The whitening by the vectors of a file, or by the inner encoder's vectors of its
        different sentences.
        """
        path = Path(str(self._spec.whiten))
        vectors = read_vectors(path)
        if vectors is None:
            vectors = self._inner.encode(list(dict.fromkeys(sentences_in(path))))
        if vectors.shape[1] != self._inner.dim:
            raise UsageError(
                f"{str(path)!r} has vectors of {vectors.shape[1]} numbers, and "
                f"{self._spec.untransformed.name!r} of {self._inner.dim}",
                hint="give a file of sentences, or vectors of the same model",
            )
        return fit_whitening(vectors, self._cut)


def in_bits(vectors: Vectors, bits: int) -> Vectors:
    """Return what is left of VECTORS where a component is stored in 8 bits or 1, again as float32.

    In 8 bits it is one of 255 equal steps between the largest component of its vector and the same
    below zero, so that no vector depends on others; in one bit it is the sign: 1 above zero,
    otherwise −1.
    """
    if bits == 1:
        return np.where(vectors > 0, np.float32(1), np.float32(-1))
    steps = np.abs(vectors).max(axis=1, keepdims=True, initial=0) / np.float32(127)
    rounded: Vectors = (
        np.rint(np.divide(vectors, steps, out=np.zeros_like(vectors), where=steps > 0)) * steps
    )
    return rounded


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
