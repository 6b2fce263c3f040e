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
from embedlab.cpu import linear as products
from embedlab.cpu import packing
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
    run = train(
        replace(recipe_for(tiny_encoder), max_steps=8), machine=BF16
    )  # steps of every kind that the stages have
    assert kinds.keys() == {torch.bfloat16, torch.float32}  # of the encoder and of the heads
    assert {loss.dtype for loss in losses} == {torch.float32}
    checkpoints = Checkpoints(run.checkpoints)
    snapshot = Snapshot.read(checkpoints.path(checkpoints.steps()[-1]))
    for tensors in (snapshot.encoder, snapshot.heads, snapshot.optimizer):
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float32}


def test_runs_of_one_process_may_differ_in_precision(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, kinds = recipe_of(tiny_encoder, stage(rows=16)), record_products(monkeypatch)
    for number, (machine, is_bf16) in enumerate(
        [(MACHINE, False), (BF16, True), (MACHINE, False)], start=1
    ):
        kinds.clear()
        train(recipe, seed=number, machine=machine)
        assert (torch.bfloat16 in kinds) is is_bf16


@pytest.mark.skipif(
    not products.can_multiply(torch.bfloat16), reason="this processor's oneDNN has no bf16 products"
)
def test_a_run_learns_by_onednns_products_what_it_learns_by_torchs(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, multiplied = record_losses(monkeypatch), 0
    recipe, multiply = mixed_stages(tiny_encoder), products._multiply

    def count(states: Tensor, weight: Tensor, bias: Tensor | None, then: str = "none") -> Tensor:
        nonlocal multiplied
        multiplied += not torch.is_inference_mode_enabled()
        return multiply(states, weight, bias, then)

    monkeypatch.setattr(products, "_multiply", count)
    train(recipe, machine=BF16)
    assert multiplied == 0  # this encoder is too small
    expected = torch.stack(losses)
    losses.clear()
    monkeypatch.setattr(products, "SMALL", 1)
    monkeypatch.setattr(products, "FEW_ROWS", 1)
    monkeypatch.setattr(
        packing, "rows_to_multiply", lambda rows: rows
    )  # so that dropout is drawn for as many
    train(recipe, name="fast", machine=BF16)
    assert multiplied > len(losses)
    torch.testing.assert_close(torch.stack(losses), expected, rtol=0.02, atol=0.02)
