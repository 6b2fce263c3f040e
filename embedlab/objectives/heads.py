"""Shared, untrained parts of chen's three heads: names of their options, and the data of a threshold."""

from typing import Annotated, Literal

from annotated_types import Ge, Lt

from embedlab.core.errors import UsageError
from embedlab.models.catalog import ModelSpec

Layers = Literal["two-layer", "none"]  # additional layers between a sentence vector and the task
HeadDropout = Annotated[float, Ge(0), Lt(1)]  # of the input of each linear layer
THRESHOLD_DATA = ("paraphrases", "train")  # the data that sets the threshold of a model without a paraphrase head


def no_heads(spec: ModelSpec) -> UsageError:
    """Return the error for an ensemble of which no member can predict."""
    return UsageError(f"no member of {spec.name!r} has a head to predict with", hint="train one: embedlab train multitask")
