"""A transformer encoder that computes no vector twice, in this process or another."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from embedlab.encoders.cache import EmbeddingCache, sentence_keys
from embedlab.encoders.encoder import EncoderFacts, Vectors, Watch, distinct, score_by_cosine, shifted
from embedlab.encoders.transformer import SENTENCES_AT_ONCE, TransformerEncoder
from embedlab.errors import MissingError


class CachedEncoder:
    """The vectors of ENCODER, from the cache where they are known; what is new is stored as it is computed.

    For an encoder as it was loaded: one that is being trained has other vectors than its fingerprint says.
    """

    def __init__(self, encoder: TransformerEncoder, cache: EmbeddingCache) -> None:
        self._encoder = encoder
        self._cache = cache

    @property
    def name(self) -> str:
        """The model name it was asked for by."""
        return self._encoder.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of what was loaded."""
        return self._encoder.fingerprint

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._encoder.dim

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's facts; sentences from the cache count as if they had been computed."""
        return self._encoder.facts

    def encode(self, sentences: Sequence[str], watch: Watch | None = None) -> Vectors:
        """One vector a sentence, in order."""
        unique, index = distinct(sentences)
        keys = sentence_keys(unique)
        known, vectors, cut = self._cache.find(keys)
        new = np.flatnonzero(~known)
        done = len(unique) - len(new)
        # In pieces, so that work which is interrupted is not lost.
        for start in range(0, len(new), SENTENCES_AT_ONCE):
            rows = new[start : start + SENTENCES_AT_ONCE]
            told = shifted(watch, done + start, len(unique))
            vectors[rows], cut[rows] = self._encoder.embed([unique[row] for row in rows], told)
            with suppress(MissingError):  # a disk that takes no cache costs time, not the answer
                self._cache.store(keys[rows], vectors[rows], cut[rows])
        if watch is not None and not len(new):
            watch(done, len(unique))
        self._encoder.note_truncated(unique[row] for row in np.flatnonzero(cut))
        return vectors[index]

    def score(self, first: Sequence[str], second: Sequence[str], watch: Watch | None = None) -> NDArray[np.float32]:
        """Cosine of each pair."""
        return score_by_cosine(self, first, second, watch)
