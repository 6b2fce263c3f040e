"""The vector of the first token."""

from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod


def pool_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the first token's vector; (batch, dim)."""
    return tokens[:, 0]


POOLING = PoolingMethod(pool=pool_cls, is_first_only=True, exported_as="cls")
