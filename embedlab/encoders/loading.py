"""Load the scorer of a model name, and the token vectors that a model's vectors are sums of."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache as cache_result
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.overlap import dice_of_rows, dice_table
from embedlab.analysis.word_effects import WeightedTokens
from embedlab.choices import Similarity
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.network import OFFLINE, ONLINE
from embedlab.core.session import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import (
    Encoder,
    EncoderFacts,
    PairScorer,
    RefusedTextsError,
    Text,
    Vectors,
    no_token_sum,
    single_texts,
)
from embedlab.encoders.transformed import CombinedEncoder, TransformedEncoder
from embedlab.encoders.vector_cache import CachedEncoder, EmbeddingCache
from embedlab.models.catalog import ModelSpec, refuse_untrainable
from embedlab.models.config import NATIVE_NOTE
from embedlab.models.encoder_kind import (
    EncoderKind,
    SentenceEncoder,
    combined_fingerprint,
    encoder_kind,
)
from embedlab.models.folder_identity import used_fingerprint
from embedlab.models.grammar import RERANK, Combination
from embedlab.models.location import model_usage, spec_fingerprint
from embedlab.models.modules import stated_similarity

if TYPE_CHECKING:
    from embedlab.core.recipe import LoraSection
    from embedlab.encoders.device import Machine
    from embedlab.encoders.static import StaticEncoder
    from embedlab.encoders.transformer import TransformerEncoder


class PrefixedEncoder(Encoder):
    """The vectors of what an encoder kind opened, each distinct sentence encoded once."""

    def __init__(self, *, spec: ModelSpec, fingerprint: str, inner: SentenceEncoder) -> None:
        self.name = spec.name
        self.fingerprint = fingerprint
        self._inner = inner
        # as sentence-transformers calls it, whose models a plug-in may give
        self.similarity = stated_similarity(spec.name, getattr(inner, "similarity_fn_name", None))
        kind = encoder_kind(spec.kind)
        # the other program that computes, whose errors are not ours
        programs = {"plugin": "the plug-in", "sentence-transformers": "sentence-transformers"}
        self._by = "the object" if spec.kind == "live" else programs.get(kind.backend)
        # options that the opened encoder applies
        self._prompt = spec.prompt if spec.prompt and "prompt" not in kind.opened_with else ""
        self._cut = spec.dim
        self._refused: dict[str, None] = {}  # in order

    @cached_property
    def dim(self) -> int:  # type: ignore[override]  # may need the vector of a text
        """Length of a vector: as the encoder states, otherwise of the vector of a sentence."""
        inner_dim = getattr(self._inner, "dim", None)
        if isinstance(inner_dim, int):
            return min(inner_dim, self._cut or inner_dim)
        return int(self._vectors(["a"]).shape[1])

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's own facts, where it has some."""
        facts = getattr(self._inner, "facts", None)
        facts = facts if isinstance(facts, EncoderFacts) else EncoderFacts()
        return replace(
            facts,
            zero_vectors=len(self.counted["zero_vectors"]),
            refused=tuple(self._refused),
            notes=(*facts.notes, *_similarity_notes(self.similarity), *self.number_notes),
        )

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        if sentences:
            vectors = self._vectors(single_texts(self.name, sentences))
        else:
            vectors = np.empty((0, self.dim), np.float32)
        self.inspect_vectors(sentences, vectors)
        if progress is not None:
            progress(len(sentences), len(sentences))
        return vectors

    def _vectors(self, sentences: Sequence[str]) -> Vectors:
        prompted = [f"{self._prompt}{sentence}" for sentence in sentences]
        try:
            vectors = self._cut_vectors(self._inner.encode(prompted), len(sentences))
            is_finite = np.isfinite(vectors).all(axis=1)
            if not is_finite.all():
                reason = "its numbers are not all finite"
                odd_rows = np.flatnonzero(~is_finite)
                refused = [(prompted[row], reason) for row in odd_rows]
                raise RefusedTextsError(self.name, refused, vectors[is_finite])
            return vectors
        except RefusedTextsError as error:
            reasons = {text.removeprefix(self._prompt): reason for text, reason in error.refused}
            self._refused |= dict.fromkeys(reasons)
            vectors = error.vectors
            if len(vectors):
                vectors = self._cut_vectors(vectors, len(vectors))
            raise RefusedTextsError(error.encoder_name, reasons.items(), vectors) from error
        except EmbedlabError:
            raise
        except Exception as error:
            if self._by is None:
                raise
            raise MissingError(
                f"{self._by} cannot compute {self.name!r}: {type(error).__name__} {error}",
                hint="correct its encode()"
                if self._by == "the object"  # whose own error is in the same traceback
                else "the error comes from that program: --debug shows where",
            ) from error

    def _cut_vectors(self, inner_vectors: Any, count: int) -> Vectors:
        numbers = np.asarray(inner_vectors)
        if numbers.dtype.kind == "c":
            raise EmbedlabError(
                f"{self.name!r} gives vectors of complex numbers", hint="correct its encode()"
            )
        vectors = numbers.astype(np.float32, copy=False)
        if vectors.ndim != 2 or len(vectors) != count:
            raise EmbedlabError(
                f"{self.name!r} gives vectors of shape {vectors.shape} for {count} sentences",
                hint="encode(sentences) should return an array of shape (sentences, dim)",
            )
        if self._cut is not None and self._cut > vectors.shape[1]:
            raise UsageError(
                f"{self.name!r} has vectors of {vectors.shape[1]} numbers",
                hint=f"give @dim={vectors.shape[1]} or less",
            )
        return vectors[:, : self._cut]


def _similarity_notes(similarity: Similarity) -> tuple[str, ...]:
    return () if similarity == "cosine" else (f"similarity={similarity}",)


class PrefixedScorer:
    """The scores of a kind without vectors."""

    facts = EncoderFacts()

    def __init__(self, name: str, fingerprint: str, inner: Any) -> None:
        self.name, self.fingerprint, self._inner = name, fingerprint, inner

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.floating[Any]]:
        """The similarity of each pair, nan where there is none."""
        scores = self._inner.score(list(first), list(second))
        return self._check_scores(scores, len(first), progress)

    def score_frame(
        self, pairs: pl.DataFrame, progress: ProgressCallback | None = None
    ) -> NDArray[np.floating[Any]]:
        """The similarity of each pair of a frame, nan where it is missing; a frame of very many
        pairs takes less memory than their texts.
        """
        if not hasattr(self._inner, "score_frame"):
            return self.score(pairs["sentence1"].to_list(), pairs["sentence2"].to_list(), progress)
        return self._check_scores(self._inner.score_frame(pairs), len(pairs), progress)

    def _check_scores(
        self, inner_scores: Any, count: int, progress: ProgressCallback | None
    ) -> NDArray[np.floating[Any]]:
        # what was brought keeps its digits: scores that differ after the seventh are in an order
        scores = np.asarray(inner_scores)
        if scores.dtype.kind != "f":
            scores = scores.astype(np.float32)
        if scores.shape != (count,):
            raise EmbedlabError(
                f"{self.name!r} gives scores of shape {scores.shape} for {count} pairs",
                hint="correct its score()",
            )
        if progress is not None:
            progress(count, count)
        return scores


def load_prefixed(spec: ModelSpec, settings: Settings, cache: Path | None) -> Encoder:
    """Load the encoder of SPEC; over the cache in the folder CACHE, if there is one and its kind is
    cached.
    """
    kind = encoder_kind(spec.kind)
    if not kind.has_vectors:
        raise UsageError(
            f"{spec.name!r} has no vectors: it only scores pairs",
            hint="name an encoder, or use it with compare, pairs and evaluate",
        )
    fingerprint = spec_fingerprint(spec, precision="float32")

    def load() -> PrefixedEncoder:
        if kind.is_remote and settings.offline:
            raise MissingError(
                f"{spec.name!r} has no cached vectors of some sentences, and {OFFLINE}",
                hint=ONLINE,
            )
        return PrefixedEncoder(spec=spec, fingerprint=fingerprint, inner=open_kind(kind, spec))

    if cache is None or settings.cache_gib == 0 or not kind.is_cached:
        return load()
    opened = cache_result(load)
    dim = EmbeddingCache.stored_dim(cache, fingerprint) or opened().dim
    is_stated = kind.pooling is not None
    similarity = kind.similarity(spec.location) if is_stated else opened().similarity
    notes = () if spec.code is None else (NATIVE_NOTE,)
    facts = EncoderFacts(pooling=kind.pooling, notes=(*notes, *_similarity_notes(similarity)))
    return CachedEncoder(
        name=spec.name,
        fingerprint=fingerprint,
        dim=dim,
        stated=facts if is_stated else opened().facts,
        similarity=similarity,
        load=opened,
        cache=_opened_cache(cache, fingerprint, dim, spec, settings),
        per_save=kind.per_save,
    )


class DiceScorer:
    """The Dice coefficient of the two sentences' word sets."""

    name = "dice"
    fingerprint = combined_fingerprint("dice")
    facts = EncoderFacts()

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Return the word overlap of each pair, 0 to 1."""
        return dice_of_rows(first, second).to_numpy().astype(np.float32)

    def score_all(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the word overlap of each text of FIRST with each of SECOND; (first, second)."""
        return dice_table(first, second).astype(np.float32)


GIB = 2**30


def _opened_cache(
    folder: Path, fingerprint: str, dim: int, spec: ModelSpec, settings: Settings
) -> EmbeddingCache:
    limit_bytes = int(settings.cache_gib * GIB)
    return EmbeddingCache(folder, fingerprint, dim=dim, limit_bytes=limit_bytes, name=spec.name)


def _machine(spec: ModelSpec, settings: Settings) -> "Machine | None":
    """The machine that computes SPEC; none for what is looked up or counted, which needs no torch
    (2 s), unless a device is typed. A plug-in may do anything.
    """
    is_light = spec.kind == "dice"
    if spec.is_prefixed and not spec.is_transformed:
        is_light = encoder_kind(spec.kind).backend in {"file", "numpy"}
    if is_light and settings.device in {"auto", "cpu"}:
        return None
    from embedlab.encoders.device import machine

    return machine(settings)


def scorer_for(spec: ModelSpec, settings: Settings, *, cache: Path | None = None) -> PairScorer:
    """Load the scorer of SPEC as SETTINGS select, with the cache of vectors in the folder CACHE, if
    given.
    """
    hardware = _machine(spec, settings)
    if spec.kind == "dice":
        return DiceScorer()
    if not spec.is_prefixed or spec.is_transformed or encoder_kind(spec.kind).has_vectors:
        return load_encoder(spec, settings, cache=cache)
    kind = encoder_kind(spec.kind)
    precision = "float32" if hardware is None else hardware.precision
    fingerprint = spec_fingerprint(spec, precision=precision)
    if kind.scorer is not None:
        scorer: PairScorer = kind.scorer(spec, fingerprint, hardware)
        return scorer
    return PrefixedScorer(spec.name, fingerprint, open_kind(kind, spec))


def open_kind(kind: EncoderKind, spec: ModelSpec) -> Any:
    """Open the encoder of SPEC, which is of a KIND, with the options that the kind takes."""
    return kind.open(spec.location, **{name: getattr(spec, name) for name in kind.opened_with})


# what has no vectors, and what to do instead
_WITHOUT_VECTORS = {
    "dice": ("only scores pairs", "name an encoder: `embedlab models ls` lists them"),
    "ensemble": (
        "averages predictions",
        "--suite multitask evaluates those, average:a,b averages vectors",
    ),
    RERANK: (
        "puts the documents of a search in order, and has no similarities of pairs",
        "take it to a task of search, --task retrieval-captions, or name one of its models",
    ),
}


def load_encoder(spec: ModelSpec, settings: Settings, *, cache: Path | None = None) -> Encoder:
    """Load an encoder as SETTINGS select; a model that only scores pairs is a UsageError."""
    if spec.kind in _WITHOUT_VECTORS:
        reason, hint = _WITHOUT_VECTORS[spec.kind]
        raise UsageError(f"{spec.name!r} has no vectors: it {reason}", hint=hint)
    if spec.is_transformed:
        inner = load_encoder(spec.untransformed, settings, cache=cache)
        return TransformedEncoder(spec=spec, inner=inner)
    if spec.is_prefixed:
        _machine(spec, settings)
        return load_prefixed(spec, settings, cache)
    if spec.parts:
        combination = cast("Combination", spec.kind)
        parts = [load_encoder(part, settings, cache=cache) for part in spec.parts]
        return CombinedEncoder(name=spec.name, kind=combination, parts=parts)
    if cache is None or settings.cache_gib == 0:
        return load_plain(spec, settings)
    return load_cached(spec, settings, cache)


def load_cached(spec: ModelSpec, settings: Settings, cache: Path) -> CachedEncoder:
    """Load the transformer of SPEC with the cache in the folder CACHE; its weights are read at the
    first new sentence.

    These are its vectors before whitening and normalising.
    """
    from embedlab.encoders.device import machine

    spec = spec.untransformed
    uncut_spec = replace(spec, dim=None)
    precision = machine(settings).precision
    usage, uncut = (
        model_usage(variant, offline=settings.offline) for variant in (spec, uncut_spec)
    )
    stored_fingerprint = used_fingerprint(uncut, precision=precision)
    return CachedEncoder(
        name=spec.name,
        fingerprint=used_fingerprint(usage, precision=precision),
        dim=usage.vector_dim(),
        stated=EncoderFacts(
            pooling=usage.pooling_label,
            precision="float32" if usage.is_static else usage.reading.dtype or precision,
            max_tokens=None if usage.is_static else usage.reading.max_tokens,
            notes=usage.notes,
        ),
        load=lambda: load_plain(uncut_spec, settings),
        similarity=usage.similarity,
        cache=_opened_cache(cache, stored_fingerprint, uncut.vector_dim(), spec, settings),
    )


def load_plain(spec: ModelSpec, settings: Settings) -> "TransformerEncoder | StaticEncoder":
    """The transformer or the static token vectors of SPEC, without a cache."""
    from embedlab.encoders.device import machine

    hardware = machine(settings)
    usage = model_usage(spec, offline=settings.offline, is_loaded=True)
    if usage.is_static:
        from embedlab.encoders.layers import load_layers
        from embedlab.encoders.static import StaticEncoder, load_table

        return StaticEncoder(
            name=spec.name,
            fingerprint=used_fingerprint(usage, precision=hardware.precision),
            table=load_table(usage.source),
            usage=usage,
            layers=load_layers(usage.layers).eval(),
        )
    # torch's models (2 s) are loaded only here: cached vectors do not need them.
    from embedlab.encoders.checkpoint import open_transformer

    return open_transformer(usage, hardware, name=spec.name)


def load_trainable(
    spec: ModelSpec,
    machine: "Machine",
    *,
    max_tokens: int | None = None,
    lora: "LoraSection | None" = None,
    seed: int = 0,
    offline: bool = False,
) -> "TransformerEncoder":
    """Load the transformer of SPEC without a cache, with LORA to be trained in place of its
    weights; anything else is a UsageError.

    What starts at random is drawn by SEED.
    """
    refuse_untrainable(spec)
    # torch's models (2 s) are loaded only here: cached vectors do not need them.
    from embedlab.encoders.checkpoint import open_transformer

    spec = replace(spec, max_tokens=max_tokens or spec.max_tokens)
    usage = model_usage(spec, offline=offline, is_loaded=True)
    return open_transformer(usage, machine, name=spec.name, lora=lora, is_trained=True, seed=seed)


def token_vectors_of(spec: ModelSpec, settings: Settings) -> Callable[[str], WeightedTokens]:
    """Return what gives the token vectors of a sentence by the model SPEC; one whose cosine does
    not add up from them is a UsageError.
    """
    plain, is_whitened = spec.untransformed, spec.whiten is not None
    if spec.is_transformer and not is_whitened:
        if model_usage(plain, offline=settings.offline).similarity == "cosine":
            return load_plain(plain, settings).token_vectors
    elif spec.is_prefixed and not is_whitened and not spec.prompt:
        opened = encoder_kind(spec.kind).open(spec.location)
        if hasattr(opened, "token_vectors"):

            def tokens_of(sentence: str) -> WeightedTokens:
                tokens: WeightedTokens = opened.token_vectors(sentence)
                return replace(tokens, vectors=tokens.vectors[:, : spec.dim])

            return tokens_of
    raise no_token_sum(spec.name)
