"""An encoder whose finished vectors are whitened, cut, brought to length 1, and stored in fewer
bits.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.data.table_file import sentences as sentences_in
from embedlab.encoders.encoder import Encoder, EncoderFacts, Vectors, distinct, score_by_vectors
from embedlab.encoders.texts import Text
from embedlab.encoders.whitening import Whitening, fit_whitening, read_vectors
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.fingerprint import transformed_fingerprint


class TransformedEncoder:
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
        self.similarity: Similarity = (
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

    def encode(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> Vectors:
        """One vector a sentence, in order."""
        unique, index = distinct(sentences)
        vectors = self._inner.encode(unique, progress)
        if self._spec.whiten is not None:
            whitening = (
                fit_whitening(vectors, self._cut) if self._spec.whiten == FIT else self._by_file
            )
            vectors = whitening.apply(vectors)
        vectors = _unit(vectors) if self._spec.normalise else vectors
        return (vectors if self._spec.bits is None else in_bits(vectors, self._spec.bits))[index]

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The similarity of each pair."""
        return score_by_vectors(self, first, second, progress, similarity=self.similarity)

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
