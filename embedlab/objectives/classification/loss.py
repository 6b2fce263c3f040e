"""Cross-entropy or squared error of a linear layer: fine-tuning, fine-tuning on dropout views, and
the second stage of SupCL-Seq.
"""

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from embedlab.objectives.classification.options import Options
from embedlab.objectives.objective import Objective, views_of_rows


class Classification(Objective):
    """Cross-entropy of a text's class, or squared error of its score.

    Formula: −log softmax(W dropout(v) + b)[label], or (w·dropout(v) + b − gold)², mean over texts
    and views. Columns: sentence, label; or sentence1, sentence2, and label or gold, with the pair
    encoded together. Source: Devlin et al. 2019 (fine-tuning); sedghamiz, "dropout augmented" and
    the linear layer on the frozen encoder. Differs from the paper in: BERT's pooler between vector
    and linear layer is there with the pooling `pooler` alone. The frozen encoder runs without
    dropout: the paper does not say. `standardise` is ours.
    """

    middle: Tensor
    deviation: Tensor

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.frozen = "encoder" if options.frozen else "nothing"
        self.views = (0.0,) if options.frozen else options.dropout or (None,)
        self.head = nn.Linear(dim, 1 if options.classes == "score" else len(options.classes))
        if options.standardise:
            self.register_buffer("middle", torch.zeros(dim))
            self.register_buffer("deviation", torch.ones(dim))

    def fit_vectors(self, vectors: NDArray[np.float32]) -> None:
        """Take the mean and deviation of each dimension of VECTORS, (texts, dim), where the layer
        reads standardised ones.
        """
        if self.options.standardise:
            values = torch.from_numpy(vectors).double()
            deviation = values.std(dim=0, correction=0)
            self.middle.copy_(values.mean(dim=0))
            self.deviation.copy_(torch.where(deviation > 0, deviation, 1.0))

    @torch.no_grad()
    def linear(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of the layer for vectors as the encoder gives them."""
        weight, bias = self.head.weight.double(), self.head.bias.double()
        if self.options.standardise:
            weight = weight / self.deviation.double()
            bias = bias - weight @ self.middle.double()
        return weight.float(), bias.float()

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over all views of the batch's texts."""
        views = views_of_rows(vectors, columns, len(self.views)).flatten(0, 1)
        if self.options.standardise:
            views = (views - self.middle) / self.deviation
        logits = self.head(F.dropout(views, self.options.head_dropout, self.training))
        if self.options.classes == "score":
            return F.mse_loss(logits.squeeze(1), columns["gold"].repeat(len(self.views)))
        return F.cross_entropy(logits, columns["label"].repeat(len(self.views)))
