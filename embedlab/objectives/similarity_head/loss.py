"""Graded similarity: one of chen's three tasks."""

from collections.abc import Mapping, Sequence

import torch.nn.functional as F
from torch import Tensor

from embedlab.core.errors import UsageError
from embedlab.objectives.objective import Objective, TaskLayers, task_layers
from embedlab.objectives.paraphrase_head.loss import ParaphraseHead
from embedlab.objectives.similarity_head.options import Options


class SimilarityHead(Objective):
    """Squared error of the cosine of two transformed vectors.

    Formula: (cos(f(u), f(v)) − gold/highest)², mean over the pairs; f are the additional layers, of
    which the first or both may be the paraphrase head's. Columns: sentence1, sentence2, gold.
    Source: chen, similarity head and table 3. Differs from the paper in: it says neither the loss
    nor the layers' activation; squared error and ReLU are ours.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.layers = task_layers(options.layers, dim, options.dropout)

    def share(self, others: Sequence[Objective]) -> None:
        """Take the paraphrase head's first layer, or all its layers; a recipe without such layers
        is refused.
        """
        if self.options.sharing == "separate":
            return
        theirs = next((other.layers for other in others if isinstance(other, ParaphraseHead)), None)
        if not isinstance(theirs, TaskLayers) or not isinstance(self.layers, TaskLayers):
            raise UsageError(
                f"similarity_head shares {self.options.sharing!r} with a paraphrase_head of "
                f"two layers, which the recipe does not have",
                hint="set the option sharing of similarity_head to separate",
            )
        self.layers.first = theirs.first
        if self.options.sharing == "whole":
            self.layers.second = (
                theirs.second
            )  # the layers are one, the dropout before them stays this head's own

    def similarity(self, first: Tensor, second: Tensor) -> Tensor:
        """The cosine of each pair; (pairs,)."""
        return F.cosine_similarity(self.layers(first), self.layers(second))

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over the batch's pairs."""
        similarities = self.similarity(vectors[columns["sentence1"]], vectors[columns["sentence2"]])
        return F.mse_loss(similarities, columns["gold"] / self.options.highest)
