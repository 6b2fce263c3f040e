"""Linear layers by oneDNN: the numbers of torch's own, whatever became of the weight since, and
their gradients.
"""

import pickle
from copy import deepcopy
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers.activations import GELUActivation

from embedlab.cpu import linear as products
from embedlab.cpu.linear import (
    FastLinear,
    can_multiply,
    rows_to_multiply,
    use_onednn,
)
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.random_encoder import build_random_encoder
from tests.training.small_runs import MACHINE

WIDE = 192
needs_bf16 = pytest.mark.skipif(
    not can_multiply(torch.bfloat16), reason="this processor's oneDNN has no bf16 products"
)
pytestmark = pytest.mark.skipif(
    not can_multiply(torch.float32), reason="oneDNN is used on x86 alone"
)


class Block(nn.Module):
    """As in BERT: a layer and GELU."""

    def __init__(
        self, width: int = WIDE, *, function: nn.Module | None = None, bias: bool = True
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(width, 2 * width, bias=bias)
        self.intermediate_act_fn = function or GELUActivation()

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        after: torch.Tensor = self.intermediate_act_fn(self.dense(states))
        return after


def both(**options: bool) -> tuple[Block, Block, torch.Tensor]:
    """A block as it was, the same one with fast products, and states for them."""
    torch.manual_seed(5)
    plain, fast = Block(**options), Block(**options)
    fast.load_state_dict(plain.state_dict())
    assert use_onednn(fast)
    assert isinstance(fast.dense, FastLinear)
    return plain, fast, torch.randn(3, 200, WIDE)


def learnt(block: Block, states: torch.Tensor) -> list[torch.Tensor]:
    """What a block computes, and the gradients of its states and weights."""
    given = states.clone().requires_grad_()
    out = block(given).float()
    torch.manual_seed(6)
    (out * torch.randn(out.shape)).sum().backward()
    return [out, given.grad, *(parameter.grad for parameter in block.parameters())]  # type: ignore[list-item]


@pytest.mark.parametrize("bias", [True, False])
def test_float32_is_torchs_own_up_to_its_last_digits(bias: bool) -> None:
    plain, fast, states = both(bias=bias)
    near = {"rtol": 1e-5, "atol": 2e-6}
    with torch.inference_mode():
        for given in (states, states.transpose(0, 1)):
            torch.testing.assert_close(fast(given), plain(given), **near)
        assert fast(states[:0]).shape == plain(states[:0]).shape


@pytest.mark.parametrize("has_avx512", [True, False])
def test_training_multiplies_float32_by_onednn_where_there_is_avx512(
    has_avx512: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply = Mock(side_effect=products._multiply)
    monkeypatch.setattr(products, "_has_avx512", lambda: has_avx512)
    monkeypatch.setattr(products, "_multiply", multiply)
    plain, fast, states = both()
    for expected, found in zip(learnt(plain, states), learnt(fast, states), strict=True):
        assert (found - expected).norm() / expected.norm() < 1e-6
    # forward, and the gradients of states and weight
    assert multiply.call_count == (3 if has_avx512 else 0)


@needs_bf16
def test_bf16_rounds_once_where_torch_rounds_before_gelu_too() -> None:
    plain, fast, states = both()
    with torch.inference_mode():
        exact = plain(states)
        with torch.autocast("cpu", torch.bfloat16):
            found, twice = fast(states), plain(states)
    assert found.dtype == torch.bfloat16
    assert (found - exact).norm() < (twice - exact).norm()
    assert (found - exact).norm() / exact.norm() < 4e-3


@needs_bf16
@pytest.mark.parametrize("bias", [True, False])
def test_gradients_in_bf16_are_those_of_autocast_stored_in_float32(bias: bool) -> None:
    plain, fast, states = both(bias=bias)
    with torch.autocast("cpu", torch.bfloat16):
        pairs = zip(learnt(plain, states), learnt(fast, states), strict=True)
    for expected, found in pairs:
        assert found.dtype == torch.float32
        assert (found - expected).norm() / expected.norm() < 4e-3


def changed(fast: Block, plain: Block, states: torch.Tensor, change: str) -> None:
    """Give a fast block other weights in one of the ways that there are."""
    if change == "step":
        optimizer = torch.optim.AdamW(fast.parameters(), lr=0.1, fused=True)
        fast(states).sum().backward()
        assert fast.dense._cached is None  # its memory is free while it learns
        optimizer.step()
    elif change == "load":
        torch.nn.init.normal_(plain.dense.weight)
        fast.load_state_dict(plain.state_dict())
    elif change == "replace":
        fast.dense.weight = nn.Parameter(torch.randn_like(fast.dense.weight))
    else:
        fast.dense.weight.data = torch.randn_like(fast.dense.weight)


@needs_bf16
def test_a_frozen_layer_passes_the_gradient_on_and_has_none() -> None:
    _, fast, states = both()
    fast.requires_grad_(False)
    given = states.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        fast(given).float().sum().backward()
    assert given.grad is not None
    assert fast.dense.weight.grad is None


@pytest.mark.parametrize("change", ["step", "load", "replace", "data"])
def test_a_changed_weight_is_packed_again(change: str) -> None:
    plain, fast, states = both()
    with torch.inference_mode():
        before = fast(states)
    changed(fast, plain, states, change)
    with torch.inference_mode():
        after = fast(states)
        expected = F.gelu(F.linear(states, fast.dense.weight, fast.dense.bias))
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, expected, rtol=1e-4, atol=2e-5)


def test_a_block_that_has_encoded_can_be_copied() -> None:
    _, fast, states = both()
    with torch.inference_mode():
        expected = fast(states)
        assert torch.equal(deepcopy(fast)(states), expected)
        assert torch.equal(pickle.loads(pickle.dumps(fast))(states), expected)


@needs_bf16
def test_one_layer_serves_both_precisions_in_turn() -> None:
    _, fast, states = both()
    with torch.inference_mode():
        exact = fast(states)
        with torch.autocast("cpu", torch.bfloat16):
            assert fast(states).dtype == torch.bfloat16
        assert torch.equal(fast(states), exact)


def test_only_exact_gelu_is_taken_and_small_layers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    approximate, small = Block(function=nn.GELU(approximate="tanh")), Block(width=8)
    states = torch.randn(2, WIDE)
    expected = approximate(states)
    use_onednn(approximate)
    assert not use_onednn(small)
    assert type(approximate.intermediate_act_fn) is nn.GELU
    assert type(small.dense) is nn.Linear
    with torch.inference_mode():
        torch.testing.assert_close(approximate(states), expected)
    monkeypatch.setattr(products, "can_multiply", lambda kind: False)
    assert not use_onednn(Block())


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_the_gelu_of_each_layer_of_an_encoder_is_taken(architecture: str, tmp_path: Path) -> None:
    build_random_encoder(
        tmp_path, seed=0, hidden=128, vocabulary=["a", "man"], architecture=architecture
    )
    backbone = load_transformer(str(tmp_path), MACHINE).backbone
    layers = [module for module in backbone.modules() if isinstance(module, FastLinear)]
    assert sum(layer.takes_gelu for layer in layers) == backbone.config.num_hidden_layers


def test_onednn_meets_thirty_two_numbers_of_rows_between_two_powers_of_two_and_torch_each_number_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [*range(1024, 2048)]

    def rows_of(*, bf16: bool) -> list[int]:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            return [rows_to_multiply(rows) for rows in numbers]

    monkeypatch.setattr(products, "can_multiply", lambda kind: True)
    with torch.inference_mode():
        rounded = rows_of(bf16=False)
        assert [rows_to_multiply(rows) for rows in (1, 64, 65, 67)] == [1, 64, 66, 68]
    assert len(set(rounded)) == 33  # the last of them are as many as 2,048
    assert all(rows <= more < rows * 33 / 32 for rows, more in zip(numbers, rounded, strict=True))
    for has_avx512 in (False, True):
        monkeypatch.setattr(products, "_has_avx512", lambda has=has_avx512: has)
        assert rows_of(bf16=True) == rounded
        assert rows_of(bf16=False) == (rounded if has_avx512 else numbers)
    monkeypatch.setattr(products, "can_multiply", lambda kind: kind == torch.float32)
    assert rows_of(bf16=True) == numbers
