"""The mean over all tokens but the first."""

from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod
from embedlab.encoders.poolings.mean import pool_mean


def pool_mean_without_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over all tokens but the first; a row of nothing but [CLS] gives zeros."""
    return pool_mean(tokens[:, 1:], mask[:, 1:])


# There is no mean without [CLS] in sentence-transformers: words are weighted, [CLS] with 0, before
# the mean.
POOLING = PoolingMethod(pool=pool_mean_without_cls, exported_as="mean", unweighted="cls_token")
