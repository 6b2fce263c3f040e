"""The mean in which later tokens count more."""

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod
from embedlab.encoders.poolings.mean import pool_mean


def pool_weighted_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens, each with its position, counted from 1, as its weight
    (Muennighoff 2022, SGPT).
    """
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return pool_mean(tokens, (mask * positions).to(tokens.dtype))


POOLING = PoolingMethod(pool=pool_weighted_mean, exported_as="weightedmean")
