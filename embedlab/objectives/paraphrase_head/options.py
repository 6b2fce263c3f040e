"""Options of the paraphrase head."""

import numpy as np
import polars as pl

from embedlab.core.schema import table
from embedlab.objectives.labelled import HeadDropout, Layers, describe_labelled
from embedlab.objectives.needs import Needs

SUMMARY = (
    "a bilinear form of two transformed vectors predicts whether the sentences are paraphrases"
)


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen


def needs(_: Options) -> Needs:
    """Pairs that are duplicates or not."""
    return Needs(sentences=("sentence1", "sentence2"), classes={"is_duplicate": ("0", "1")})


def describe(frame: pl.DataFrame, _: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    return describe_labelled(frame, rng)
