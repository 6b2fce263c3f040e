"""The contract between an objective and the training loop, and how an objective is found by its name."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from torch import Tensor, nn

from embedlab.core import plugins
from embedlab.core.recipe import ObjectiveSection, Recipe
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.word_head import WordHead

DropoutRate = float | None  # the dropout rate of one pass over a batch's sentences; None = the encoder's own rates
Frozen = Literal["nothing", "embeddings", "encoder"]


class Objective(nn.Module):
    """A loss on the vectors of a batch's distinct sentences, with the heads it trains beside the encoder.

    Sentence columns hold positions among the batch's distinct sentences, so that a sentence which repeats is
    encoded once a view; class columns hold class indices, word columns token ids.
    """

    views: tuple[DropoutRate, ...] = (None,)  # how often, and with which dropout, the sentences are encoded
    frozen: Frozen = "nothing"  # what of the encoder this objective must not move
    notes: tuple[str, ...] = ()  # what a reader of the run should know of it

    def __init__(self) -> None:
        super().__init__()
        self.word_head: WordHead | None = None  # taken from the encoder and left as it is; saved with the model

    def attach(self, encoder: TransformerEncoder) -> None:
        """Take from the encoder at its start what the loss needs of it beside vectors; nothing, for most."""

    def share(self, others: "Sequence[Objective]") -> None:
        """Take the layers that it shares with objectives of the recipe's other stages; none, for most."""

    def sample(self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """What is drawn or derived on the CPU while the batch is prepared; the loss finds it among its columns."""
        return {}

    @staticmethod
    def describe(frame: pl.DataFrame, options: Any, rng: np.random.Generator) -> list[tuple[str, str]]:
        """One row of a batch in words, as (role, sentence), where the objective is a plug-in and does not say more."""
        return [(column, str(frame[column][0])) for column in frame.columns]

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The scalar loss; vectors: (views x distinct sentences, dim), float32, one view after the other."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Trained:
    """An encoder and the objectives that it was trained with, one a stage: what a dev score judges."""

    encoder: Encoder
    objectives: Sequence[Objective]


def build_objectives(recipe: Recipe, dim: int) -> list[Objective]:
    """The objectives of a recipe's stages, with the layers that they share."""
    built = [build_objective(stage.objective, dim) for stage in recipe.stages]
    for objective in built:
        objective.share(built)
    return built


def trained_parameters(objectives: Sequence[Objective]) -> dict[str, nn.Parameter]:
    """What OBJECTIVES learn, named "<stage>.<parameter>"; a layer that two of them share is named once.

    What they only use, as a pre-trained head, belongs to the encoder that they took it from.
    """
    return {name: parameter for name, parameter in nn.ModuleList(objectives).named_parameters() if parameter.requires_grad}


def build_objective(section: ObjectiveSection, dim: int) -> Objective:
    """The objective of a recipe's stage on vectors of DIM numbers; heads draw their weights from torch's generator."""
    plugin = plugins.get("objectives", section.name)
    return plugin.checked(_class_of(plugin.load())(section.options, dim), Objective)


def _class_of(found: Any) -> Any:
    """The class of an objective: a plug-in may be the class itself; of a module of options it is in the module `loss` beside that.

    The folder `nli_softmax` holds the class `NliSoftmax` in its `loss.py`, and so on.
    """
    if isinstance(found, type):
        return found
    folder = found.__package__
    return getattr(importlib.import_module(f"{folder}.loss"), folder.rpartition(".")[2].title().replace("_", ""))
