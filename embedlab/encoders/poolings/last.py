"""The vector of the last token."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_last(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the last token's vector; (batch, dim)."""
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return tokens[torch.arange(len(tokens), device=tokens.device), ((mask > 0) * positions).argmax(dim=1)]


POOLING = PoolingMethod(pool=pool_last, exported_as="lasttoken")
