"""Training in bf16, which torch emulates where the processor has none: only matrix products of the encoder are in it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from embedlab.recipe import Recipe
from embedlab.runs.store import RunFolder
from embedlab.training.checkpointing import Checkpoints, Snapshot
from embedlab.training.meter import Meter
from tests.training.small_runs import MACHINE, joint_stages, mixed_stages, recipe_of, stage

Train = Callable[..., RunFolder]

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


@pytest.mark.parametrize(
    "recipe_for", [joint_stages, mixed_stages], ids=["several tasks a step", "turns, one of them with cached gradients"]
)
def test_loss_weights_and_optimizer_stay_float32_in_bf16(
    recipe_for: Callable[[Path], Recipe], train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses: list[Tensor] = []
    add = Meter.add

    def record(meter: Meter, loss: Tensor, rows: int) -> None:
        losses.append(loss)
        add(meter, loss, rows)

    monkeypatch.setattr(Meter, "add", record)
    products = record_products(monkeypatch)
    run = train(recipe_for(tiny_encoder), machine=BF16)
    assert products.keys() == {torch.bfloat16, torch.float32}  # of the encoder and of the heads
    assert {loss.dtype for loss in losses} == {torch.float32}
    kept = Checkpoints(run.checkpoints)
    snapshot = Snapshot.read(kept.path(kept.steps()[-1]))
    for tensors in (snapshot.encoder, snapshot.heads, snapshot.optimizer):
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float32}


def test_runs_of_one_process_may_differ_in_precision(train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, products = recipe_of(tiny_encoder, stage(rows=16)), record_products(monkeypatch)
    for number, (machine, is_bf16) in enumerate([(MACHINE, False), (BF16, True), (MACHINE, False)], start=1):
        products.clear()
        train(recipe, seed=number, machine=machine)
        assert (torch.bfloat16 in products) is is_bf16
