"""Encoder and objectives as one module, and the gradient of a batch: with one graph, chunk by
chunk, or for several tasks; its dropout rates and frozen parts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Combine, Stage
from embedlab.encoders.device import random_tensors, restore_random
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import DropoutRate, Frozen, Objective
from embedlab.training.batching import Batch, Chunk, PackedRows
from embedlab.training.capture import CapturedPasses
from embedlab.training.gradients import LossScale, take_gradients, without_conflicts
from embedlab.training.parallel import Team


class Learner(nn.Module):
    """Returns the loss of a batch; OBJECTIVES belong to the stages that are trained together, by
    their index.
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        objectives: Mapping[int, Objective],
        team: Team | None = None,
        captured: CapturedPasses | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder.backbone
        self.layers = encoder.layers
        self.objectives = nn.ModuleDict(
            {str(stage): objective for stage, objective in objectives.items()}
        )
        self._embed = encoder.forward_tokens
        self.autocast = encoder.machine.autocast
        self._team = team or Team()
        self._captured = captured
        self._dropouts = dropout_places(encoder.backbone)

    def objective(self, batch: Batch) -> Objective:
        """Return the objective that BATCH was made for."""
        objective = self.objectives[str(batch.stage)]
        assert isinstance(objective, Objective)
        return objective

    def passes(self, batch: Batch) -> Iterator[tuple[Chunk | PackedRows, DropoutRate]]:
        """Yield the encoder's inputs for BATCH: its chunks once for each view."""
        return ((chunk, view) for view in self.objective(batch).views for chunk in batch.chunks)

    def encode(self, chunk: Chunk | PackedRows, view: DropoutRate, pass_index: int = 0) -> Tensor:
        """Return the vectors of a chunk's sentences, encoded with the dropout of VIEW; PASS_INDEX
        counts the passes before it whose backward passes have not come.
        """
        with dropout_rate(self._dropouts, view):
            if isinstance(chunk, PackedRows):
                assert self._captured is not None
                return self._captured.encode(chunk, view, pass_index)
            return self._embed(*chunk)

    def loss(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the objective's loss for the batch's vectors; with several processes, VECTORS are
        this process's share.
        """
        vectors = self._team.gather(
            vectors.float(), sentences=batch.sentences, views=len(self.objective(batch).views)
        )
        # A raw dot product of long vectors, or a temperature of 0.05, needs more digits than bf16
        # or fp16 have.
        with torch.autocast(vectors.device.type, enabled=False):
            loss: Tensor = self.objective(batch)(vectors, batch.columns)
        return loss

    def forward(self, batch: Batch) -> Tensor:
        """Encode the batch's distinct sentences, unless they are encoded already, and return the
        loss.
        """
        if batch.vectors is not None:
            return self.loss(batch.vectors, batch)
        vectors = [
            self.encode(chunk, view, pass_index)
            for pass_index, (chunk, view) in enumerate(self.passes(batch))
        ]
        return self.loss(torch.cat(vectors), batch)


def backward(
    learner: Learner, parts: Sequence[Batch], scale: LossScale, *, is_cached: bool
) -> Tensor:
    """Return the loss of a batch in PARTS and add its gradient to the parameters; frozen parameters
    get none.
    """
    with freeze_part(learner.encoder, learner.layers, learner.objective(parts[0]).frozen):
        if is_cached and parts[0].vectors is None:  # such a batch has no parts
            return cached_backward(learner, parts[0], scale)
        losses = [plain_backward(learner, part, scale) for part in parts]
        return torch.stack(losses).sum() if len(losses) > 1 else losses[0]


def plain_backward(learner: Learner, batch: Batch, scale: LossScale) -> Tensor:
    """Return the weighted loss of BATCH and add its gradient to the parameters, with one graph."""
    with learner.autocast():
        loss: Tensor = learner(batch)
    loss = loss if batch.weight == 1.0 else loss * batch.weight
    scale.backward(loss)
    return loss.detach()


def joint_backward(
    backwards: Sequence[Callable[[], Tensor]],
    parameters: Sequence[nn.Parameter],
    combine: Combine,
    orders: Callable[[], Sequence[Sequence[int]]],
    add_up: Callable[[], None],
) -> Tensor:
    """Return the losses of several batches, each by its own of BACKWARDS, with one joint gradient
    in PARAMETERS; (batches,).

    ORDERS are the task orders of gradient surgery; ADD_UP sums gradients over all processes.
    """
    if combine not in {"surgery", "surgery-sum"}:
        losses = [backward() for backward in backwards]
        add_up()
        for parameter in parameters:
            if parameter.grad is not None and len(losses) > 1:
                parameter.grad /= len(losses)
        return torch.stack(losses)
    losses, tasks = [], []
    for backward in backwards:
        losses.append(backward())
        add_up()
        tasks.append(take_gradients(parameters))
    combined = without_conflicts(tasks, orders(), "sum" if combine == "surgery-sum" else "mean")
    for parameter, gradient in zip(parameters, combined, strict=True):
        parameter.grad = gradient
    return torch.stack(losses)


def cached_backward(learner: Learner, batch: Batch, scale: LossScale) -> Tensor:
    """Return the loss of BATCH and add its gradient to the parameters, with the graph of one chunk
    in memory at a time.

    Gradient caching (Gao et al. 2021, "Scaling deep contrastive learning batch size under memory
    limited setup"): encode without a graph, compute the loss's gradient for the vectors, then
    encode each chunk again and backpropagate its share. Both passes use the same dropout masks.
    """
    device = batch.chunks[0][0].device
    states, vectors_of_chunks = [], []
    with torch.no_grad(), learner.autocast():
        for chunk, view in learner.passes(batch):
            states.append(random_tensors(device))
            vectors_of_chunks.append(learner.encode(chunk, view))
    vectors = torch.cat(vectors_of_chunks).requires_grad_()
    loss = learner.loss(vectors, batch)
    scale.backward(loss)
    random_state = random_tensors(device)
    assert vectors.grad is not None
    shares = vectors.grad.split([len(chunk_vectors) for chunk_vectors in vectors_of_chunks])
    for (chunk, view), state, share in zip(learner.passes(batch), states, shares, strict=True):
        restore_random(state, device)
        with learner.autocast():
            vectors_again = learner.encode(chunk, view)
        vectors_again.backward(share)
    restore_random(random_state, device)
    return loss.detach()


DropoutPlace = tuple[nn.Module, str]  # a module and the attribute of it that holds a dropout rate


@contextmanager
def dropout_rate(dropouts: Sequence[DropoutPlace], rate: float | None) -> Iterator[None]:
    """Run DROPOUTS, including attention's, at RATE within the block; None leaves each
    unchanged.
    """
    if rate is None:
        yield
        return
    rates_before = [(module, name, getattr(module, name)) for module, name in dropouts]
    for module, name, _ in rates_before:
        setattr(module, name, rate)
    try:
        yield
    finally:
        for module, name, rate_before in rates_before:
            setattr(module, name, rate_before)


def dropout_places(model: nn.Module) -> list[DropoutPlace]:
    """Return all places in MODEL that hold a dropout rate; finding them takes longer than setting
    them, so call it once.

    Most are `p` of dropout modules; attention may store its own as a plain number under a name such
    as `attention_dropout`.
    """
    return [(module, name) for module in model.modules() for name in _rates(module)]


def _rates(module: nn.Module) -> list[str]:
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return ["p"]
    return [
        name
        for name, value in vars(module).items()
        if "dropout" in name and type(value) in (int, float)
    ]


@contextmanager
def freeze_part(backbone: PreTrainedModel, layers: nn.Module, part: Frozen) -> Iterator[None]:
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


def recompute_layers(encoder: TransformerEncoder) -> None:
    """Keep what each layer is given alone, and compute the rest once more in the backward pass
    (Chen et al. 2016); an architecture that transformers cannot do it for is a UsageError.
    """
    if not encoder.backbone.supports_gradient_checkpointing:
        kind = encoder.backbone.config.model_type
        raise UsageError(
            f"transformers has no gradient checkpointing for {kind!r}",
            hint="train without --gradient-checkpointing; a smaller optim.micro_batch saves memory "
            "too",
        )
    backbone: Any = encoder.backbone
    # its name in the newest transformers, which deprecate the other
    enable = getattr(backbone, "activation_checkpointing_enable", None)
    (enable or backbone.gradient_checkpointing_enable)({"use_reentrant": False})


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
            word_embedding = backbone.get_input_embeddings()
            layer = next(  # whatever the architecture calls it
                child
                for child in backbone.children()
                if any(module is word_embedding for module in child.modules())
            )
            return list(layer.parameters())
        case "encoder":
            return [*backbone.parameters(), *layers.parameters()]
