"""Contrast of pairs that are labelled as duplicates or not: chen's pre-training on Quora."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.losses.in_batch_contrastive import UNWRITTEN as UNWRITTEN
from embedlab.objectives.losses.in_batch_contrastive import Projection, Repeats
from embedlab.objectives.needs import Needs

if TYPE_CHECKING:
    from torch import Tensor


SUMMARY = (
    "each first sentence picks its duplicate among the batch's second ones; other pairs are "
    "pushed apart"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # for non-duplicate pairs; compared in chen table 4
    others: Literal["maximise", "leave-out"] = "maximise"
    temperature: Positive = 0.05  # τ, on cosines; chen
    projection: Projection = "two-layer"  # chen
    repeats: Repeats = "masked"  # ours; chen's loss takes them as negatives


def needs(options: Options) -> Needs:
    """Labelled pairs, or the duplicates among them alone."""
    sentences = ("sentence1", "sentence2")
    needs = Needs(
        sentences=sentences,
        compares_rows=True,
        contrasts=("sentence2",),
        varying_columns=(),
        parts_repeats=options.repeats == "apart",
    )
    if options.others == "leave-out":
        return replace(needs, only={"is_duplicate": "1"})
    return replace(
        needs, classes={"is_duplicate": ("0", "1")}, required_classes={"is_duplicate": "1"}
    )


def duplicate_loss(
    first: "Tensor",
    second: "Tensor",
    is_duplicate: "Tensor",
    *,
    temperature: float,
    masked: "Tensor | None" = None,
) -> "Tensor":
    """Mean over pairs of ±(−log softmax) of each first sentence picking its second one: minimised
    for duplicates, maximised for others.

    first, second: (pairs, dim), not normalised; is_duplicate: (pairs,) of 0 and 1. The cosine
    bounds it on both sides. masked: (pairs, pairs), as in `in_batch_loss`.
    """
    from embedlab.objectives.losses.in_batch_contrastive import in_batch_loss

    losses = in_batch_loss(first, second, temperature=temperature, masked=masked, reduction="none")
    return (losses * (2 * is_duplicate - 1)).mean()


@cache
def objective() -> type:
    """Duplicates are pulled together among the batch's sentences, other pairs are pushed apart.

    Formula: l_i = −log( exp(cos(a_i, b_i)/τ) / Σ_j exp(cos(a_i, b_j)/τ) ); mean of l_i over
    duplicates and −l_i over the others. Columns: sentence1, sentence2, is_duplicate; with `others`
    "leave-out" only duplicates are read. Source: chen, supervised contrastive pre-training and
    table 4. The projection is discarded afterwards. Differs from the paper in: a sentence that
    occurs twice in a batch is encoded once, and is no negative of itself or of its duplicate with
    `repeats` "masked".
    """
    import torch
    from torch import Tensor

    from embedlab.objectives.losses.in_batch_contrastive import projection, repeated_texts
    from embedlab.objectives.objective import Objective

    class DuplicateContrastive(Objective):
        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options
            self.projection = projection(options.projection, dim)

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The mean over the batch's pairs."""
            vectors = self.projection(vectors)
            first, second = vectors[columns["sentence1"]], vectors[columns["sentence2"]]
            labels = (
                columns["is_duplicate"]
                if "is_duplicate" in columns
                else torch.ones(len(first), device=first.device)
            )
            is_masked = (
                repeated_texts(columns["sentence1"], columns["sentence2"], labels > 0)
                if self.options.repeats == "masked"
                else None
            )
            return duplicate_loss(
                first, second, labels, temperature=self.options.temperature, masked=is_masked
            )

    return DuplicateContrastive
