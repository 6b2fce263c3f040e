"""The contract between objectives and the training loop, the lookup of an objective by name, the
layers that several of them train, and the heads of a finished run.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor, nn

from embedlab.core import plugins
from embedlab.core.disk import KEY, UNSEALED, as_reading_errors, read_sealed, write_sealed
from embedlab.core.errors import MissingError
from embedlab.core.recipe import ObjectiveSection, Recipe
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.word_head import WordHead
from embedlab.objectives.needs import HeadKind, Layers
from embedlab.runs.store import RunFolder

# next to model/: the heads of every stage's objective, "<stage>.<parameter>"
HEADS_FILE = "heads.safetensors"


def write_sealed_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Replace the file at PATH in one step."""
    content = save(
        {name: tensor.detach().contiguous() for name, tensor in tensors.items()},
        metadata={KEY: UNSEALED},
    )
    write_sealed(path, content)


def read_heads(run: RunFolder) -> dict[str, Tensor]:
    """Read the trained heads of a run's objectives; a damaged or absent file is a MissingError."""
    path, hint = run.path / HEADS_FILE, heads_hint(run)
    with as_reading_errors(path, hint=hint):
        return load(read_sealed(path, hint=hint))


def heads_hint(run: RunFolder) -> str:
    """Return the hint for unusable heads of RUN."""
    return f"restore the file, or train {run.name!r} again under another name"


DropoutRate = (
    float | None
)  # the dropout rate of one pass over a batch's sentences; None = the encoder's own rates
Frozen = Literal["nothing", "embeddings", "encoder"]


class Objective(nn.Module):
    """A loss on the vectors of a batch's distinct sentences, with the heads that it trains in
    addition to the encoder.

    Sentence columns hold positions among the batch's distinct sentences, so that a sentence which
    repeats is encoded once a view; class columns hold class indices, word columns token ids.
    """

    views: tuple[DropoutRate, ...] = (
        None,
    )  # how often, and with which dropout, the sentences are encoded
    frozen: Frozen = "nothing"  # the part of the encoder that this objective must not change
    notes: tuple[str, ...] = ()  # remarks for readers of the run
    is_sum: bool = False  # the loss is a sum over rows, not their mean

    def __init__(self) -> None:
        super().__init__()
        self.word_head: WordHead | None = None  # of the encoder, frozen; saved with the model

    def attach(self, encoder: TransformerEncoder) -> None:
        """Get parts of the encoder that the loss needs in addition to vectors, at the start; most
        need none.
        """

    def share(self, other_objectives: "Sequence[Objective]") -> None:
        """Use the layers that it shares with objectives of the recipe's other stages; most share
        none.
        """

    def fit_vectors(self, vectors: NDArray[np.float32]) -> None:
        """Get the vectors of all distinct texts that a frozen encoder gives, before the stage's
        first step; most need none.
        """

    def sample(
        self, columns: Mapping[str, NDArray[np.int64]], rng: np.random.Generator
    ) -> dict[str, NDArray[np.generic]]:
        """Return columns that are drawn or derived on the CPU while the batch is prepared."""
        return {}

    def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
        """The scalar loss; vectors: (views x distinct sentences, dim), float32, one view after the
        other.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class TrainedEncoder:
    """An encoder and the objectives that it was trained with, one per stage, which a dev score
    evaluates.
    """

    encoder: Encoder
    objectives: Sequence[Objective]


def build_objectives(recipe: Recipe, dim: int) -> list[Objective]:
    """The objectives of a recipe's stages, with the layers that they share."""
    built = [build_objective(stage.objective, dim) for stage in recipe.stages]
    for objective in built:
        objective.share(built)
    return built


def saved_tensors(objectives: Sequence[Objective]) -> dict[str, Tensor]:
    """Return the trainable parameters of OBJECTIVES and their own buffers, named
    "<stage>.<tensor>"; a shared layer is named once.

    Frozen parts, such as a pre-trained head, belong to the encoder.
    """
    parameters = {
        name: parameter
        for name, parameter in nn.ModuleList(objectives).named_parameters()
        if parameter.requires_grad
    }
    buffers = {
        f"{stage}.{name}": values
        for stage, objective in enumerate(objectives)
        for name, values in objective.named_buffers(recurse=False)
    }
    return parameters | buffers


def build_objective(section: ObjectiveSection, dim: int) -> Objective:
    """The objective of a recipe's stage on vectors of DIM numbers; heads draw their weights from
    torch's generator.
    """
    plugin = plugins.require("objectives", section.name)
    loaded = plugin.load()  # a plug-in may be the class itself
    if not isinstance(loaded, type) and not hasattr(loaded, "objective"):
        raise MissingError(
            f"{plugin.title} has no loss: it is no class, and has no function 'objective'",
            hint="declare the class itself, as docs/plugins.md does",
        )
    objective_class = loaded if isinstance(loaded, type) else loaded.objective()
    return plugin.check_instance(objective_class(section.options, dim), Objective)


def views_of_rows(vectors: Tensor, columns: Mapping[str, Tensor], views: int) -> Tensor:
    """The vector of each row in each view; (views x distinct texts, dim) in, (views, rows, dim)
    out.
    """
    rows = columns["joint"] if "joint" in columns else columns["sentence"]
    return vectors.view(views, -1, vectors.shape[-1])[:, rows]


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u−v|] of each pair; (pairs, dim) twice gives (pairs, 3 dim)."""
    return torch.cat([first, second, (first - second).abs()], dim=-1)


def pair_head(kind: HeadKind, dim: int, classes: int) -> nn.Module:
    """Logits of CLASSES from the features of a pair.

    "linear" is SBERT's single layer. "two-layer" is liao's "two-layer softmax"; the paper names
    neither width nor activation: the width is the authors' code's (1536 → 768 → 3 at dim 512), tanh
    is ours, for their code puts nothing between the layers, which makes the two layers one:
    "two-linear".
    """
    if kind == "linear":
        return nn.Linear(3 * dim, classes)
    width = 3 * dim // 2
    hidden, output = nn.Linear(3 * dim, width), nn.Linear(width, classes)
    activation = {"activation": nn.Tanh()} if kind == "two-layer" else {}
    return nn.Sequential(OrderedDict(hidden=hidden, **activation, output=output))


def task_layers(kind: Layers, dim: int, dropout: float) -> nn.Module:
    """The additional layers of a task's head; with "none" the vectors go on as they are.

    Dropout, linear, ReLU, dropout, linear, all as wide as the vector; chen does not name the
    activation.
    """
    if kind == "none":
        return nn.Identity()
    first, second = nn.Linear(dim, dim), nn.Linear(dim, dim)
    dropouts = nn.Dropout(dropout), nn.Dropout(dropout)
    steps = {"before": dropouts[0], "first": first, "activation": nn.ReLU(), "dropout": dropouts[1]}
    return nn.Sequential(OrderedDict(**steps, second=second))


def load_objectives(run: RunFolder, dim: int) -> list[Objective]:
    """The objectives of RUN, one a stage, on vectors of DIM numbers, with the heads that it saved.

    Objectives draw their heads at random when they are made, so that a tensor which is absent,
    misshapen or not finite would give results of chance: it is a MissingError. What an objective
    took from its encoder was never saved.
    """
    objectives = build_objectives(run.recipe(), dim)
    tensors, expected = read_heads(run), saved_tensors(objectives)
    for name, parameter in expected.items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != parameter.shape or not tensor.isfinite().all():
            raise MissingError(
                f"{str(run.path / HEADS_FILE)!r} lacks tensor {name!r} of {list(parameter.shape)} "
                f"finite numbers, which the run's recipe has",
                hint=heads_hint(run),
            )
    nn.ModuleList(objectives).load_state_dict(
        {name: tensors[name] for name in expected}, strict=False
    )  # strict counts shared layers twice
    return objectives
