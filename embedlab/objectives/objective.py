"""The contract between an objective and the training loop, and how an objective is found by its name."""

import importlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from embedlab.recipe import ObjectiveSection


class Objective(nn.Module):
    """A loss on the vectors of a batch's distinct sentences, with the heads it trains beside the encoder.

    Sentence columns hold positions among the batch's distinct sentences, so that a sentence which repeats is
    encoded once; class columns hold class indices.
    """

    def sample(self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """What is drawn or derived on the CPU while the batch is prepared; the loss finds it among its columns."""
        return {}

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The scalar loss; vectors: (distinct sentences, dim), float32."""
        raise NotImplementedError


def build_objective(section: ObjectiveSection, dim: int) -> Objective:
    """The objective of a recipe's stage on vectors of DIM numbers; heads draw their weights from torch's generator.

    The folder `nli_softmax` holds the class `NliSoftmax` in its `loss.py`, and so on.
    """
    module = importlib.import_module(f"embedlab.objectives.{section.name}.loss")
    objective = getattr(module, section.name.title().replace("_", ""))(section.options, dim)
    assert isinstance(objective, Objective)
    return objective
