"""The sentiment of a sentence: one of chen's three tasks."""

from collections.abc import Mapping
from functools import cache

from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = "a separate head predicts the sentiment of a sentence in five classes"

SENTIMENT_CLASSES = ("0", "1", "2", "3", "4")  # very negative … very positive


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen


def needs(_: Options) -> Needs:
    """Sentences with a sentiment."""
    return Needs(sentences=("sentence",), classes={"label": SENTIMENT_CLASSES})


@cache
def objective() -> type:
    """Cross-entropy of a sentence's sentiment.

    Formula: −log softmax(W dropout(f(v)) + b)[label], mean over the sentences; f are the additional
    layers. Columns: sentence, label (0 very negative … 4 very positive). Source: chen, sentiment
    head; without layers it is the paper's baseline. Differs from the paper in: the layers'
    activation is not named there; here it is ReLU.
    """
    import torch.nn.functional as F
    from torch import Tensor, nn

    from embedlab.objectives.objective import Objective, task_layers

    class SentimentHead(Objective):
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

        def predict(self, vectors: Tensor) -> Tensor:
            """The probability of each sentiment; (sentences, 5)."""
            return self.logits(vectors).softmax(dim=-1)

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The mean over the batch's sentences."""
            return F.cross_entropy(self.logits(vectors[columns["sentence"]]), columns["label"])

    return SentimentHead
