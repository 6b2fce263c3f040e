"""Options of the in-batch contrastive objective."""

from typing import Literal

import numpy as np
import polars as pl

from embedlab.objectives.needs import Needs
from embedlab.recipe import Positive
from embedlab.schema import table

SUMMARY = "each anchor picks its positive among the batch's: two dropout passes, or triplets with hard negatives"

Projection = Literal["none", "one-layer", "two-layer"]  # on top while training, thrown away afterwards


@table
class Options:
    """What a recipe may say of this objective."""

    positives: Literal["dropout", "triplets"] = "dropout"  # the sentence itself, encoded again; or the positive of a triplet
    temperature: Positive = 0.05  # τ, on cosines; Gao 2021 §3
    projection: Projection = "none"


def needs(options: Options) -> Needs:
    """Plain sentences, or triplets."""
    return Needs(sentences=("sentence",) if options.positives == "dropout" else ("anchor", "positive", "negative"))


def describe(frame: pl.DataFrame, options: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One anchor of a batch in words, as (role, sentence)."""
    row = frame.row(int(rng.integers(len(frame))), named=True)
    if options.positives == "dropout":
        return [("anchor", row["sentence"]), ("positive", row["sentence"])]
    return [(role, row[role]) for role in ("anchor", "positive", "negative")]
