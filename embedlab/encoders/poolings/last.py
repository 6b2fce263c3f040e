"""The vector of the last token."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_last(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the last token's vector, (batch, dim); a row without any gives zeros."""
    present = mask > 0
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    last = tokens[
        torch.arange(len(tokens), device=tokens.device), (present * positions).argmax(dim=1)
    ]
    return torch.where(present.any(dim=1, keepdim=True), last, 0)


POOLING = PoolingMethod(pool=pool_last, exported_as="lasttoken")
