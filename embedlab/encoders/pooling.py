"""The contract of poolings, which make one vector of a sentence's token vectors, and their lookup
by name.

Each file of the folder `poolings` is one and has a `POOLING`; a plug-in is the same, or its
function alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from embedlab.core import plugins
from embedlab.core.errors import UsageError
from embedlab.models.modules import BETWEEN, pooling_parts


@dataclass(frozen=True, kw_only=True)
class PoolingMethod:
    """A pooling, and what other programs and the engine know of it."""

    # makes vectors, (batch, dim), of token vectors, (batch, tokens, dim), and a mask, (batch,
    # tokens), which is 0 where a token is padding or not pooled, otherwise 1, or its weight
    pool: Callable[[Tensor, Tensor], Tensor]
    is_first_only: bool = False  # whether it reads the first token alone
    # sentence-transformers' mode that computes the same; None: it has none
    exported_as: str | None = None
    # the special token, as tokenizers name it, that has weight 0 there
    unweighted: str | None = None
    has_pooler: bool = False  # the model's own pooler, a linear layer and tanh, follows
    saved_as: str | None = None  # the pooling that a saved model states; None: this one


def pooling_method(name: str) -> PoolingMethod:
    """Return the pooling called NAME."""
    plugin = plugins.require("poolings", name)
    loaded = plugin.load()
    if callable(loaded):
        return PoolingMethod(pool=loaded)
    return plugin.check_instance(loaded, PoolingMethod)


def combined_pooling(names: str, *, skips_prompt: bool) -> PoolingMethod:
    """Return one pooling, or several joined by "+" whose vectors are concatenated; SKIPS_PROMPT
    where a mask begins with zeros.
    """
    methods = [pooling_method(name) for name in pooling_parts(names)]
    functions = [
        pool_first if method.is_first_only and skips_prompt else method.pool for method in methods
    ]
    if len(functions) == 1:
        return PoolingMethod(
            pool=functions[0], is_first_only=methods[0].is_first_only and not skips_prompt
        )
    return PoolingMethod(
        pool=lambda tokens, mask: torch.cat(
            [function(tokens, mask) for function in functions], dim=-1
        )
    )


def pools_by_pooler(names: str) -> bool:
    """Return whether the model's own pooler follows the pooling NAMES; beside another pooling it is
    a UsageError.
    """
    methods = {name: pooling_method(name) for name in pooling_parts(names)}
    pooler = next((name for name, method in methods.items() if method.has_pooler), None)
    if pooler is not None and len(methods) > 1:
        raise UsageError(
            f"pooling {names!r}: {pooler!r} cannot be joined with another pooling",
            hint="join cls instead",
        )
    return pooler is not None


def saved_pooling(names: str) -> str:
    """Return the pooling NAMES as a saved model states it."""
    return BETWEEN.join(pooling_method(name).saved_as or name for name in pooling_parts(names))


def pool_first(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the vector of the first token that is pooled; (batch, dim)."""
    return tokens[torch.arange(len(tokens), device=tokens.device), (mask > 0).int().argmax(dim=1)]
