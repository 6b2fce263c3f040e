"""Dropout by random bits: the rate, the mean and the gradient of torch's own."""

from pathlib import Path

import pytest
import torch
from torch import nn

from embedlab.cpu.dropout import BitDropout, drop, use_bits
from embedlab.cpu.forward import Forward
from embedlab.cpu.packing import ARCHITECTURES
from embedlab.encoders.pooling import pooling_method
from tests.cpu.test_packing import IDS, MASK, encoder_of


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_the_rate_is_dropped_and_the_mean_stays_in_each_place_of_a_word_of_bits(
    rate: float,
) -> None:
    torch.manual_seed(1)
    dropped = drop(torch.ones(400_000, 4), rate)
    torch.testing.assert_close(
        (dropped == 0).float().mean(dim=0), torch.full((4,), rate), rtol=0, atol=4e-3
    )
    torch.testing.assert_close(dropped.mean(), torch.tensor(1.0), rtol=0, atol=1e-2)
    assert len(dropped.unique()) == 2


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(1)
    mask = (drop(torch.ones(1_000_000), 0.5) > 0).float()
    for apart in (1, 2, 3, 4, 8):
        assert abs(float((mask[:-apart] * mask[apart:]).mean()) - 0.25) < 3e-3


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_the_mask_keeps_the_kind_of_states_and_its_gradient(kind: torch.dtype) -> None:
    # 21 elements: not a whole number of words
    states = torch.full((7, 3), 2.0, dtype=kind, requires_grad=True)
    dropped = drop(states, 0.4)
    dropped.sum().backward()
    assert states.grad is not None
    assert dropped.dtype == states.grad.dtype == kind
    assert 0 < int((dropped == 0).sum()) < 21
    torch.testing.assert_close(states.grad * 2, dropped.detach())


def test_nothing_all_and_evaluation_are_as_in_torch() -> None:
    states = torch.randn(8, 8)
    assert torch.equal(drop(states, 0.0), states)
    assert not drop(states, 1.0).any()
    assert torch.equal(BitDropout(0.5).eval()(states), states)


def test_only_dropout_modules_are_replaced_with_their_rates_and_modes() -> None:
    model = nn.Sequential(nn.Dropout(0.2), nn.Sequential(nn.Dropout(0.3).eval(), nn.LayerNorm(3)))
    use_bits(model)
    found = [
        (module.p, module.training) for module in model.modules() if type(module) is BitDropout
    ]
    assert found == [(0.2, True), (0.3, False)]


@pytest.mark.parametrize("is_packing", [True, False])
@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_attention_that_drops_nothing_while_training_is_that_of_evaluation(
    architecture: str, is_packing: bool, tmp_path: Path
) -> None:
    encoder = encoder_of(tmp_path, architecture)
    if not is_packing:
        encoder.forward = Forward(encoder.backbone, pooling_method("mean").pool)
    found = []
    for is_training in (False, True):
        for module in encoder.backbone.train(is_training).modules():
            if isinstance(module, nn.Dropout):
                assert isinstance(module, BitDropout)
                module.p = 1e-6  # rounds to nothing, but is requested
        found.append(encoder.forward_tokens(IDS, MASK))
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-6)
