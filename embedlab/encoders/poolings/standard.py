"""The poolings that embedlab ships, from (batch, tokens, dim) and a mask to (batch, dim)."""

from dataclasses import replace

import torch
from torch import Tensor

from embedlab.encoders.pooling import PoolingMethod

PLUGINS = {
    "poolings": {
        "cls": "CLS",
        "last": "LAST",
        "max": "MAX",
        "mean": "MEAN",
        "mean-sqrt-length": "MEAN_SQRT_LENGTH",
        "mean-without-cls": "MEAN_WITHOUT_CLS",
        "pooler": "POOLER",
        "weighted-mean": "WEIGHTED_MEAN",
    }
}


def pool_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the first token's vector."""
    return tokens[:, 0]


def pool_last(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the last token's vector; a row without any gives zeros."""
    is_token = mask > 0
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    rows = torch.arange(len(tokens), device=tokens.device)
    last_vectors = tokens[rows, (is_token * positions).argmax(dim=1)]
    return torch.where(is_token.any(dim=1, keepdim=True), last_vectors, 0)


def pool_max(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the largest value of each dimension over the tokens that are not padding; a row
    without any gives zeros.
    """
    is_token = mask.unsqueeze(-1) > 0
    largest = tokens.masked_fill(~is_token, -torch.inf).amax(dim=1)
    return torch.where(is_token.any(dim=1), largest, 0)


def pool_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens, special ones included, each with its weight; a row without
    any gives zeros.
    """
    return total(tokens, mask) / count(tokens, mask)


def total(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the sum of the tokens, weighted where the mask holds weights."""
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    # where, not only a product: the value at a padded place may be anything, infinite too.
    counted = torch.where(weights != 0, tokens, 0)
    return (counted * weights if mask.is_floating_point() else counted).sum(dim=1)


def count(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the number of tokens, or the sum of their weights, never 0; (batch, 1)."""
    minimum = 1e-9 if mask.is_floating_point() else 1
    return mask.to(tokens.dtype).sum(dim=1, keepdim=True).clamp(min=minimum)


def pool_mean_sqrt_length(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the sum over the tokens divided by the square root of their number, or of the sum of
    their weights.
    """
    return total(tokens, mask) / count(tokens, mask).sqrt()


def pool_mean_without_cls(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over all tokens but the first; a row of nothing but [CLS] gives zeros."""
    return pool_mean(tokens[:, 1:], mask[:, 1:])


def pool_weighted_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens, each with its position, counted from 1, as its weight
    (Muennighoff 2022, SGPT).
    """
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return pool_mean(tokens, (mask * positions).to(tokens.dtype))


CLS = PoolingMethod(pool=pool_cls, is_first_only=True, exported_as="cls")
LAST = PoolingMethod(pool=pool_last, exported_as="lasttoken")
MAX = PoolingMethod(pool=pool_max, exported_as="max")
MEAN = PoolingMethod(pool=pool_mean, exported_as="mean")
MEAN_SQRT_LENGTH = PoolingMethod(pool=pool_mean_sqrt_length, exported_as="mean_sqrt_len_tokens")
# There is no mean without [CLS] in sentence-transformers: words are weighted, [CLS] with 0, before
# the mean.
MEAN_WITHOUT_CLS = PoolingMethod(
    pool=pool_mean_without_cls, exported_as="mean", unweighted="cls_token"
)
# A linear layer and tanh follow, BERT's own pooler; a saved model states the first token, then a
# Dense module.
POOLER = replace(CLS, has_pooler=True, saved_as="cls")
WEIGHTED_MEAN = PoolingMethod(pool=pool_weighted_mean, exported_as="weightedmean")
