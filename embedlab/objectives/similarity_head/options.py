"""Options of the similarity head."""

from typing import Literal

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = "the cosine of two transformed vectors learns graded similarity"

Sharing = Literal["first-layer", "whole", "separate"]


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen
    # the additional layers that are those of the recipe's paraphrase_head; chen table 3:
    # first-layer
    sharing: Sharing = "separate"
    highest: Positive = 5.0  # the gold score that corresponds to cosine 1


def needs(options: Options) -> Needs:
    """Pairs with a gold score; without additional layers there is no linear layer for the dropout
    to come before.
    """
    inert = {"dropout": "0.0"} if options.layers == "none" and options.dropout else {}
    return Needs(
        sentences=("sentence1", "sentence2"),
        numbers=("gold",),
        largest=options.highest,
        scale_option="highest",
        inert=inert,
    )
