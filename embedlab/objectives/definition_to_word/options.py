"""Options of the prediction of a word by its definition."""

from typing import Literal

import numpy as np
import polars as pl

from embedlab.core.schema import table
from embedlab.objectives.needs import Needs

SUMMARY = (
    "the vector of a definition predicts its word through the frozen masked-language-model head"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # the encoder's pre-trained head; or, where it has none, its word vectors
    head: Literal["mlm", "tied"] = "mlm"


def needs(_: Options) -> Needs:
    """Definitions and words that are one token each."""
    return Needs(sentences=("definition",), words=("word",))


def describe(frame: pl.DataFrame, _: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One definition of a batch with its word, as (role, sentence)."""
    row = frame.row(int(rng.integers(len(frame))), named=True)
    return [("definition", row["definition"]), ("word", row["word"])]
