"""Whether two sentences are paraphrases: one of chen's three tasks."""

from collections.abc import Mapping
from functools import cache

from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = (
    "a bilinear form of two transformed vectors predicts whether the sentences are paraphrases"
)


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen


def needs(_: Options) -> Needs:
    """Pairs that are duplicates or not."""
    return Needs(sentences=("sentence1", "sentence2"), classes={"is_duplicate": ("0", "1")})


@cache
def objective() -> type:
    """Binary cross-entropy of a bilinear form.

    Formula: logit = dropout(f(u))ᵀ B dropout(f(v)) + b; mean over the pairs; f are the additional
    layers. Columns: sentence1, sentence2, is_duplicate. Source: chen, paraphrase head. Differs from
    the paper in: the layers' activation is not named there; here it is ReLU. Dropout comes before
    each linear layer there; the bilinear form, linear in both vectors, is taken for one.
    """
    import torch.nn.functional as F
    from torch import Tensor, nn

    from embedlab.objectives.objective import Objective, task_layers

    class ParaphraseHead(Objective):
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

        def predict(self, first: Tensor, second: Tensor) -> Tensor:
            """The probability that they are paraphrases; (pairs,)."""
            return self.logits(first, second).sigmoid()

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The mean over the batch's pairs."""
            logits = self.logits(vectors[columns["sentence1"]], vectors[columns["sentence2"]])
            return F.binary_cross_entropy_with_logits(logits, columns["is_duplicate"].float())

    return ParaphraseHead
