"""How the token vectors of a sentence become one: the contract of a pooling, and how one is found by its name.

Each file of the folder `poolings` is one and has a `POOLING`; a plug-in is the same, or its function alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from embedlab.core import plugins

PoolFunction = Callable[[Tensor, Tensor], Tensor]
"""From token vectors, (batch, tokens, dim), and a mask of 0 and 1, (batch, tokens), to vectors, (batch, dim)."""


@dataclass(frozen=True, kw_only=True)
class PoolingMethod:
    """A pooling, and what other programs and the engine know of it."""

    pool: PoolFunction
    is_first_only: bool = False  # whether it reads the first token alone
    exported_as: str | None = None  # sentence-transformers' mode that computes the same; None: it has none
    unweighted: str | None = None  # the special token, as tokenizers name it, that has weight 0 there


def pooling_method(name: str) -> PoolingMethod:
    """Return the pooling called NAME."""
    plugin = plugins.get("poolings", name)
    found = plugin.load()
    if callable(found):
        return PoolingMethod(pool=found)
    return plugin.checked(found, PoolingMethod)
