"""Frozen parts of an encoder."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from transformers import PreTrainedModel

from embedlab.core.recipe import Stage
from embedlab.objectives.objective import Frozen, Objective


@contextmanager
def frozen(backbone: PreTrainedModel, layers: nn.Module, part: Frozen) -> Iterator[None]:
    """Compute no gradient for PART of BACKBONE and of the LAYERS after pooling within the block.

    The optimizer leaves it unchanged, to the bit.
    """
    parameters = [
        parameter
        for parameter in part_parameters(backbone, layers, part)
        if parameter.requires_grad
    ]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)


def is_frozen(stage: Stage, objective: Objective) -> bool:
    """Return whether a text has the same vector at every step of STAGE: the encoder is frozen and
    no dropout is drawn.
    """
    return (
        objective.frozen == "encoder" and set(objective.views) == {0.0} and stage.optim.turn is None
    )


def part_parameters(
    backbone: PreTrainedModel, layers: nn.Module, part: Frozen
) -> list[nn.Parameter]:
    """Return the parameters of PART: none, the embedding layer (word, position and segment vectors
    and their norm), or all.
    """
    match part:
        case "nothing":
            return []
        case "embeddings":
            return list(_embedding_layer(backbone).parameters())
        case "encoder":
            return [*backbone.parameters(), *layers.parameters()]


def _embedding_layer(backbone: PreTrainedModel) -> nn.Module:
    """Return the child of BACKBONE that holds its word vectors, independent of the architecture."""
    words = backbone.get_input_embeddings()
    return next(
        child for child in backbone.children() if any(module is words for module in child.modules())
    )
