"""The mean over all tokens."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens that are not padding, special ones included; a row without any gives zeros."""
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    # where, not only a product: the value at a padded place may be anything, infinite too.
    total = torch.where(weights > 0, tokens, 0).sum(dim=1)
    return total / weights.sum(dim=1).clamp(min=1)


POOLING = PoolingMethod(pool=pool_mean, exported_as="mean")
