"""An encoder that a model name calls by a prefix, as the rest of embedlab uses encoders."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache as cache_result
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.network import OFFLINE, ONLINE
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.cached_encoder import CachedEncoder
from embedlab.encoders.encoder import (
    Encoder,
    EncoderFacts,
    RefusedTextsError,
    Text,
    Vectors,
    VectorScorer,
    single_texts,
)
from embedlab.encoders.vector_cache import EmbeddingCache
from embedlab.models.catalog import ModelSpec
from embedlab.models.config import NATIVE_NOTE
from embedlab.models.encoder_kind import EncoderKind, SentenceEncoder, encoder_kind


class PrefixedEncoder(VectorScorer):
    """The vectors of what an encoder kind opened, each distinct sentence encoded once."""

    def __init__(self, *, spec: ModelSpec, fingerprint: str, inner: SentenceEncoder) -> None:
        super().__init__()
        self.name = spec.name
        self.fingerprint = fingerprint
        self._inner = inner
        kind = encoder_kind(spec.kind)
        # what other program computes, whose errors are not ours
        others = {"plugin": "the plug-in", "sentence-transformers": "sentence-transformers"}
        self._by = "the object" if spec.kind == "live" else others.get(kind.backend)
        # options that the opened encoder applies
        self._prompt = spec.prompt if spec.prompt and "prompt" not in kind.opened_with else ""
        self._cut = spec.dim
        self._refused: dict[str, None] = {}

    @cached_property
    def dim(self) -> int:
        """Length of a vector: as the encoder says, or of that of one sentence."""
        stated = getattr(self._inner, "dim", None)
        return (
            min(stated, self._cut or stated)
            if isinstance(stated, int)
            else int(self._vectors(["a"]).shape[1])
        )

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's own facts, where it has some."""
        facts = getattr(self._inner, "facts", None)
        known = facts if isinstance(facts, EncoderFacts) else EncoderFacts()
        return replace(
            known,
            zero_vectors=len(self._zero),
            refused=tuple(self._refused),
            notes=(*known.notes, *self._number_notes),
        )

    def embed(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """A vector for each of these distinct sentences; none is known to be cut."""
        vectors = (
            self._vectors(single_texts(self.name, sentences))
            if sentences
            else np.empty((0, self.dim), np.float32)
        )
        self.look_at(sentences, vectors)
        if progress is not None:
            progress(len(sentences), len(sentences))
        return vectors, np.zeros(len(sentences), np.bool_)

    def _vectors(self, sentences: Sequence[str]) -> Vectors:
        try:
            return self._cut_vectors(
                self._inner.encode([f"{self._prompt}{sentence}" for sentence in sentences]),
                len(sentences),
            )
        except EmbedlabError as error:
            if not isinstance(error, RefusedTextsError):
                raise
            refused = [
                (sentences[index], reason)
                for index, (_, reason) in zip(error.places, error.refused, strict=True)
            ]
            self._refused |= dict.fromkeys(text for text, _ in refused)
            vectors = (
                self._cut_vectors(error.vectors, len(error.vectors))
                if len(error.vectors)
                else error.vectors
            )
            raise error.at(refused, error.places, vectors) from error
        except Exception as error:
            if self._by is None:
                raise
            raise MissingError(
                f"{self._by} cannot compute {self.name!r}: {type(error).__name__} {error}",
                hint="the error is of that program: --debug shows where",
            ) from error

    def _cut_vectors(self, given: Any, count: int) -> Vectors:
        vectors = np.asarray(given, np.float32)
        if vectors.ndim != 2 or len(vectors) != count:
            raise EmbedlabError(
                f"{self.name!r} gives vectors of shape {vectors.shape} for {count} sentences",
                hint="encode(sentences) should return an array of shape (sentences, dim)",
            )
        if not np.isfinite(vectors.sum(dtype=np.float64)):
            raise EmbedlabError(
                f"{self.name!r} gives vectors that are not finite", hint="correct its encode()"
            )
        if self._cut is not None and self._cut > vectors.shape[1]:
            raise UsageError(
                f"{self.name!r} has vectors of {vectors.shape[1]} numbers",
                hint=f"give @dim={vectors.shape[1]} or less",
            )
        return vectors[:, : self._cut]


class PrefixedScorer:
    """The scores of a kind without vectors."""

    def __init__(self, *, name: str, fingerprint: str, inner: Any) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.facts = EncoderFacts()
        self._inner = inner

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The similarity of each pair, nan where there is none."""
        return self._checked(self._inner.score(list(first), list(second)), len(first), progress)

    def score_frame(
        self, pairs: pl.DataFrame, progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The same of the pairs of a frame, of which very many take less memory than as texts."""
        if not hasattr(self._inner, "score_frame"):
            return self.score(pairs["sentence1"].to_list(), pairs["sentence2"].to_list(), progress)
        return self._checked(self._inner.score_frame(pairs), len(pairs), progress)

    def _checked(
        self, given: Any, count: int, progress: ProgressCallback | None
    ) -> NDArray[np.float32]:
        scores = np.asarray(given, np.float32)
        if scores.shape != (count,):
            raise EmbedlabError(
                f"{self.name!r} gives scores of shape {scores.shape} for {count} pairs",
                hint="correct its score()",
            )
        if progress is not None:
            progress(count, count)
        return scores


def open_kind(kind: EncoderKind, spec: ModelSpec) -> Any:
    """Open the encoder of SPEC, of a KIND, with what it takes of its options."""
    return kind.open(spec.location, **{name: getattr(spec, name) for name in kind.opened_with})


def load_prefixed(
    spec: ModelSpec,
    fingerprint: str,
    cache: Path | None,
    limit_bytes: int,
    *,
    offline: bool = False,
) -> Encoder:
    """Load the encoder of SPEC; over the cache in the folder CACHE, if there is one and its kind is
    cached.
    """
    kind = encoder_kind(spec.kind)
    if not kind.has_vectors:
        raise UsageError(
            f"{spec.name!r} has no vectors: it only scores pairs",
            hint="name an encoder, or take it to compare, pairs and evaluate",
        )

    def load() -> PrefixedEncoder:
        if kind.is_remote and offline:
            raise MissingError(
                f"{spec.name!r} has no cached vectors of some sentences, and {OFFLINE}",
                hint=ONLINE,
            )
        return PrefixedEncoder(spec=spec, fingerprint=fingerprint, inner=open_kind(kind, spec))

    if cache is None or limit_bytes == 0 or not kind.is_cached:
        return load()
    opened, notes = cache_result(load), (NATIVE_NOTE,) if spec.code is not None else ()
    dim = EmbeddingCache.stored_dim(cache, fingerprint) or opened().dim
    return CachedEncoder(
        name=spec.name,
        fingerprint=fingerprint,
        dim=dim,
        facts=EncoderFacts(pooling=kind.pooling, notes=notes)
        if kind.pooling is not None
        else replace(opened().facts, truncated=0),
        load=opened,
        cache=EmbeddingCache(cache, fingerprint, dim=dim, limit_bytes=limit_bytes, name=spec.name),
        per_save=kind.per_save,
    )
