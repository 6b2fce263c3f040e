"""The search by a model whose vectors are computed from cached ones: combinations, whitened and
normalised models; torch-free.
"""

from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import MissingError
from embedlab.core.progress import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.encoders.combination import CombinedEncoder
from embedlab.encoders.encoder import Encoder, EncoderFacts, Vectors, score_by_vectors
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.encoders.texts import Text, sentence_keys
from embedlab.encoders.transformed import TransformedEncoder
from embedlab.encoders.vector_search import BLOCK_ROWS, VectorSearch
from embedlab.models.catalog import ModelSpec
from embedlab.models.grammar import COMBINATION_NAMES
from embedlab.store.vectors import EMBEDDINGS, EmbeddingCache, Segment, TextKeys, adopt_vectors


class _Stored:
    """The cached vectors of a model as an encoder that computes nothing."""

    similarity: Similarity = "cosine"

    def __init__(self, *, spec: ModelSpec, cache: EmbeddingCache, fingerprint: str) -> None:
        self.name, self.fingerprint, self.dim = spec.name, fingerprint, cache.dim
        self.cache, self.state, self.facts = cache, cache.state, EncoderFacts()

    def encode(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> Vectors:
        """One vector a sentence, in order."""
        known, vectors, _ = self.cache.find(sentence_keys(sentences))
        if not known.all():
            raise MissingError(
                f"{int((~known).sum())} vectors of {self.name!r} are not cached",
                hint=f"`embedlab evaluate {self.name}`",
            )
        return vectors

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The cosine of each pair."""
        return score_by_vectors(self, first, second, progress)


def derived_search(
    spec: ModelSpec,
    sentences: Sequence[str],
    keys: TextKeys,
    settings: Settings,
    similarity: Similarity,
) -> VectorSearch | None:
    """Return the search of SPEC among SENTENCES, which have these KEYS; None if the vectors that it
    is made of are not cached.
    """
    stored: list[_Stored] = []
    encoder = _encoder(spec, settings, similarity, stored)
    if encoder is None:
        return None
    known = np.logical_and.reduce([each.cache.knows(keys) for each in stored])
    numbers = np.flatnonzero(known)
    numbers = numbers[np.argsort(keys[numbers, 0], kind="stable")]
    if not len(numbers):
        return None
    per_call = len(numbers) if spec.is_fitted else BLOCK_ROWS
    vectors = _mapped(encoder, [sentences[number] for number in numbers.tolist()], per_call)
    segment = Segment(
        name=spec.name,
        keys=keys[numbers],
        vectors=vectors,
        cut=np.zeros(len(numbers), np.bool_),
        sums=None,
    )
    return VectorSearch(
        [segment], keys, dim=encoder.dim, similarity=similarity, has_changed=_changes(stored)
    )


def _changes(stored: Sequence[_Stored]) -> Callable[[], bool]:
    return lambda: any(each.cache.state != each.state for each in stored)


def _encoder(
    spec: ModelSpec, settings: Settings, similarity: Similarity, stored: list[_Stored]
) -> Encoder | None:
    """The encoder of SPEC by the cache, whose models are added to STORED; None where one of them
    has no vectors there.
    """
    if spec.is_transformed:
        inner = _encoder(spec.untransformed, settings, similarity, stored)
        return (
            TransformedEncoder(spec=spec, inner=inner, similarity=similarity)
            if inner is not None
            else None
        )
    if (kind := next((name for name in COMBINATION_NAMES if name == spec.kind), None)) is not None:
        parts = [
            encoder
            for each in spec.parts
            if (encoder := _encoder(each, settings, similarity, stored)) is not None
        ]
        return (
            CombinedEncoder(name=spec.name, kind=kind, parts=parts)
            if len(parts) == len(spec.parts)
            else None
        )
    place, folder = ScorePlace.of(spec, settings), settings.cache / EMBEDDINGS
    fingerprint = place.fingerprint
    adopt_vectors(folder, fingerprint, lambda: place.earlier)
    cache = EmbeddingCache.to_read(folder, fingerprint)
    if cache is None:
        return None
    stored.append(_Stored(spec=spec, cache=cache, fingerprint=fingerprint))
    return stored[-1]


def _mapped(encoder: Encoder, sentences: Sequence[str], per_call: int) -> Vectors:
    """The vectors of SENTENCES in a file that is deleted with the array: several models of many
    sentences would fill the memory.
    """
    with TemporaryFile() as file:
        for vectors in _blocks(encoder, sentences, per_call):
            file.write(np.ascontiguousarray(vectors, np.float32).data)
        file.flush()
        mapped: Vectors = np.memmap(file, np.float32, mode="r", shape=(len(sentences), encoder.dim))
    return mapped


def _blocks(encoder: Encoder, sentences: Sequence[str], per_call: int) -> Iterator[Vectors]:
    for start in range(0, len(sentences), per_call):
        yield encoder.encode(sentences[start : start + per_call])
