"""The sum over all tokens divided by the square root of their number."""

from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod
from embedlab.encoders.poolings.mean import count, total


def pool_mean_sqrt_length(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the sum over the tokens divided by the square root of their number, or of the sum of
    their weights.
    """
    return total(tokens, mask) / count(tokens, mask).sqrt()


POOLING = PoolingMethod(pool=pool_mean_sqrt_length, exported_as="mean_sqrt_len_tokens")
