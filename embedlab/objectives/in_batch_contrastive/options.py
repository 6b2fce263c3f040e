"""Options of the in-batch contrastive objective."""

from typing import Literal

import numpy as np
import polars as pl

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs

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
        inert = {"joint": "false"} if options.joint else {}
        negative = ("negative",) if options.positives == "triplets" else ()
        return Needs(
            sentences=("anchor", "positive", *negative),
            inert=inert,
            compares_rows=True,
            contrasts=("positive", *negative),
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
    row = frame.row(int(rng.integers(len(frame))), named=True)
    if options.positives != "dropout":
        return list(row.items())
    text = " | ".join(row.values())
    return [("anchor", text), ("positive", text)]
