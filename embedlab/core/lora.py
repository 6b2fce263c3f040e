"""The keys of a recipe that train changes of low rank."""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt

from embedlab.core.schema import table


@table
class LoraSection:
    """Low-rank changes that are trained in place of the encoder's own weights (Hu et al. 2021), by
    peft.
    """

    rank: Annotated[int, Ge(1), Le(4096)] = 8
    alpha: Annotated[float, Gt(0), Le(1_000_000)] = 16.0  # changes are scaled by alpha / rank
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0  # of their input
    # ends of the names of linear layers; absent = all linear layers
    targets: tuple[str, ...] | None = None
    # the model as a whole, or the changes alone, on the base that they name
    save: Literal["merged", "adapter"] = "merged"
