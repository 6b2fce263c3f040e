"""Whether two sentences are paraphrases: one of chen's three tasks."""

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.objectives.objective import Objective, task_layers
from embedlab.objectives.paraphrase_head.options import Options


class ParaphraseHead(Objective):
    """Binary cross-entropy of a bilinear form.

    Formula: logit = dropout(f(u))ᵀ B dropout(f(v)) + b; mean over the pairs; f are the additional
    layers. Columns: sentence1, sentence2, is_duplicate. Source: chen, paraphrase head. Differs from
    the paper in: the layers' activation is not named there; here it is ReLU. Dropout comes before
    each linear layer there; the bilinear form, linear in both vectors, is taken for one.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.layers = task_layers(options.layers, dim, options.dropout)
        self.dropout = nn.Dropout(options.dropout)
        self.bilinear = nn.Bilinear(dim, dim, 1)

    def logits(self, first: Tensor, second: Tensor) -> Tensor:
        """(pairs,); above 0 for paraphrases."""
        logits: Tensor = self.bilinear(
            self.dropout(self.layers(first)), self.dropout(self.layers(second))
        )
        return logits.squeeze(-1)

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over the batch's pairs."""
        logits = self.logits(vectors[columns["sentence1"]], vectors[columns["sentence2"]])
        return F.binary_cross_entropy_with_logits(logits, columns["is_duplicate"].float())
