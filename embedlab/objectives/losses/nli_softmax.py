"""Softmax classification of NLI pairs: SBERT's objective, liao's cross-entropy baseline and its
augmented forms.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.core.schema import table
from embedlab.data.dataset import NLI_LABELS
from embedlab.objectives.needs import (
    NEEDS,
    HeadKind,
    Limit,
    Needs,
    anchor_sets,
    describe_row,
    index_rows,
)

SUMMARY = "softmax over [u; v; |u−v|] of premise and hypothesis"


@table
class Augment:
    """How many positives and negatives of each premise are classified as well-formed pairs; liao's
    "3p3n" is 3 and 3.
    """

    positives: Limit = "all"  # N+
    negatives: Limit = "all"  # N−


@table
class Options:
    """What a recipe may say of this objective."""

    head: HeadKind = "linear"  # SBERT's; liao: "two-layer"
    augment: Augment | None = None  # absent: the rows as they are annotated
    # whether a batch holds all rows of its premises; "apart": SBERT's shuffled rows
    premises: Literal["together", "apart"] = "together"


def needs(options: Options) -> Needs:
    """The columns of NLI pairs; rows of a premise may be parted only where no sets are drawn from
    them.
    """
    if options.premises == "together":
        return NEEDS if options.augment is None else replace(NEEDS, varying_columns=())
    if options.augment is not None:
        raise UsageError(
            'premises = "apart" leaves augment no sets to draw from',
            hint='remove premises, or set it to "together"',
        )
    return replace(NEEDS, shared_column=None)


def describe(
    frame: pl.DataFrame, options: Options, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One example of a batch in words, as (role, sentence): an annotated pair, or an anchor with
    the pairs it is classified in.
    """
    if options.augment is None:
        return describe_row(frame, options, rng)
    rows = index_rows(frame, NEEDS)
    sets = anchor_sets(rows.columns, options.augment.positives, options.augment.negatives, rng)
    anchor = int(rng.integers(len(sets.anchors)))
    example_sentences = (sets.positives[anchor] | sets.negatives[anchor]).nonzero()[0]
    pairs = sorted(
        (int(sets.classes[anchor, sentence]), rows.at(sentence)) for sentence in example_sentences
    )
    return [
        ("anchor", rows.at(sets.anchors[anchor])),
        *((NLI_LABELS[kind], sentence) for kind, sentence in pairs),
    ]


@cache
def objective() -> type:
    """Cross-entropy of the class of a sentence pair.

    Formula: softmax(head([u; v; |u−v|])) over entailment, neutral, contradiction; mean over the
    pairs. Columns: premise, hypothesis, label. Source: Reimers and Gurevych 2019 (head "linear");
    liao's "SBERT baseline" (head "two-layer") and "Augment" baselines (`augment`), which classify
    the anchor with each chosen positive and negative in place of the rows. Differs from the papers
    in: rows of one premise come in one batch, unless `premises` is "apart", as SBERT's are. The
    label of an anchor with another premise's hypothesis is not given; here it is contradiction.
    Premises without an entailment are classified too, with their negatives.
    """
    import torch.nn.functional as F
    from torch import Tensor

    from embedlab.objectives.objective import Objective, pair_features, pair_head

    class NliSoftmax(Objective):
        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options
            self.head = pair_head(options.head, dim, len(NLI_LABELS))

        def sample(
            self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator
        ) -> dict[str, NDArray[np.generic]]:
            """Return the pairs to classify: with `augment`, those of each anchor with its drawn
            sets.
            """
            augment = self.options.augment
            if augment is None:
                return {}
            sets = anchor_sets(columns, augment.positives, augment.negatives, rng)
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

    return NliSoftmax
