"""Options of the contrast between classes."""

from typing import Annotated, Literal

import numpy as np
import polars as pl
from annotated_types import Len

from embedlab.objectives.labelled import describe_labelled, labelled_needs
from embedlab.objectives.needs import Needs
from embedlab.recipe import Positive, Share
from embedlab.schema import table

SUMMARY = "texts of a class are drawn together over several dropout rates, others pushed apart"


@table
class Options:
    """What a recipe may say of this objective."""

    classes: Annotated[tuple[str, ...], Len(2)] | Literal["tenths"] = ("0", "1")  # the labels; "tenths": gold scores so rounded
    joint: bool = False  # pairs, encoded together
    dropout: Annotated[tuple[Share, ...], Len(1)] = (0.0, 0.1, 0.2)  # one view for each rate; sedghamiz table 4, CoLA
    temperature: Positive = 0.05  # τ; sedghamiz table 4


def needs(options: Options) -> Needs:
    """Labelled sentences or pairs, or pairs with a gold score."""
    return labelled_needs(options.classes, joint=options.joint)


def describe(frame: pl.DataFrame, _: Options, rng: np.random.Generator) -> list[tuple[str, str]]:
    """One row of a batch in words, as (column, text)."""
    return describe_labelled(frame, rng)
