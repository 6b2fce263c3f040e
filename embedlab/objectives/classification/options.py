"""Options of the classification of texts."""

from dataclasses import replace
from typing import Annotated, Literal

from annotated_types import Len

from embedlab.core.recipe import Share
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs, labelled_needs

SUMMARY = (
    "a linear layer predicts the class or the score of a text, with the encoder or on top of "
    "a frozen one"
)


@table
class Options:
    """What a recipe may say of this objective."""

    classes: Annotated[tuple[str, ...], Len(2)] | Literal["score"] = (
        "0",
        "1",
    )  # the labels; "score": a gold score, by squared error
    joint: bool = False  # pairs, encoded together
    frozen: bool = False  # only the linear layer is trained, on vectors without dropout
    dropout: tuple[
        Share, ...
    ] = ()  # one view for each rate, "dropout augmented"; empty: the encoder's own rates once
    head_dropout: Share = 0.1  # before the linear layer; BERT's own
    standardise: bool | None = (
        # of a frozen encoder: the layer reads each dimension with mean 0 and deviation 1; absent =
        # as it is
        None
    )


def needs(options: Options) -> Needs:
    """Labelled sentences or pairs, or pairs with a gold score; a frozen encoder has one view,
    without dropout.
    """
    inert = {"dropout": "[]"} if options.frozen and options.dropout else {}
    inert |= {"standardise": "false"} if options.standardise and not options.frozen else {}
    return replace(
        labelled_needs(options.classes, joint=options.joint),
        inert=inert,
        fixed_vectors=bool(options.standardise),
    )
