"""The mean over all tokens."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens, special ones included, each with its weight; a row without
    any gives zeros.
    """
    return total(tokens, mask) / count(tokens, mask)


def total(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the sum of the tokens, weighted where the mask holds weights; (batch, dim)."""
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    # where, not only a product: the value at a padded place may be anything, infinite too.
    counted = torch.where(weights != 0, tokens, 0)
    return (counted * weights if mask.is_floating_point() else counted).sum(dim=1)


def count(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the number of tokens, or the sum of their weights, never 0; (batch, 1)."""
    return (
        mask.to(tokens.dtype)
        .sum(dim=1, keepdim=True)
        .clamp(min=1e-9 if mask.is_floating_point() else 1)
    )


POOLING = PoolingMethod(pool=pool_mean, exported_as="mean")
