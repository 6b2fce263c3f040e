"""Cross-entropy joined with supervised contrastive learning on NLI (liao)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.recipe import Positive, Share
from embedlab.core.schema import table
from embedlab.data.dataset import NLI_LABELS
from embedlab.objectives.needs import (
    NEEDS,
    AnchorSets,
    HeadKind,
    Limit,
    Needs,
    anchor_sets,
    entailment_sets,
    index_rows,
)

if TYPE_CHECKING:
    from torch import Tensor


SUMMARY = (
    "softmax over [u; v; |u−v|] joined with supervised contrastive learning: premises pulled "
    "to their entailed hypotheses"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # λ: the contrastive loss's share; liao table 6: 0.3 is best on STS, table 4: 0.1 on transfer
    weight: Share = 0.3
    temperature: Positive = 1.0  # τ; liao table 7, on raw dot products
    positives: Limit = "all"  # N+
    negatives: Limit = "all"  # N−
    # "entailments": each row labelled entailment is an anchor of its own, with its hypothesis among
    # the positives, as in the authors' code; absent: each distinct premise is one.
    anchors: Literal["entailments"] | None = None
    similarity: Literal["dot", "cosine"] = "dot"
    head: HeadKind = "two-layer"


def needs(options: Options) -> Needs:
    """The columns of NLI pairs; without cross-entropy no head is trained."""
    if options.weight == 0:
        return NEEDS
    contrastive = replace(
        NEEDS,
        compares_rows=True,
        contrasts=("hypothesis",),
        required_classes={"label": "entailment"},
    )
    return (
        contrastive
        if options.weight < 1
        else replace(contrastive, predicts=None, varying_columns=())
    )


def draw_sets(
    columns: Mapping[str, NDArray[np.int64]], options: Options, rng: np.random.Generator
) -> AnchorSets:
    """Return the anchors of a batch that have a positive, with their drawn sets."""
    draw = entailment_sets if options.anchors == "entailments" else anchor_sets
    return draw(columns, options.positives, options.negatives, rng).with_positives()


def describe(
    frame: pl.DataFrame, options: Options, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One anchor of a batch in words, as (role, sentence), with its positives and negatives as
    liao's table 1 shows them.

    An annotated pair where the frame has no entailment.
    """
    rows = index_rows(frame, NEEDS)
    sets = draw_sets(rows.columns, options, rng)
    if not len(sets.anchors):
        return [(column, str(frame[column][0])) for column in NEEDS.columns]
    anchor = int(rng.integers(len(sets.anchors)))
    return [
        ("anchor", rows.at(sets.anchors[anchor])),
        *(("positive", rows.at(sentence)) for sentence in sets.positives[anchor].nonzero()[0]),
        *(("negative", rows.at(sentence)) for sentence in sets.negatives[anchor].nonzero()[0]),
    ]


def supervised_contrastive_loss(
    anchors: "Tensor",
    sentences: "Tensor",
    positives: "Tensor",
    negatives: "Tensor",
    *,
    temperature: float,
    similarity: Literal["dot", "cosine"] = "dot",
) -> "Tensor":
    """Mean over anchors of the mean over their positives of −log softmax over positives ∪ negatives
    (liao, eq. 2).

    anchors: (anchors, dim); sentences: (sentences, dim); positives, negatives: (anchors, sentences)
    masks, at least one positive an anchor. Without any anchor the loss is 0, still part of the
    graph.
    """
    import torch.nn.functional as F

    if not len(anchors):
        return sentences.sum() * 0.0
    if similarity == "cosine":
        anchors, sentences = F.normalize(anchors), F.normalize(sentences)
    scores = anchors @ sentences.T / temperature  # (anchors, sentences)
    partition = scores.masked_fill(~(positives | negatives), float("-inf")).logsumexp(
        dim=1, keepdim=True
    )
    negative_log_probabilities = (partition - scores).masked_fill(~positives, 0.0)
    return (negative_log_probabilities.sum(dim=1) / positives.sum(dim=1)).mean()


@cache
def objective() -> type:
    """(1−λ) of the cross-entropy of a pair's class and λ of the contrastive loss of premises.

    Formula: L = (1−λ)·CE + λ·SCL with SCL as eq. 2; anchors are the batch's distinct premises,
    positives the distinct hypotheses they entail, negatives the batch's other hypotheses. λ = 1 has
    no head at all. Columns: premise, hypothesis, label. Source: liao, eq. 1 and 2. Differs from the
    paper in: nothing known. In the authors' code a premise counts once for each of its entailments
    (`anchors` "entailments"), a hypothesis that occurs twice in a batch counts twice, and a batch
    without an entailment divides by zero.
    """
    import torch.nn.functional as F
    from torch import Tensor

    from embedlab.objectives.objective import Objective, pair_features, pair_head

    class SupervisedContrastive(Objective):
        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options
            self.head = (
                pair_head(options.head, dim, len(NLI_LABELS)) if options.weight < 1 else None
            )

        def sample(
            self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator
        ) -> dict[str, NDArray[np.generic]]:
            """The anchors that have a positive, and their drawn sets as masks over the batch's
            sentences.
            """
            sets = draw_sets(columns, self.options, rng)
            return {
                "anchors": sets.anchors,
                "positives": sets.positives,
                "negatives": sets.negatives,
            }

        def pair_logits(self, first: Tensor, second: Tensor) -> Tensor:
            """The logits of the classes of each pair of vectors, (pairs, classes); λ = 1 trains no
            head for them.
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
                logits = self.pair_logits(
                    vectors[columns["premise"]], vectors[columns["hypothesis"]]
                )
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

    return SupervisedContrastive
