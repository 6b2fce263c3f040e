"""A transformer encoder that computes no vector twice, in this process or another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.session import ProgressCallback
from embedlab.encoders.encoder import (
    EncoderFacts,
    RefusedTextsError,
    Text,
    Vectors,
    VectorScorer,
    characters,
    distinct,
    sentence_keys,
    shifted,
)
from embedlab.encoders.vector_cache import EmbeddingCache, TextKeys

SENTENCES_PER_SAVE = 16_384  # computed and stored together, so that interrupted work is not lost


@dataclass(kw_only=True, eq=False)
class CachedEncoder(VectorScorer):
    """An encoder that reads known vectors from the cache and stores new ones as they are computed.

    LOAD is called when the first sentence is new. The encoder must not change: one in training has
    other vectors than its fingerprint says. Of vectors that are cut to DIM numbers the whole ones
    are cached, so that none is computed again for another length; STORED is their fingerprint.
    """

    name: str
    fingerprint: str
    dim: int
    stated: EncoderFacts
    load: Callable[[], Any]
    cache: EmbeddingCache
    similarity: Similarity = "cosine"
    per_save: int | None = None
    stored: str | None = None

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's facts; sentences from the cache count as if they had been computed."""
        own = super().facts
        if "_encoder" not in self.__dict__:  # absent while the cache knows every sentence
            return own
        computed: EncoderFacts = self._encoder.facts
        notes = (*self.stated.notes, *computed.notes, *self.number_notes)
        return replace(
            own,
            unknown_texts=computed.unknown_texts,
            refused=computed.refused,
            notes=tuple(dict.fromkeys(notes)),
        )

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        keys = sentence_keys(sentences)
        known, vectors, cut = self.cache.find(keys)
        for rows, new_vectors, new_cut in self._compute(sentences, keys, known, progress):
            vectors[rows], cut[rows] = new_vectors, new_cut
        vectors = vectors[:, : self.dim]
        self.count("truncated", sentences, cut)
        self.look_at(sentences, vectors)
        return vectors

    def knows(self, sentences: Sequence[Text]) -> NDArray[np.bool_]:
        """Return which of SENTENCES have a cached vector; (sentences,)."""
        return self.cache.knows(sentence_keys(sentences))

    def store(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> None:
        """Cache the vectors of these sentences without holding them in memory: new ones are
        computed, longest first.
        """
        self.refuse_others(sentences)
        unique, _ = distinct(sentences)
        keys = sentence_keys(unique)
        for _ in self._compute(unique, keys, self.cache.knows(keys), progress):
            pass

    @cached_property
    def _encoder(self) -> Any:
        encoder = self.load()
        if encoder.fingerprint != (self.stored or self.fingerprint):
            raise MissingError(
                f"{self.name!r} was changed while it was in use", hint="type the command again"
            )
        return encoder

    def _compute(
        self,
        unique: Sequence[Text],
        keys: TextKeys,
        known: NDArray[np.bool_],
        progress: ProgressCallback | None,
    ) -> Iterator[tuple[NDArray[np.intp], Vectors, NDArray[np.bool_]]]:
        """Yield the rows that are not KNOWN piece by piece with their vectors and truncation flags;
        each piece is stored.

        Texts that the encoder refuses alone are raised at the end, when all others are stored.
        """
        refusals, size = list[RefusedTextsError](), self.per_save or SENTENCES_PER_SAVE
        new = np.flatnonzero(~known)
        done = len(unique) - len(new)
        # Sentences of similar length together need hardly any padding.
        new = new[np.argsort([-characters(unique[row]) for row in new.tolist()], kind="stable")]
        for start in range(0, len(new), size):
            rows = new[start : start + size]
            texts = [unique[row] for row in rows]
            try:
                vectors = self._encoder.embed(texts, shifted(progress, done + start, len(unique)))
            except RefusedTextsError as error:
                refusals.append(error)
                refused = {text for text, _ in error.refused}
                rows, vectors = rows[[text not in refused for text in texts]], error.vectors
                if not len(rows):
                    continue
            truncated = self._encoder.counted["truncated"]
            cut = np.array([unique[row] in truncated for row in rows], np.bool_)
            if vectors.shape[1] != self.cache.dim:
                raise EmbedlabError(
                    f"{self.name!r} gives vectors of {vectors.shape[1]} numbers, after "
                    f"others of {self.cache.dim}",
                    hint="if its model changed, `embedlab cache clear` removes the vectors of the "
                    "old one",
                )
            with suppress(MissingError):  # an unwritable cache costs time, not the result
                self.cache.store(keys[rows], vectors, cut)
            yield rows, vectors, cut
        if refusals:
            all_refused = [text for error in refusals for text in error.refused]
            raise RefusedTextsError(refusals[0].who, all_refused) from refusals[0]
        if progress is not None and not len(new):
            progress(done, len(unique))
