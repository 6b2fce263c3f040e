"""Cross-entropy or squared error of a linear layer: fine-tuning, fine-tuning on dropout views, and the second stage of SupCL-Seq."""

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.objectives.classification.options import Options
from embedlab.objectives.objective import Objective, views_of_rows


class Classification(Objective):
    """Cross-entropy of a text's class, or squared error of its score.

    Formula: −log softmax(W dropout(v) + b)[label], or (w·dropout(v) + b − gold)², mean over texts and views.
    Columns: sentence, label; or sentence1, sentence2, and label or gold, with the pair encoded together.
    Source: Devlin et al. 2019 (fine-tuning); sedghamiz, "dropout augmented" and the linear layer on the frozen encoder.
    Differs from the paper in: BERT's pooler between vector and linear layer is there with the pooling `pooler` alone. The
    frozen encoder runs without dropout: the paper does not say.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.frozen = "encoder" if options.frozen else "nothing"
        self.views = (0.0,) if options.frozen else options.dropout or (None,)
        self.head = nn.Linear(dim, 1 if options.classes == "score" else len(options.classes))

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over all views of the batch's texts."""
        views = views_of_rows(vectors, columns, len(self.views)).flatten(0, 1)
        logits = self.head(F.dropout(views, self.options.head_dropout, self.training))
        if self.options.classes == "score":
            return F.mse_loss(logits.squeeze(1), columns["gold"].repeat(len(self.views)))
        return F.cross_entropy(logits, columns["label"].repeat(len(self.views)))
