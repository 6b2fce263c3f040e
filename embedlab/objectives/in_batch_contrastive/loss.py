"""Contrast of each anchor's positive with the others of the batch: unsupervised and supervised
SimCSE.
"""

from collections import OrderedDict
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.objectives.in_batch_contrastive.options import Options, Projection
from embedlab.objectives.objective import Objective, views_of_rows


def in_batch_loss(anchors: Tensor, candidates: Tensor, *, temperature: float) -> Tensor:
    """Cross-entropy of each anchor picking its own positive among the candidates, by cosine.

    anchors: (anchors, dim); candidates: (at least as many, dim), the positive of anchor i in row i.
    """
    similarity = F.normalize(anchors) @ F.normalize(candidates).T  # (anchors, candidates)
    return F.cross_entropy(
        similarity / temperature, torch.arange(len(anchors), device=anchors.device)
    )


def projection(kind: Projection, dim: int) -> nn.Module:
    """Return the layers between vectors and loss: none, SimCSE's layer with tanh, or chen's two
    layers.
    """
    match kind:
        case "none":
            return nn.Identity()
        case "one-layer":
            return nn.Sequential(OrderedDict(layer=nn.Linear(dim, dim), activation=nn.Tanh()))
        case "two-layer":
            return nn.Sequential(
                OrderedDict(
                    hidden=nn.Linear(dim, dim), activation=nn.ReLU(), output=nn.Linear(dim, dim)
                )
            )


class InBatchContrastive(Objective):
    """Each anchor is pulled to its positive and pushed from the other positives and all hard
    negatives of the batch.

    Formula: −log( exp(cos(a_i, p_i)/τ) / Σ_j [exp(cos(a_i, p_j)/τ) + exp(cos(a_i, n_j)/τ)] ), mean
    over anchors; with `positives` "dropout" there is no n, and p_i is a_i's sentence encoded a
    second time; with "pairs" there is no n either. Columns: sentence; sentence1, sentence2; anchor,
    positive; or anchor, positive, negative. Source: Gao et al. 2021 (SimCSE), eq. 1, 4 and 5; the
    projection "two-layer" is chen's. Differs from the paper in: a sentence that occurs in several
    rows of a batch is encoded once a pass. SimCSE's own supervised models keep the projection when
    they are evaluated; here it is always discarded (their table 6: 86.2 either way on STS-B dev).
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.views = (None, None) if options.positives == "dropout" else (None,)
        self.projection = projection(options.projection, dim)

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean over the batch's anchors."""
        vectors = self.projection(vectors)
        if self.options.positives == "dropout":
            anchors, candidates = views_of_rows(vectors, columns, 2)
        else:
            anchors = vectors[columns["anchor"]]
            sides = (
                ("positive", "negative") if self.options.positives == "triplets" else ("positive",)
            )
            candidates = vectors[torch.cat([columns[side] for side in sides])]
        return in_batch_loss(anchors, candidates, temperature=self.options.temperature)
