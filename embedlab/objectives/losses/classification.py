"""Cross-entropy or squared error of a linear layer: fine-tuning, fine-tuning on dropout views, and
the second stage of SupCL-Seq.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Literal

import numpy as np
from annotated_types import Len
from numpy.typing import NDArray

from embedlab.core.recipe import Share
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs, labelled_needs

SUMMARY = (
    "a linear layer predicts the class or the score of a text, with the encoder or on top of "
    "a frozen one"
)


@table
class Options:
    """What a recipe may say of this objective."""

    classes: Annotated[tuple[str, ...], Len(2)] | Literal["score"] = (
        "0",
        "1",
    )  # the labels; "score": a gold score, by squared error
    joint: bool = False  # pairs, encoded together
    frozen: bool = False  # only the linear layer is trained, on vectors without dropout
    dropout: tuple[
        Share, ...
    ] = ()  # one view for each rate, "dropout augmented"; empty: the encoder's own rates once
    head_dropout: Share = 0.1  # before the linear layer; BERT's own
    standardise: bool | None = (
        # of a frozen encoder: the layer reads each dimension with mean 0 and deviation 1; absent =
        # as it is
        None
    )


def needs(options: Options) -> Needs:
    """Labelled sentences or pairs, or pairs with a gold score; a frozen encoder has one view,
    without dropout.
    """
    inert_options = {"dropout": "[]"} if options.frozen and options.dropout else {}
    inert_options |= {"standardise": "false"} if options.standardise and not options.frozen else {}
    return replace(
        labelled_needs(options.classes, joint=options.joint),
        inert_options=inert_options,
        fixed_vectors=bool(options.standardise),
    )


@cache
def objective() -> type:
    """Cross-entropy of a text's class, or squared error of its score.

    Formula: −log softmax(W dropout(v) + b)[label], or (w·dropout(v) + b − gold)², mean over texts
    and views. Columns: sentence, label; or sentence1, sentence2, and label or gold, with the pair
    encoded together. Source: Devlin et al. 2019 (fine-tuning); sedghamiz, "dropout augmented" and
    the linear layer on the frozen encoder. Differs from the paper in: BERT's pooler between vector
    and linear layer is there with the pooling `pooler` alone. The frozen encoder runs without
    dropout: the paper does not say. `standardise` is ours.
    """
    import torch
    import torch.nn.functional as F
    from torch import Tensor, nn

    from embedlab.objectives.objective import Objective, views_of_rows

    class Classification(Objective):
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
            """Take the mean and deviation of each dimension of VECTORS, (texts, dim), where the
            layer reads standardised ones.
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

    return Classification
