"""Options of the contrast of labelled pairs."""

from typing import Literal

import numpy as np
import polars as pl

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.in_batch_contrastive.options import Projection
from embedlab.objectives.labelled import describe_labelled
from embedlab.objectives.needs import Needs

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


def needs(options: Options) -> Needs:
    """Labelled pairs, or the duplicates among them alone."""
    sentences = ("sentence1", "sentence2")
    if options.others == "leave-out":
        return Needs(sentences=sentences, only={"is_duplicate": "1"}, compares_rows=True)
    return Needs(sentences=sentences, classes={"is_duplicate": ("0", "1")}, compares_rows=True)


def describe(frame: pl.DataFrame, _: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    return describe_labelled(frame, rng)
