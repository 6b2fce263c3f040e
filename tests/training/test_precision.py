"""Training in bf16, which torch emulates where the processor has none: only matrix products of the
encoder are in it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from embedlab.core.recipe import Recipe
from embedlab.training.meter import Meter
from tests.training.small_runs import MACHINE, Train, joint_stages, last_checkpoint, mixed_stages

BF16 = replace(MACHINE, precision="bf16")


def record_products(monkeypatch: pytest.MonkeyPatch) -> dict[torch.dtype, int]:
    """How many linear layers give numbers of which kind from here on."""
    counts: dict[torch.dtype, int] = {}
    forward = nn.Linear.forward

    def record(layer: nn.Linear, states: Tensor) -> Tensor:
        product = forward(layer, states)
        counts[product.dtype] = counts.get(product.dtype, 0) + 1
        return product

    monkeypatch.setattr(nn.Linear, "forward", record)
    return counts


def record_losses(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The loss of each step from here on."""
    losses: list[Tensor] = []
    add = Meter.add

    def record(meter: Meter, loss: Tensor, rows: int) -> None:
        losses.append(loss)
        add(meter, loss, rows)

    monkeypatch.setattr(Meter, "add", record)
    return losses


@pytest.mark.parametrize(
    "recipe_for",
    [joint_stages, mixed_stages],
    ids=["several tasks a step", "turns, one of them with cached gradients"],
)
def test_loss_weights_and_optimizer_stay_float32_in_bf16(
    recipe_for: Callable[[Path], Recipe],
    train: Train,
    tiny_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    losses = record_losses(monkeypatch)
    kinds = record_products(monkeypatch)
    # steps of every kind that the stages have
    run = train(replace(recipe_for(tiny_encoder), max_steps=8), machine=BF16)
    assert kinds.keys() == {torch.bfloat16, torch.float32}  # of the encoder and of the heads
    assert {loss.dtype for loss in losses} == {torch.float32}
    snapshot = last_checkpoint(run)
    for tensors in (snapshot.encoder, snapshot.heads, snapshot.optimizer):
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float32}
