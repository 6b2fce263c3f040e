"""Contrast of pairs that are labelled as duplicates or not: chen's pre-training on Quora."""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.objectives.duplicate_contrastive.options import Options
from embedlab.objectives.in_batch_contrastive.loss import projection
from embedlab.objectives.objective import Objective


def duplicate_loss(
    first: Tensor, second: Tensor, is_duplicate: Tensor, *, temperature: float
) -> Tensor:
    """Mean over pairs of ±(−log softmax) of each first sentence picking its second one: minimised
    for duplicates, maximised for others.

    first, second: (pairs, dim), not normalised; is_duplicate: (pairs,) of 0 and 1. The cosine
    bounds it on both sides.
    """
    similarity = F.normalize(first) @ F.normalize(second).T
    targets = torch.arange(len(first), device=first.device)
    losses = F.cross_entropy(similarity / temperature, targets, reduction="none")
    return (losses * (2 * is_duplicate - 1)).mean()


class DuplicateContrastive(Objective):
    """Duplicates are pulled together among the batch's sentences, other pairs are pushed apart.

    Formula: l_i = −log( exp(cos(a_i, b_i)/τ) / Σ_j exp(cos(a_i, b_j)/τ) ); mean of l_i over
    duplicates and −l_i over the others. Columns: sentence1, sentence2, is_duplicate; with `others`
    "leave-out" only duplicates are read. Source: chen, supervised contrastive pre-training and
    table 4. The projection is discarded afterwards. Differs from the paper in: nothing known; a
    sentence that occurs twice in a batch is encoded once.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.projection = projection(options.projection, dim)

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over the batch's pairs."""
        vectors = self.projection(vectors)
        first, second = vectors[columns["sentence1"]], vectors[columns["sentence2"]]
        labels = (
            columns["is_duplicate"]
            if "is_duplicate" in columns
            else torch.ones(len(first), device=first.device)
        )
        return duplicate_loss(first, second, labels, temperature=self.options.temperature)
