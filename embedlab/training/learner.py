"""Encoder and objectives as one module, and the gradient of a batch: with one graph, chunk by
chunk, or for several tasks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

from embedlab.core.recipe import Combine
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import DropoutRate, Objective
from embedlab.training.batching import Batch, Chunk
from embedlab.training.checkpointing import random_tensors, restore_random
from embedlab.training.dropout import dropout_places, dropout_rate
from embedlab.training.freezing import frozen
from embedlab.training.gradients import take_gradients, without_conflicts
from embedlab.training.parallel import Team
from embedlab.training.scaling import LossScale


class Learner(nn.Module):
    """Returns the loss of a batch; OBJECTIVES belong to the stages that are trained together, by
    their index.
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        objectives: Mapping[int, Objective],
        team: Team | None = None,
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
        self._dropouts = dropout_places(encoder.backbone)

    def objective(self, batch: Batch) -> Objective:
        """Return the objective that BATCH was made for."""
        objective = self.objectives[str(batch.stage)]
        assert isinstance(objective, Objective)
        return objective

    def passes(self, batch: Batch) -> Iterator[tuple[Chunk, DropoutRate]]:
        """Yield the encoder's inputs for BATCH: its chunks once for each view."""
        return ((chunk, view) for view in self.objective(batch).views for chunk in batch.chunks)

    def encode(self, chunk: Chunk, view: DropoutRate) -> Tensor:
        """Return the vectors of a chunk's sentences, encoded with the dropout of VIEW."""
        with dropout_rate(self._dropouts, view):
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
        return self.loss(
            torch.cat([self.encode(chunk, view) for chunk, view in self.passes(batch)]), batch
        )


def backward(learner: Learner, batch: Batch, scale: LossScale, *, is_cached: bool) -> Tensor:
    """Return the loss of BATCH and add its gradient to the parameters; frozen parameters get
    none.
    """
    with frozen(learner.encoder, learner.layers, learner.objective(batch).frozen):
        if is_cached:
            return cached_backward(learner, batch, scale)
        losses = [
            plain_backward(learner, part, scale, weight)
            for part, weight in weighted_parts(learner, batch)
        ]
        return torch.stack(losses).sum() if len(losses) > 1 else losses[0]


def weighted_parts(learner: Learner, batch: Batch) -> list[tuple[Batch, float]]:
    """Return the parts of BATCH whose losses add up to its own, with their weights: shares of its
    rows, or 1 where rows are summed.
    """
    if not batch.parts:
        return [(batch, 1.0)]
    is_sum = learner.objective(batch).is_sum
    return [(part, 1.0 if is_sum else part.rows / batch.rows) for part in batch.parts]


def plain_backward(learner: Learner, batch: Batch, scale: LossScale, weight: float) -> Tensor:
    """Return the loss of BATCH times WEIGHT and add its gradient to the parameters, with one
    graph.
    """
    with learner.autocast():
        loss: Tensor = learner(batch)
    loss = loss if weight == 1.0 else loss * weight
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
    if batch.vectors is not None:  # the vectors are given, so there is no graph
        with learner.autocast():
            plain: Tensor = learner(batch)
        scale.backward(plain)
        return plain.detach()
    device = batch.chunks[0][0].device
    states, parts = [], []
    with torch.no_grad(), learner.autocast():
        for chunk, view in learner.passes(batch):
            states.append(random_tensors(device))
            parts.append(learner.encode(chunk, view))
    vectors = torch.cat(parts).requires_grad_()
    loss = learner.loss(vectors, batch)
    scale.backward(loss)
    after = random_tensors(device)
    assert vectors.grad is not None
    shares = vectors.grad.split([len(part) for part in parts])
    for (chunk, view), state, share in zip(learner.passes(batch), states, shares, strict=True):
        restore_random(state, device)
        with learner.autocast():
            again = learner.encode(chunk, view)
        again.backward(share)
    restore_random(after, device)
    return loss.detach()
