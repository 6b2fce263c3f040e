"""How the token vectors of a sentence become one: functions of (batch, tokens, dim) and a (batch, tokens) mask of 0 and 1."""

from collections.abc import Callable

import torch
from torch import Tensor

from embedlab.core.recipe import Pooling


def pool_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """The first token's vector; (batch, dim)."""
    return tokens[:, 0]


def pool_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Mean over the tokens that are there, special ones included; a row without any gives zeros."""
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    # where, not only a product: what stands at a padded place may be anything, infinite too.
    total = torch.where(weights > 0, tokens, 0).sum(dim=1)
    return total / weights.sum(dim=1).clamp(min=1)


def pool_mean_without_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """Mean over all tokens but the first; a row of nothing but [CLS] gives zeros."""
    return pool_mean(tokens[:, 1:], mask[:, 1:])


def pool_max(tokens: Tensor, mask: Tensor) -> Tensor:
    """Largest value of each dimension over the tokens that are there; a row without any gives zeros."""
    there = mask.unsqueeze(-1) > 0
    largest = tokens.masked_fill(~there, -torch.inf).amax(dim=1)
    return torch.where(there.any(dim=1), largest, 0)


POOLINGS: dict[Pooling, Callable[[Tensor, Tensor], Tensor]] = {
    "cls": pool_cls,
    "mean": pool_mean,
    "mean-without-cls": pool_mean_without_cls,
    "max": pool_max,
}
