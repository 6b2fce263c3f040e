"""An encoder whose finished vectors are whitened, cut, brought to length 1, and stored in fewer
bits.

Whitened vectors have mean 0, variance 1 and no correlations, by the mean and covariance of some
vectors: Su et al. 2021, "Whitening Sentence Representations for Better Semantics and Faster
Retrieval". The components are principal axes in order of their variance (the covariance divides by
n − 1), each with its largest weight positive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.core.note import Note
from embedlab.core.printable import count_text
from embedlab.core.session import ProgressCallback
from embedlab.data.own_files import sentences as sentences_in
from embedlab.encoders.encoder import (
    TEXT_COUNTS,
    Encoder,
    EncoderFacts,
    Text,
    Vectors,
    shift_progress,
)
from embedlab.encoders.kinds.brought import read_vectors
from embedlab.models.catalog import FIT, ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.grammar import Combination
from embedlab.models.location import transformed_fingerprint


def average_vectors(parts: Sequence[Vectors]) -> Vectors:
    """Return the mean of the vectors; longer ones weigh more in its direction."""
    mean: Vectors = np.mean(parts, axis=0, dtype=np.float32)
    return mean


def normalized_average(parts: Sequence[Vectors]) -> Vectors:
    """Return the mean of the vectors, each scaled to length 1 before; a zero vector stays zero."""
    return average_vectors([_unit_vectors(part) for part in parts])


def concat(parts: Sequence[Vectors]) -> Vectors:
    """Concatenate the vectors."""
    return np.concatenate(parts, axis=1)


COMBINATIONS: dict[Combination, Callable[[Sequence[Vectors]], Vectors]] = {
    "average": average_vectors,
    "normalized-average": normalized_average,
    "concat": concat,
}


class CombinedEncoder(Encoder):
    """Several encoders whose vectors of a sentence are combined; averages need equal dimensions."""

    def __init__(self, *, name: str, kind: Combination, parts: Sequence[Encoder]) -> None:
        dims = [part.dim for part in parts]
        if kind != "concat" and len(set(dims)) > 1:
            sizes = ", ".join(f"{part.name} has {part.dim}" for part in parts)
            raise UsageError(
                f"{kind} needs vectors of one length: {sizes}",
                hint=f"concat:{','.join(part.name for part in parts)}",
            )
        self.name = name
        self.fingerprint = combined_fingerprint(kind, *(part.fingerprint for part in parts))
        self.dim = sum(dims) if kind == "concat" else dims[0]
        self._kind: Combination = kind
        self._parts = parts

    @property
    def facts(self) -> EncoderFacts:
        """The facts of the parts; counts are the maximum over the parts."""
        facts = [part.facts for part in self._parts]
        limits = [fact.max_tokens for fact in facts if fact.max_tokens is not None]
        counts = {count: max(getattr(fact, count) for fact in facts) for count in TEXT_COUNTS}
        notes = [f"{part.name}: {note}" for part in self._parts for note in part.facts.notes]
        return EncoderFacts(
            pooling=" + ".join(str(fact.pooling) for fact in facts),
            precision=" + ".join(dict.fromkeys(fact.precision for fact in facts)),
            max_tokens=min(limits, default=None),
            notes=tuple(notes),
            **counts,
        )

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        count = len(sentences)
        part_vectors = []
        for number, encoder in enumerate(self._parts):
            shifted = shift_progress(progress, number * count, count * len(self._parts))
            part_vectors.append(encoder.encode(sentences, shifted))
        return COMBINATIONS[self._kind](part_vectors)


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


def fit_whitening(vectors: Vectors, dim: int | None) -> Whitening:
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
    variances = variances[::-1][:size]
    axes = axes[:, ::-1][:, :size]
    largest = max(float(variances[0]), np.finfo(np.float64).tiny)
    has_variance = variances > LEAST_VARIANCE * largest
    scales = np.divide(1, np.sqrt(variances.clip(min=0)), out=np.zeros(size), where=has_variance)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(size)])
    return Whitening(mean=mean, matrix=axes * (signs * scales), fitted_on=count)


class TransformedEncoder(Encoder):
    """The vectors of INNER after the steps that SPEC states: whitening, the first `dim` components
    of the whitened vectors, length 1, fewer bits.

    Whitening "fit" is fitted on the different sentences of each call of `encode` or `score`, so
    that these belong together.
    """

    def __init__(self, *, spec: ModelSpec, inner: Encoder) -> None:
        self.name = spec.name
        self.fingerprint = transformed_fingerprint(spec, inner.fingerprint)
        self._spec = spec
        self._inner = inner
        # of signs, cosine is the Hamming distance, reversed
        self.similarity = "cosine" if spec.bits == 1 else inner.similarity

    @property
    def dim(self) -> int:  # type: ignore[override]  # that of the inner encoder may come late
        """Length of a vector."""
        return min(self._inner.dim, self._whitened_dim or self._inner.dim)

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's facts, and the steps that are applied to its vectors."""
        whiten = self._spec.whiten
        whitening_name = "the scored sentences" if whiten == FIT else Path(whiten or "").name
        facts = self._inner.facts
        steps = [facts.pooling or "vectors"]
        if whiten is not None:
            steps.append(f"whitened by {whitening_name}")
        if self._whitened_dim is not None:
            steps.append(f"dim={self._whitened_dim}")
        if self._spec.normalise:
            steps.append("normalised")
        if self._spec.bits is not None:
            steps.append(f"bits={self._spec.bits}")
        notes = [*facts.notes]
        fitted = self.__dict__.get("_fitted_whitening")  # absent while nothing was whitened
        if fitted is not None:
            notes.append(f"whitened by the {fitted.fitted_on} vectors of {whitening_name}")
        if facts.zero_vectors and (whiten is not None or self._spec.bits == 1):
            zero_text = f"{count_text(facts.zero_vectors, 'sentences have')} a zero vector"
            notes.append(Note(f"{zero_text} before @whiten or @bits", kind="doubted"))
            facts = replace(facts, zero_vectors=0)  # not zero any more, nor their similarities
        return replace(facts, pooling=", ".join(steps), notes=tuple(notes))

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        vectors = self._inner.encode(sentences, progress)
        if self._spec.whiten == FIT:
            vectors = fit_whitening(vectors, self._whitened_dim).apply(vectors)
        elif self._spec.whiten is not None:
            vectors = self._fitted_whitening.apply(vectors)
        if self._spec.normalise:
            vectors = _unit_vectors(vectors)
        if self._spec.bits is not None:
            vectors = quantise_vectors(vectors, self._spec.bits)
        return vectors

    @property
    def _whitened_dim(self) -> int | None:
        """How many components of whitened vectors remain; other vectors are cut before."""
        return self._spec.dim if self._spec.whiten is not None else None

    @cached_property
    def _fitted_whitening(self) -> Whitening:
        """The whitening by the vectors of a file, or by the inner encoder's vectors of its
        different sentences.
        """
        path = Path(str(self._spec.whiten))
        if path.suffix in {".npy", ".parquet"}:
            vectors = read_vectors(path, has_text=False)[1]
        else:
            vectors = self._inner.encode(list(dict.fromkeys(sentences_in(path))))
        if vectors.shape[1] != self._inner.dim:
            raise UsageError(
                f"{str(path)!r} has vectors of {vectors.shape[1]} numbers, and "
                f"{self._spec.untransformed.name!r} of {self._inner.dim}",
                hint="give a file of sentences, or vectors of the same model",
            )
        return fit_whitening(vectors, self._whitened_dim)


def quantise_vectors(vectors: Vectors, bits: int) -> Vectors:
    """Return VECTORS as float32 after their components were stored in 8 bits or 1.

    In 8 bits a component is one of 255 equal steps between ± the largest component of its vector,
    so that no vector depends on others. In one bit it is its sign: 1 above zero, otherwise −1.
    """
    if bits == 1:
        return np.where(vectors > 0, np.float32(1), np.float32(-1))
    steps = np.abs(vectors).max(axis=1, keepdims=True, initial=0) / np.float32(127)
    counts = np.divide(vectors, steps, out=np.zeros_like(vectors), where=steps > 0)
    rounded: Vectors = np.rint(counts) * steps
    return rounded


def _unit_vectors(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
