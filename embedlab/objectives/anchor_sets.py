"""Which sentences of a batch each premise is pulled to and pushed from: the sets P and N of liao's
eq. 2.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from embedlab.objectives.needs import CONTRADICTION, ENTAILMENT, NEUTRAL

Limit = Literal["all"] | Annotated[int, Ge(1)]  # at most this many of a set, drawn uniformly

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class AnchorSets:
    """The anchors of a batch and, over its distinct sentences, the positives and negatives of
    each.
    """

    anchors: Indices  # (anchors,) position of each distinct premise
    positives: Mask  # (anchors, sentences)
    negatives: Mask  # (anchors, sentences)
    # (anchors, sentences) the class of anchor and sentence as a pair; meaningful within the sets
    classes: Indices

    def with_positives(self) -> "AnchorSets":
        """Only the anchors that have a positive: eq. 2 says nothing of the others."""
        has_positive = self.positives.any(axis=1)
        return AnchorSets(
            anchors=self.anchors[has_positive],
            positives=self.positives[has_positive],
            negatives=self.negatives[has_positive],
            classes=self.classes[has_positive],
        )


def anchor_sets(
    premise: Indices,
    hypothesis: Indices,
    label: Indices,
    *,
    positives: Limit,
    negatives: Limit,
    rng: np.random.Generator,
) -> AnchorSets:
    """The sets of every distinct premise among rows of sentence positions and class indices.

    Positives are the distinct hypotheses that the premise entails. Negatives are its neutral and
    contradicted hypotheses and the hypotheses of the batch's other premises. A sentence that the
    premise entails is never its negative, whatever another row says of it, and neither is the
    premise itself: a sentence entails itself. A pair with another premise's hypothesis counts as a
    contradiction: the paper does not give its label.
    """
    anchors, row_anchor = np.unique(premise, return_inverse=True)
    sentences = int(max(premise.max(), hypothesis.max())) + 1
    classes = np.full((len(anchors), sentences), CONTRADICTION)
    for kind in (
        NEUTRAL,
        CONTRADICTION,
        ENTAILMENT,
    ):  # where two rows disagree on a pair, the later of these holds
        rows = label == kind
        classes[row_anchor[rows], hypothesis[rows]] = kind
    entailed = classes == ENTAILMENT
    others = np.zeros(sentences, dtype=bool)
    others[hypothesis] = True
    candidates = ~entailed & others
    candidates[np.arange(len(anchors)), anchors] = False
    return AnchorSets(
        anchors=anchors,
        positives=sample_subset(entailed, positives, rng),
        negatives=sample_subset(candidates, negatives, rng),
        classes=classes,
    )


def entailment_sets(
    premise: Indices,
    hypothesis: Indices,
    label: Indices,
    *,
    positives: Limit,
    negatives: Limit,
    rng: np.random.Generator,
) -> AnchorSets:
    """The sets of every row labelled entailment, as in the code of liao's authors: a premise that
    entails three is three anchors.

    The row's own hypothesis is always among the positives; the others are drawn from what its
    premise entails. Negatives are those of the premise.
    """
    every = anchor_sets(premise, hypothesis, label, positives="all", negatives="all", rng=rng)
    rows = label == ENTAILMENT
    anchor, entailed = np.searchsorted(every.anchors, premise[rows]), hypothesis[rows]
    others, is_row = every.positives[anchor], np.arange(len(anchor))
    others[is_row, entailed] = False
    chosen = (
        np.zeros_like(others)
        if positives == 1
        else sample_subset(others, positives if positives == "all" else positives - 1, rng)
    )
    chosen[is_row, entailed] = True
    return AnchorSets(
        anchors=premise[rows],
        positives=chosen,
        negatives=sample_subset(every.negatives[anchor], negatives, rng),
        classes=every.classes[anchor],
    )


def sample_subset(mask: Mask, limit: Limit, rng: np.random.Generator) -> Mask:
    """Keep at most LIMIT of each row's set entries, each subset of that size equally likely."""
    if limit == "all" or limit >= mask.shape[1]:
        return mask
    keys = np.where(mask, rng.random(mask.shape), np.inf)
    return mask & (keys <= np.partition(keys, limit - 1)[:, limit - 1 : limit])
