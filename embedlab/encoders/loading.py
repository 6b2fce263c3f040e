"""Load the scorer of a model name, and the token vectors that a model's vectors are sums of."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.cached_encoder import CachedEncoder, Embedder, FirstNumbers
from embedlab.encoders.combination import CombinedEncoder
from embedlab.encoders.encoder import Encoder, EncoderFacts, PairScorer
from embedlab.encoders.lexical import DiceScorer
from embedlab.encoders.prefixed import PrefixedScorer, load_prefixed, open_kind
from embedlab.encoders.vector_cache import EmbeddingCache
from embedlab.models.catalog import FOR_EVALUATION, ModelSpec
from embedlab.models.encoder_kind import encoder_kind
from embedlab.models.fingerprint import spec_fingerprint
from embedlab.models.folder import pooling_label, read_intact_usage, read_usage, vector_dim
from embedlab.models.folder_identity import used_fingerprint
from embedlab.models.grammar import COMBINATION_NAMES, RERANK
from embedlab.models.location import model_folder

if TYPE_CHECKING:
    from embedlab.encoders.checkpoint import Lora
    from embedlab.encoders.device import Machine
    from embedlab.encoders.static import StaticEncoder
    from embedlab.encoders.transformer import TransformerEncoder


GIB = 2**30


def scorer_for(spec: ModelSpec, settings: Settings, *, cache: Path | None = None) -> PairScorer:
    """Load the scorer of SPEC as SETTINGS select; torch (2 s) is loaded only where it computes, or
    a device needs it.
    """
    here = None
    if settings.device not in {"auto", "cpu"} or not _needs_no_torch(spec):
        from embedlab.encoders.device import machine

        here = machine(settings)
    return load_scorer(
        spec, here, cache=cache, cache_gib=settings.cache_gib, offline=settings.offline
    )


def _needs_no_torch(spec: ModelSpec) -> bool:
    """Return whether SPEC is looked up or counted; a plug-in may do anything."""
    return spec.kind == "dice" or (
        spec.is_prefixed
        and not spec.is_transformed
        and encoder_kind(spec.kind).backend in {"file", "numpy"}
    )


def load_scorer(
    spec: ModelSpec,
    machine: "Machine | None",
    *,
    cache: Path | None = None,
    cache_gib: float = 8.0,
    offline: bool = False,
) -> PairScorer:
    """Load the scorer of SPEC on MACHINE, None for what computes nothing; its vectors are cached in
    the folder CACHE, if given, which stays under cache_gib.
    """
    if spec.kind == "dice":
        return DiceScorer()
    if spec.is_prefixed and not spec.is_transformed:
        kind = encoder_kind(spec.kind)
        if not kind.has_vectors:
            fingerprint = spec_fingerprint(spec, precision=_precision(machine))
            if kind.scorer is None:
                return PrefixedScorer(
                    name=spec.name, fingerprint=fingerprint, inner=open_kind(kind, spec)
                )
            scorer: PairScorer = kind.scorer(spec, fingerprint, machine)
            return scorer
    return load_encoder(spec, machine, cache=cache, cache_gib=cache_gib, offline=offline)


def _precision(machine: "Machine | None") -> str:
    return "float32" if machine is None else machine.precision


def load_encoder(
    spec: ModelSpec,
    machine: "Machine | None",
    *,
    cache: Path | None = None,
    cache_gib: float = 8.0,
    offline: bool = False,
) -> Encoder:
    """Load an encoder; a model that only scores pairs is a UsageError."""
    if spec.kind == "dice":
        raise UsageError(
            f"{spec.name!r} has no vectors: it only scores pairs",
            hint="name an encoder, for example sbert or word-vectors:FILE",
        )
    if spec.kind == "ensemble":
        raise UsageError(
            f"{spec.name!r} has no vectors: it averages predictions",
            hint="--suite multitask evaluates those, average:a,b averages vectors",
        )
    if spec.kind == RERANK:
        raise UsageError(
            f"{spec.name!r} puts the documents of a search in order: it has no vectors and "
            f"no similarities of pairs",
            hint=f"take it to a task of search, --task retrieval-captions, or name "
            f"{spec.parts[0].name} itself",
        )
    if spec.is_prefixed and not spec.is_transformed:
        return load_prefixed(
            spec,
            spec_fingerprint(spec, precision=_precision(machine)),
            cache,
            int(cache_gib * GIB),
            offline=offline,
        )
    assert machine is not None
    if spec.is_transformed:
        return _load_transformed(spec, machine, cache, cache_gib, offline=offline)
    if (
        combination := next((name for name in COMBINATION_NAMES if name == spec.kind), None)
    ) is not None:
        parts = [
            load_encoder(part, machine, cache=cache, cache_gib=cache_gib, offline=offline)
            for part in spec.parts
        ]
        return CombinedEncoder(name=spec.name, kind=combination, parts=parts)
    if cache is None or cache_gib == 0:
        return load_plain(spec, machine, offline=offline)
    return load_cached(spec, machine, cache, cache_gib, offline=offline)


def _load_transformed(
    spec: ModelSpec, machine: "Machine", cache: Path | None, cache_gib: float, *, offline: bool
) -> Encoder:
    from embedlab.encoders.transformed import TransformedEncoder  # its files of vectors need polars

    before = spec.untransformed
    similarity = (
        "cosine"
        if before.is_prefixed
        else read_usage(model_folder(before, offline=offline), before.wishes).similarity
    )
    inner = load_encoder(before, machine, cache=cache, cache_gib=cache_gib, offline=offline)
    return TransformedEncoder(spec=spec, inner=inner, similarity=similarity)


def load_cached(
    spec: ModelSpec, machine: "Machine", cache: Path, cache_gib: float, *, offline: bool = False
) -> CachedEncoder:
    """Load the transformer of SPEC with the cache in the folder CACHE; its weights are read at the
    first new sentence.

    These are its vectors before whitening and normalising.
    """
    spec = spec.untransformed
    folder = model_folder(spec, offline=offline)
    usage = read_usage(folder, spec.wishes)
    fingerprint = used_fingerprint(usage, precision=machine.precision)
    dim, limit = vector_dim(usage), int(cache_gib * GIB)
    notes = (*usage.notes, *([spec.note] if spec.note else []))

    def load() -> Embedder:
        if spec.dim is None:
            return load_plain(spec, machine, offline=offline)
        whole = load_cached(replace(spec, dim=None), machine, cache, cache_gib, offline=offline)
        return FirstNumbers(whole, fingerprint=fingerprint, dim=dim)

    return CachedEncoder(
        name=spec.name,
        fingerprint=fingerprint,
        dim=dim,
        facts=EncoderFacts(
            pooling=pooling_label(usage),
            precision="float32" if usage.is_static else usage.reading.dtype or machine.precision,
            max_tokens=None if usage.is_static else usage.reading.max_tokens,
            notes=notes,
        ),
        load=load,
        similarity=usage.similarity,
        cache=EmbeddingCache(cache, fingerprint, dim=dim, limit_bytes=limit, name=spec.name),
    )


def load_plain(
    spec: ModelSpec, machine: "Machine", *, offline: bool = False
) -> "TransformerEncoder | StaticEncoder":
    """The transformer or the static token vectors of SPEC, without a cache."""
    folder = model_folder(spec, offline=offline)
    usage = read_intact_usage(folder, spec.wishes)
    if usage.is_static:
        from embedlab.encoders.static import load_static

        fingerprint = used_fingerprint(usage, precision=machine.precision)
        return load_static(folder, usage, name=spec.name, fingerprint=fingerprint, note=spec.note)
    # torch's models (2 s) are loaded only here: cached vectors do not need them.
    from embedlab.encoders.checkpoint import open_transformer

    return open_transformer(usage, machine, name=spec.name, note=spec.note)


def load_trainable(
    spec: ModelSpec,
    machine: "Machine",
    *,
    max_tokens: int | None = None,
    lora: "Lora | None" = None,
    seed: int = 0,
    offline: bool = False,
) -> "TransformerEncoder":
    """Load the transformer of SPEC without a cache, with LORA to be trained in place of its
    weights; anything else is a UsageError.

    What starts at random is drawn by SEED.
    """
    if not spec.is_transformer:
        raise UsageError(
            f"{spec.name!r} is not a transformer",
            hint="name a run, a folder, a hub id or a published model such as sbert",
        )
    if spec.is_for_evaluation:
        raise UsageError(
            f"{spec.name!r}: {FOR_EVALUATION} are for evaluation; "
            f"trained and exported models have none",
            hint="name the model without them",
        )
    # torch's models (2 s) are loaded only here: cached vectors do not need them.
    from embedlab.encoders.checkpoint import load_transformer

    return load_transformer(
        str(model_folder(spec, offline=offline)),
        machine,
        name=spec.name,
        wishes=replace(spec.wishes, max_tokens=max_tokens or spec.max_tokens),
        revision=spec.revision,
        note=spec.note,
        lora=lora,
        seed=seed,
        offline=offline,
    )


TokensOf = Callable[[str], WeightedTokens]


def token_vectors_of(spec: ModelSpec, settings: Settings) -> TokensOf:
    """Return what gives the token vectors of a sentence by the model SPEC; one whose cosine does
    not add up from them is a UsageError.
    """
    if spec.kind in ("run", "folder", "hub") and spec.whiten is None:
        plain = spec.untransformed
        similarity = read_usage(
            model_folder(plain, offline=settings.offline), plain.wishes
        ).similarity
        if similarity != "cosine":
            raise _refused(spec, f"compares vectors by {similarity}")
        from embedlab.encoders.device import machine

        return load_plain(plain, machine(settings), offline=settings.offline).token_vectors
    if not spec.is_prefixed:
        raise _refused(
            spec,
            "has no token vectors"
            if spec.kind == "dice"
            else "combines the vectors of several models",
        )
    if spec.whiten is not None or spec.prompt:
        raise _refused(
            spec, "whitens its vectors" if spec.whiten is not None else "puts a prompt in front"
        )
    opened = encoder_kind(spec.kind).open(spec.location)
    if not hasattr(opened, "token_vectors"):
        raise _refused(spec, "gives vectors of sentences alone")
    tokens_of: TokensOf = opened.token_vectors
    return tokens_of if spec.dim is None else lambda sentence: _cut(tokens_of(sentence), spec.dim)


def _cut(tokens: WeightedTokens, dim: int | None) -> WeightedTokens:
    return replace(tokens, vectors=tokens.vectors[:, :dim])


def _refused(spec: ModelSpec, why: str) -> UsageError:
    message = f"{spec.name!r} {why}: its similarity is not a sum over pairs of tokens"
    return UsageError(message, hint="--view effects leaves out words, which fits every model")
