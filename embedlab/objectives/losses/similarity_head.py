"""Graded similarity: one of chen's three tasks."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = "the cosine of two transformed vectors learns graded similarity"

Sharing = Literal["first-layer", "whole", "separate"]


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen
    # the additional layers that are those of the recipe's paraphrase_head; chen table 3:
    # first-layer
    sharing: Sharing = "separate"
    highest: Positive = 5.0  # the gold score that corresponds to cosine 1


def needs(options: Options) -> Needs:
    """Pairs with a gold score; without additional layers there is no linear layer for the dropout
    to come before.
    """
    inert_options = {"dropout": "0.0"} if options.layers == "none" and options.dropout else {}
    return Needs(
        sentences=("sentence1", "sentence2"),
        numbers=("gold",),
        largest=options.highest,
        scale_option="highest",
        inert_options=inert_options,
    )


@cache
def objective() -> type:
    """Squared error of the cosine of two transformed vectors.

    Formula: (cos(f(u), f(v)) − gold/highest)², mean over the pairs; f are the additional layers, of
    which the first or both may be the paraphrase head's. Columns: sentence1, sentence2, gold.
    Source: chen, similarity head and table 3. Differs from the paper in: it says neither the loss
    nor the layers' activation; squared error and ReLU are ours.
    """
    import torch.nn.functional as F
    from torch import Tensor, nn

    from embedlab.objectives.losses import paraphrase_head
    from embedlab.objectives.objective import Objective, task_layers

    class SimilarityHead(Objective):
        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options
            self.layers = task_layers(options.layers, dim, options.dropout)

        def share(self, others: Sequence[Objective]) -> None:
            """Take the paraphrase head's first layer, or all its layers; a recipe without such
            layers is refused.
            """
            if self.options.sharing == "separate":
                return
            kind = paraphrase_head.objective()
            shared_layers = next(
                (other.layers for other in others if isinstance(other, kind)), None
            )
            if not isinstance(shared_layers, nn.Sequential) or not isinstance(
                self.layers, nn.Sequential
            ):
                raise UsageError(
                    f"similarity_head shares {self.options.sharing!r} with a paraphrase_head of "
                    f"two layers, which the recipe does not have",
                    hint="set the option sharing of similarity_head to separate",
                )
            self.layers.first = shared_layers.first
            if self.options.sharing == "whole":
                self.layers.second = (
                    shared_layers.second
                )  # the layers are one, the dropout before them stays this head's own

        def predict(self, first: Tensor, second: Tensor) -> Tensor:
            """The cosine of each pair; (pairs,)."""
            return F.cosine_similarity(self.layers(first), self.layers(second))

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The mean over the batch's pairs."""
            similarities = self.predict(
                vectors[columns["sentence1"]], vectors[columns["sentence2"]]
            )
            return F.mse_loss(similarities, columns["gold"] / self.options.highest)

    return SimilarityHead
