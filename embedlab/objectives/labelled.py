"""Shared parts of the objectives on labelled texts: single sentences, or pairs that are encoded
together.
"""

from typing import Annotated, Literal

import numpy as np
import polars as pl
from annotated_types import Ge, Lt

from embedlab.core.errors import UsageError
from embedlab.objectives.needs import Needs

Layers = Literal["two-layer", "none"]  # additional layers between a sentence vector and the task
HeadDropout = Annotated[float, Ge(0), Lt(1)]  # of the input of each linear layer
ScoreLabel = Literal["tenths", "exact", "score"]  # a gold score in place of a class


def labelled_needs(classes: tuple[str, ...] | ScoreLabel, *, joint: bool) -> Needs:
    """The columns of labelled sentences, or of labelled pairs where they are JOINT; the label may
    be a gold score.
    """
    sentences = ("sentence1", "sentence2") if joint else ("sentence",)
    if isinstance(classes, str):
        if not joint:
            raise UsageError(
                f"'objective.classes' {classes!r} are scores of pairs, but 'objective.joint' "
                f"is false",
                hint="set joint = true",
            )
        return Needs(sentences=sentences, numbers=("gold",), joint=True)
    return Needs(sentences=sentences, classes={"label": classes}, joint=joint)


def describe_labelled(frame: pl.DataFrame, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    row = frame.row(int(rng.integers(len(frame))), named=True)
    return [(column, str(text)) for column, text in row.items()]
