"""The classifier on a pair of sentence vectors, [u; v; |u−v|] as in SBERT."""

from collections import OrderedDict

import torch
from torch import Tensor, nn

from embedlab.objectives.nli import HeadKind


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u−v|] of each pair; (pairs, dim) twice gives (pairs, 3 dim)."""
    return torch.cat([first, second, (first - second).abs()], dim=-1)


def pair_head(kind: HeadKind, dim: int, classes: int) -> nn.Module:
    """Logits of CLASSES from the features of a pair.

    "linear" is SBERT's single layer. "two-layer" is liao's "two-layer softmax"; the paper names neither width nor
    activation: the width is the authors' code's (1536 → 768 → 3 at dim 512), tanh is ours, for their code puts
    nothing between the layers, which makes the two layers one.
    """
    if kind == "linear":
        return nn.Linear(3 * dim, classes)
    width = 3 * dim // 2
    return nn.Sequential(OrderedDict(hidden=nn.Linear(3 * dim, width), activation=nn.Tanh(), output=nn.Linear(width, classes)))
