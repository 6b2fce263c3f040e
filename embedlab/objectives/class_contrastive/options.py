"""Options of the contrast between classes."""

from typing import Annotated, Literal

import numpy as np
import polars as pl
from annotated_types import Len

from embedlab.core.recipe import Positive, Share
from embedlab.core.schema import table
from embedlab.objectives.labelled import describe_labelled, labelled_needs
from embedlab.objectives.needs import Needs

SUMMARY = "texts of a class are pulled together over several dropout rates, others pushed apart"


@table
class Options:
    """What a recipe may say of this objective."""

    # The labels; "tenths": gold scores rounded to tenths; "none": each text is its own class, whose members are its views.
    classes: Annotated[tuple[str, ...], Len(2)] | Literal["tenths", "none"] = ("0", "1")
    joint: bool = False  # pairs, encoded together
    dropout: Annotated[tuple[Share, ...], Len(1)] = (0.0, 0.1, 0.2)  # one view for each rate; sedghamiz table 4, CoLA
    temperature: Positive = 0.05  # τ; sedghamiz table 4
    reduction: Literal["sum"] | None = None  # of the anchors' losses, as in sedghamiz eq. 1; absent: their mean


def needs(options: Options) -> Needs:
    """Labelled sentences or pairs, pairs with a gold score, or texts alone."""
    if options.classes == "none":
        return Needs(sentences=("sentence1", "sentence2") if options.joint else ("sentence",), joint=options.joint)
    return labelled_needs(options.classes, joint=options.joint)


def describe(frame: pl.DataFrame, _: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    return describe_labelled(frame, rng)
