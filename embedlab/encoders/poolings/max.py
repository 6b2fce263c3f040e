"""The largest value of each dimension over all tokens."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_max(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the largest value of each dimension over the tokens that are not padding; a row
    without any gives zeros.
    """
    present = mask.unsqueeze(-1) > 0
    largest = tokens.masked_fill(~present, -torch.inf).amax(dim=1)
    return torch.where(present.any(dim=1), largest, 0)


POOLING = PoolingMethod(pool=pool_max, exported_as="max")
