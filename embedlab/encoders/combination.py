"""Combine several encoders into one by a function of their vectors."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import (
    TEXT_COUNTS,
    Encoder,
    EncoderFacts,
    Text,
    Vectors,
    VectorScorer,
    shifted,
)
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.grammar import Combination


def average_vectors(parts: Sequence[Vectors]) -> Vectors:
    """Return the mean of the vectors; longer ones weigh more in its direction."""
    mean: Vectors = np.mean(parts, axis=0, dtype=np.float32)
    return mean


def normalized_average(parts: Sequence[Vectors]) -> Vectors:
    """Return the mean of the vectors, each scaled to length 1 before; a zero vector stays zero."""
    return average_vectors([_unit(part) for part in parts])


def concat(parts: Sequence[Vectors]) -> Vectors:
    """Concatenate the vectors."""
    return np.concatenate(parts, axis=1)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


COMBINATIONS: dict[Combination, Callable[[Sequence[Vectors]], Vectors]] = {
    "average": average_vectors,
    "normalized-average": normalized_average,
    "concat": concat,
}


class CombinedEncoder(VectorScorer):
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
        return EncoderFacts(
            pooling=" + ".join(str(fact.pooling) for fact in facts),
            precision=" + ".join(dict.fromkeys(fact.precision for fact in facts)),
            max_tokens=min(
                (fact.max_tokens for fact in facts if fact.max_tokens is not None), default=None
            ),
            **{count: max(getattr(fact, count) for fact in facts) for count in TEXT_COUNTS},
            words=max(fact.words for fact in facts),
            unknown_words=max(fact.unknown_words for fact in facts),
            notes=tuple(
                f"{encoder.name}: {note}"
                for encoder, fact in zip(self._parts, facts, strict=True)
                for note in fact.notes
            ),
        )

    def embed(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """A vector for each of these distinct sentences; none is known to be cut."""
        count = len(sentences)
        parts = [
            encoder.encode(sentences, shifted(progress, number * count, count * len(self._parts)))
            for number, encoder in enumerate(self._parts)
        ]
        return COMBINATIONS[self._kind](parts), np.zeros(count, np.bool_)
