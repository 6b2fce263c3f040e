"""The token vectors that the vector of a sentence is the sum of, for models whose vectors are such
sums.
"""

from collections.abc import Callable
from dataclasses import replace

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.device import machine
from embedlab.encoders.loading import load_plain
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import encoder_kind
from embedlab.models.folder import read_usage
from embedlab.models.location import model_folder

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
