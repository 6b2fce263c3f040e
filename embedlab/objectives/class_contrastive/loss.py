"""Supervised contrast of texts by their class over dropout views: SupCL-Seq."""

from collections.abc import Mapping
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from embedlab.objectives.class_contrastive.options import Options
from embedlab.objectives.objective import Objective, views_of_rows


def class_contrastive_loss(
    vectors: Tensor,
    labels: Tensor,
    *,
    temperature: float,
    reduction: Literal["mean", "sum"] = "mean",
) -> Tensor:
    """Mean or sum over vectors of the mean over the others of their class of −log softmax over all
    others (Khosla 2020, eq. 2).

    vectors: (vectors, dim), not normalised; labels: (vectors,). A vector alone in its class is not
    an anchor; without any anchor the loss is 0, still part of the graph.
    """
    vectors = F.normalize(vectors)
    is_self = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    scores = vectors @ vectors.T / temperature
    surprise = scores.masked_fill(is_self, float("-inf")).logsumexp(dim=1, keepdim=True) - scores
    positives = (labels.unsqueeze(0) == labels.unsqueeze(1)) & ~is_self
    counts = positives.sum(dim=1)
    terms = surprise.masked_fill(~positives, 0.0).sum(dim=1) / counts.clamp(min=1)
    return terms.sum() if reduction == "sum" else terms.sum() / (counts > 0).sum().clamp(min=1)


def tenths(gold: Tensor) -> Tensor:
    """The class of each gold score: the score rounded to a tenth, counted in tenths."""
    return (10 * gold).round().long()


class ClassContrastive(Objective):
    """Every text is encoded once with each dropout rate; all views of all texts of a class are
    positives of each other.

    Formula: Khosla's supervised contrastive loss on cosines over views x texts, its anchors summed
    or averaged (`reduction`). Columns: sentence, label; or sentence1, sentence2, and label or gold,
    with the pair encoded together; without labels where `classes` is "none" and only the views of a
    text belong together. Source: sedghamiz (SupCL-Seq), eq. 1 and table 4. Differs from the paper
    in: nothing known with `reduction` "sum". The authors' code encodes other views (`rates`
    "coded"), averages over the anchors, multiplies the loss by τ/0.07 (`scale`), and does not round
    STS-B's scores (`classes` "exact").
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.views = options.views
        self.is_sum = options.reduction == "sum"

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The sum or mean over all views of the batch's texts."""
        views = views_of_rows(vectors, columns, len(self.views))
        labels = self._classes(columns, views.shape[1]).to(views.device).repeat(len(self.views))
        loss = class_contrastive_loss(
            views.flatten(0, 1),
            labels,
            temperature=self.options.temperature,
            reduction=self.options.reduction or "mean",
        )
        return loss if self.options.scale is None else loss * self.options.scale

    def _classes(self, columns: Mapping[str, Tensor], rows: int) -> Tensor:
        match self.options.classes:
            case "tenths":
                return tenths(columns["gold"])
            case "exact":
                classes: Tensor = torch.unique(columns["gold"], return_inverse=True)[1]
                return classes
            case "none":
                return torch.arange(rows)
            case _:
                return columns["label"]
