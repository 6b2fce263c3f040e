"""Contrast of each anchor's positive with the others of the batch: unsupervised and supervised
SimCSE.
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs, describe_row

if TYPE_CHECKING:
    from torch import Tensor, nn


SUMMARY = (
    "each anchor picks its positive among the batch's: two dropout passes, pairs, or "
    "triplets with hard negatives"
)

Projection = Literal[
    "none", "one-layer", "two-layer"
]  # on top while training, discarded afterwards


# What an equal text in another row of the batch is: no negative ("masked"), a negative as any
# other, or never there, because such rows come in different batches ("apart").
Repeats = Literal["masked", "negatives", "apart"]
UNWRITTEN = {"repeats": "negatives"}  # what runs did before there was the option


@table
class Options:
    """What a recipe may say of this objective."""

    # The sentence itself, encoded again; the positive of a triplet, with its negative; or that of a
    # pair, without one.
    positives: Literal["dropout", "triplets", "pairs"] = "dropout"
    joint: bool = False  # with "dropout": pairs, encoded together, in place of sentences
    temperature: Positive = 0.05  # τ, on cosines; Gao 2021 §3
    projection: Projection = "none"
    repeats: Repeats = "masked"  # ours; the papers' losses take them as negatives


def needs(options: Options) -> Needs:
    """Plain sentences, pairs that are encoded together, triplets, or anchors and positives."""
    if options.positives != "dropout":
        inert_options = {"joint": "false"} if options.joint else {}
        negative = ("negative",) if options.positives == "triplets" else ()
        return Needs(
            sentences=("anchor", "positive", *negative),
            inert_options=inert_options,
            compares_rows=True,
            contrasts=("positive", *negative),
            differing=("anchor",) if options.repeats == "masked" and not negative else (),
            parts_repeats=options.repeats == "apart",
        )
    return Needs(
        sentences=("sentence1", "sentence2") if options.joint else ("sentence",),
        joint=options.joint,
        compares_rows=True,
        contrasts=("joint",) if options.joint else ("sentence",),
        parts_repeats=options.repeats == "apart",
    )


def describe(
    frame: pl.DataFrame, options: Options, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """One anchor of a batch in words, as (role, sentence)."""
    row = describe_row(frame, options, rng)
    if options.positives != "dropout":
        return row
    text = " | ".join(text for _, text in row)
    return [("anchor", text), ("positive", text)]


def in_batch_loss(
    anchors: "Tensor",
    candidates: "Tensor",
    *,
    temperature: float,
    masked: "Tensor | None" = None,
    reduction: Literal["mean", "none"] = "mean",
) -> "Tensor":
    """Cross-entropy of each anchor picking its own positive among the candidates, by cosine.

    anchors: (anchors, dim); candidates: (at least as many, dim), the positive of anchor i in row i;
    masked: (anchors, candidates), the candidates that an anchor does not choose among.
    """
    import torch
    import torch.nn.functional as F

    similarity = F.normalize(anchors) @ F.normalize(candidates).T / temperature
    if masked is not None:
        similarity = similarity.masked_fill(masked, float("-inf"))
    targets = torch.arange(len(anchors), device=anchors.device)
    return F.cross_entropy(similarity, targets, reduction=reduction)


def repeated_texts(
    anchors: "Tensor", candidates: "Tensor", is_related: "Tensor | None" = None
) -> "Tensor":
    """Return which candidates are no negatives of an anchor, (anchors, candidates).

    Those that are its own text, that of its positive, or that of the positive of another row with
    the same anchor, of the rows where IS_RELATED. Both are numbers of texts, as `in_batch_loss`
    takes their vectors.
    """
    rows = anchors == anchors[:, None]  # of the same anchor
    if is_related is not None:
        rows &= is_related
    rows.fill_diagonal_(True)
    is_positive = candidates == candidates[: len(anchors), None]  # (rows, candidates)
    is_anchors_positive = rows.float() @ is_positive.float() > 0
    return (is_anchors_positive | (candidates == anchors[:, None])).fill_diagonal_(
        False
    )  # its own positive


def projection(kind: Projection, dim: int) -> "nn.Module":
    """Return the layers between vectors and loss: none, SimCSE's layer with tanh, or chen's two
    layers.
    """
    from torch import nn

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


@cache
def objective() -> type:
    """Each anchor is pulled to its positive and pushed from the other positives and all hard
    negatives of the batch.

    Formula: −log( exp(cos(a_i, p_i)/τ) / Σ_j [exp(cos(a_i, p_j)/τ) + exp(cos(a_i, n_j)/τ)] ), mean
    over anchors; with `positives` "dropout" there is no n, and p_i is a_i's sentence encoded a
    second time; with "pairs" there is no n either. Columns: sentence; sentence1, sentence2; anchor,
    positive; or anchor, positive, negative. Source: Gao et al. 2021 (SimCSE), eq. 1, 4 and 5; the
    projection "two-layer" is chen's. Differs from the paper in: a sentence that occurs in several
    rows of a batch is encoded once a pass, and is no negative of itself or of its pair with
    `repeats` "masked". SimCSE's own supervised models keep the projection when
    they are evaluated; here it is always discarded (their table 6: 86.2 either way on STS-B dev).
    """
    import torch
    from torch import Tensor

    from embedlab.objectives.objective import Objective, views_of_rows

    class InBatchContrastive(Objective):
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
                first = second = columns["joint"] if "joint" in columns else columns["sentence"]
            else:
                candidate_columns = (
                    ("positive", "negative")
                    if self.options.positives == "triplets"
                    else ("positive",)
                )
                first, second = (
                    columns["anchor"],
                    torch.cat([columns[column] for column in candidate_columns]),
                )
                anchors, candidates = vectors[first], vectors[second]
            is_masked = repeated_texts(first, second) if self.options.repeats == "masked" else None
            return in_batch_loss(
                anchors, candidates, temperature=self.options.temperature, masked=is_masked
            )

    return InBatchContrastive
