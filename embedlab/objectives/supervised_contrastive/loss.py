"""Cross-entropy joined with supervised contrastive learning on NLI (liao)."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from embedlab.objectives.anchor_sets import anchor_sets, entailment_sets
from embedlab.objectives.needs import NLI_CLASSES
from embedlab.objectives.objective import Objective, pair_features, pair_head
from embedlab.objectives.supervised_contrastive.options import Options


def supervised_contrastive_loss(
    anchors: Tensor,
    sentences: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    temperature: float,
    similarity: Literal["dot", "cosine"] = "dot",
) -> Tensor:
    """Mean over anchors of the mean over their positives of −log softmax over positives ∪ negatives
    (liao, eq. 2).

    anchors: (anchors, dim); sentences: (sentences, dim); positives, negatives: (anchors, sentences)
    masks, at least one positive an anchor. Without any anchor the loss is 0, still part of the
    graph.
    """
    if not len(anchors):
        return sentences.sum() * 0.0
    if similarity == "cosine":
        anchors, sentences = F.normalize(anchors), F.normalize(sentences)
    scores = anchors @ sentences.T / temperature  # (anchors, sentences)
    partition = scores.masked_fill(~(positives | negatives), float("-inf")).logsumexp(
        dim=1, keepdim=True
    )
    surprise = (partition - scores).masked_fill(~positives, 0.0)
    return (surprise.sum(dim=1) / positives.sum(dim=1)).mean()


class SupervisedContrastive(Objective):
    """(1−λ) of the cross-entropy of a pair's class and λ of the contrastive loss of premises.

    Formula: L = (1−λ)·CE + λ·SCL with SCL as eq. 2; anchors are the batch's distinct premises,
    positives the distinct hypotheses they entail, negatives the batch's other hypotheses. λ = 1 has
    no head at all. Columns: premise, hypothesis, label. Source: liao, eq. 1 and 2. Differs from the
    paper in: nothing known. In the authors' code a premise counts once for each of its entailments
    (`anchors` "entailments"), a hypothesis that occurs twice in a batch counts twice, and a batch
    without an entailment divides by zero.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.head = pair_head(options.head, dim, len(NLI_CLASSES)) if options.weight < 1 else None

    def sample(
        self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator
    ) -> dict[str, NDArray[np.generic]]:
        """The anchors that have a positive, and their drawn sets as masks over the batch's
        sentences.
        """
        draw = entailment_sets if self.options.anchors == "entailments" else anchor_sets
        sets = draw(
            columns["premise"],
            columns["hypothesis"],
            columns["label"],
            positives=self.options.positives,
            negatives=self.options.negatives,
            rng=rng,
        ).with_positives()
        return {"anchors": sets.anchors, "positives": sets.positives, "negatives": sets.negatives}

    def pair_logits(self, first: Tensor, second: Tensor) -> Tensor:
        """The logits of the classes of each pair of vectors, (pairs, classes); λ = 1 trains no head
        for them.
        """
        if self.head is None:
            raise TypeError("no head was trained: the weight of the contrastive loss is 1")
        logits: Tensor = self.head(pair_features(first, second))
        return logits

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The weighted sum; a part whose weight is 0 is not computed."""
        weight = self.options.weight
        loss = vectors.new_zeros(())
        if self.head is not None:
            logits = self.pair_logits(vectors[columns["premise"]], vectors[columns["hypothesis"]])
            loss = (1 - weight) * F.cross_entropy(logits, columns["label"])
        if weight > 0:
            loss = loss + weight * supervised_contrastive_loss(
                vectors[columns["anchors"]],
                vectors,
                columns["positives"],
                columns["negatives"],
                temperature=self.options.temperature,
                similarity=self.options.similarity,
            )
        return loss
