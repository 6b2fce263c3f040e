"""The sentiment of a sentence: one of chen's three tasks."""

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.objectives.objective import Objective, task_layers
from embedlab.objectives.sentiment_head.options import SENTIMENT_CLASSES, Options


class SentimentHead(Objective):
    """Cross-entropy of a sentence's sentiment.

    Formula: −log softmax(W dropout(f(v)) + b)[label], mean over the sentences; f are the additional
    layers. Columns: sentence, label (0 very negative … 4 very positive). Source: chen, sentiment
    head; without layers it is the paper's baseline. Differs from the paper in: the layers'
    activation is not named there; here it is ReLU.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.layers = task_layers(options.layers, dim, options.dropout)
        self.dropout = nn.Dropout(options.dropout)
        self.head = nn.Linear(dim, len(SENTIMENT_CLASSES))

    def logits(self, vectors: Tensor) -> Tensor:
        """(sentences, 5)."""
        logits: Tensor = self.head(self.dropout(self.layers(vectors)))
        return logits

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over the batch's sentences."""
        return F.cross_entropy(self.logits(vectors[columns["sentence"]]), columns["label"])
