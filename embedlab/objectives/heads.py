"""The names of options that chen's three heads share."""

from typing import Annotated, Literal

from annotated_types import Ge, Lt

Layers = Literal["two-layer", "none"]  # additional layers between a sentence vector and the task
HeadDropout = Annotated[float, Ge(0), Lt(1)]  # of the input of each linear layer
