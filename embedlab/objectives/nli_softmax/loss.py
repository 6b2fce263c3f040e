"""Softmax classification of NLI pairs: SBERT's objective, liao's cross-entropy baseline and its
augmented forms.
"""

from collections.abc import Mapping

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from embedlab.objectives.anchor_sets import anchor_sets
from embedlab.objectives.needs import NLI_CLASSES
from embedlab.objectives.nli_softmax.options import Options
from embedlab.objectives.objective import Objective, pair_features, pair_head


class NliSoftmax(Objective):
    """Cross-entropy of the class of a sentence pair.

    Formula: softmax(head([u; v; |u−v|])) over entailment, neutral, contradiction; mean over the
    pairs. Columns: premise, hypothesis, label. Source: Reimers and Gurevych 2019 (head "linear");
    liao's "SBERT baseline" (head "two-layer") and "Augment" baselines (`augment`), which classify
    the anchor with each chosen positive and negative in place of the rows. Differs from the papers
    in: rows of one premise come in one batch, unless `premises` is "apart", as SBERT's are. The
    label of an anchor with another premise's hypothesis is not given; here it is contradiction.
    Premises without an entailment are classified too, with their negatives.
    """

    def __init__(self, options: Options, dim: int) -> None:
        super().__init__()
        self.options = options
        self.head = pair_head(options.head, dim, len(NLI_CLASSES))

    def sample(
        self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator
    ) -> dict[str, NDArray[np.generic]]:
        """Return the pairs to classify: with `augment`, those of each anchor with its drawn
        sets.
        """
        augment = self.options.augment
        if augment is None:
            return {}
        sets = anchor_sets(
            columns["premise"],
            columns["hypothesis"],
            columns["label"],
            positives=augment.positives,
            negatives=augment.negatives,
            rng=rng,
        )
        anchor, sentence = np.nonzero(sets.positives | sets.negatives)
        return {
            "premise": sets.anchors[anchor],
            "hypothesis": sentence,
            "label": sets.classes[anchor, sentence],
        }

    def pair_logits(self, first: Tensor, second: Tensor) -> Tensor:
        """The logits of the classes of each pair of vectors; (pairs, classes)."""
        logits: Tensor = self.head(pair_features(first, second))
        return logits

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The mean cross-entropy over the batch's pairs."""
        logits = self.pair_logits(vectors[columns["premise"]], vectors[columns["hypothesis"]])
        return F.cross_entropy(logits, columns["label"])
