"""The layers between sentence vectors and what they predict: the classifier on a pair, and the two
layers that tasks may share.
"""

from collections import OrderedDict

import torch
from torch import Tensor, nn

from embedlab.objectives.labelled import Layers
from embedlab.objectives.nli import HeadKind


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u−v|] of each pair; (pairs, dim) twice gives (pairs, 3 dim)."""
    return torch.cat([first, second, (first - second).abs()], dim=-1)


def pair_head(kind: HeadKind, dim: int, classes: int) -> nn.Module:
    """Logits of CLASSES from the features of a pair.

    "linear" is SBERT's single layer. "two-layer" is liao's "two-layer softmax"; the paper names
    neither width nor activation: the width is the authors' code's (1536 → 768 → 3 at dim 512), tanh
    is ours, for their code puts nothing between the layers, which makes the two layers one:
    "two-linear".
    """
    if kind == "linear":
        return nn.Linear(3 * dim, classes)
    width = 3 * dim // 2
    hidden, output = nn.Linear(3 * dim, width), nn.Linear(width, classes)
    between = {"activation": nn.Tanh()} if kind == "two-layer" else {}
    return nn.Sequential(OrderedDict(hidden=hidden, **between, output=output))


class TaskLayers(nn.Module):
    """Dropout, linear, ReLU, dropout, linear, all as wide as the vector; chen does not name the
    activation.
    """

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(dim, dim)
        self.activation = nn.ReLU()
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Linear(dim, dim)

    def forward(self, vectors: Tensor) -> Tensor:
        """Transformed vectors; (sentences, dim) in and out."""
        transformed: Tensor = self.second(
            self.dropout(self.activation(self.first(self.dropout(vectors))))
        )
        return transformed


def task_layers(kind: Layers, dim: int, dropout: float) -> nn.Module:
    """The additional layers of a task's head; with "none" the vectors go on as they are."""
    return TaskLayers(dim, dropout) if kind == "two-layer" else nn.Identity()
