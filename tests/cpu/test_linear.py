"""Linear layers by oneDNN: the numbers of torch's own, whatever became of the weight since, and
their gradients.
"""

import pickle
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
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
from embedlab.models.reading import Wishes
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

    def __init__(self, width: int = WIDE, *, function: nn.Module | None = None) -> None:
        super().__init__()
        self.dense = nn.Linear(width, 2 * width)
        self.intermediate_act_fn = function or GELUActivation()

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        after: torch.Tensor = self.intermediate_act_fn(self.dense(states))
        return after


def both() -> tuple[Block, Block, torch.Tensor]:
    """A block as it was, the same one with fast products, and states for them."""
    torch.manual_seed(5)
    plain, fast = Block(), Block()
    fast.load_state_dict(plain.state_dict())
    assert use_onednn(fast)
    assert isinstance(fast.dense, FastLinear)
    return plain, fast, torch.randn(3, 200, WIDE)


def test_float32_is_torchs_own_up_to_its_last_digits() -> None:
    plain, fast, states = both()
    with torch.inference_mode():
        torch.testing.assert_close(fast(states), plain(states), rtol=1e-5, atol=2e-6)
        torch.testing.assert_close(
            fast(states.transpose(0, 1)), plain(states.transpose(0, 1)), rtol=1e-5, atol=2e-6
        )
        assert fast(states[:0]).shape == plain(states[:0]).shape


@pytest.mark.parametrize("has_avx512", [True, False])
def test_training_multiplies_float32_by_onednn_where_there_is_avx512(
    has_avx512: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_has_avx512", lambda: has_avx512)
    multiply, multiplied = products._multiply, []
    monkeypatch.setattr(
        products, "_multiply", lambda *given: multiplied.append(given) or multiply(*given)
    )
    plain, fast, states = both()
    goal, found = torch.randn(3, 200, 2 * WIDE), []
    for block in (plain, fast):
        given = states.clone().requires_grad_()
        out = block(given)
        (out * goal).sum().backward()
        found.append((out, given.grad, *(parameter.grad for parameter in block.parameters())))
    assert len(multiplied) == (
        3 if has_avx512 else 0
    )  # forward, and the gradients of states and weight
    for expected, gradient in zip(*found, strict=True):
        assert (gradient - expected).norm() / expected.norm() < 1e-6


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
def test_gradients_in_bf16_are_those_of_autocast_stored_in_float32() -> None:
    plain, fast, states = both()
    goal, found = torch.randn(3, 200, 2 * WIDE), []
    for block in (plain, fast):
        given = states.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            out = block(given)
        (out.float() * goal).sum().backward()
        found.append((given.grad, *(parameter.grad for parameter in block.parameters())))
    for expected, gradient in zip(*found, strict=True):
        assert gradient is not None
        assert gradient.dtype == torch.float32
        assert (gradient - expected).norm() / expected.norm() < 4e-3


@needs_bf16
def test_a_frozen_layer_passes_the_gradient_on_and_has_none() -> None:
    _, fast, states = both()
    fast.requires_grad_(False)
    given = states.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        fast(given).float().sum().backward()
    assert given.grad is not None
    assert fast.dense.weight.grad is None


def test_a_changed_weight_is_packed_again() -> None:
    plain, fast, states = both()
    optimizer = torch.optim.AdamW(fast.parameters(), lr=0.1, fused=True)
    for change in ("step", "load", "replace", "data"):
        with torch.inference_mode():
            before = fast(states)
        if change == "step":
            fast(states).sum().backward()
            optimizer.step()
        elif change == "load":
            fast.load_state_dict(plain.state_dict())
        elif change == "replace":
            fast.dense.weight = nn.Parameter(torch.randn_like(fast.dense.weight))
        else:
            fast.dense.weight.data = torch.randn_like(fast.dense.weight)
        with torch.inference_mode():
            after = fast(states)
            assert not torch.allclose(before, after), change
            torch.testing.assert_close(
                after,
                F.gelu(F.linear(states, fast.dense.weight, fast.dense.bias)),
                rtol=1e-4,
                atol=2e-5,
            )


def test_a_block_that_has_encoded_can_be_copied() -> None:
    _, fast, states = both()
    with torch.inference_mode():
        expected = fast(states)
        assert torch.equal(deepcopy(fast)(states), expected)
        assert torch.equal(pickle.loads(pickle.dumps(fast))(states), expected)


def test_a_layer_without_bias_multiplies_and_learns() -> None:
    torch.manual_seed(5)
    layer, states = nn.Sequential(nn.Linear(WIDE, WIDE, bias=False)), torch.randn(400, WIDE)
    expected = layer(states)
    use_onednn(layer)
    with torch.inference_mode():
        torch.testing.assert_close(layer(states), expected, rtol=1e-5, atol=2e-6)
        with torch.autocast("cpu", torch.bfloat16):
            assert (layer(states) - expected).norm() / expected.norm() < 1e-2
    with torch.autocast("cpu", torch.bfloat16):
        layer(states).float().sum().backward()
    torch.testing.assert_close(layer[0].weight.grad[0], states.sum(dim=0), rtol=3e-2, atol=0.5)


@needs_bf16
def test_one_layer_serves_both_precisions_in_turn() -> None:
    _, fast, states = both()
    with torch.inference_mode():
        exact = fast(states)
        with torch.autocast("cpu", torch.bfloat16):
            assert fast(states).dtype == torch.bfloat16
        assert torch.equal(fast(states), exact)


@pytest.mark.parametrize(
    ("pooling", "precision"),
    [
        ("mean", "float32"),
        ("cls", "bf16"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (("cls", "float32"), ("mean", "bf16"))
        ),
    ],
)
def test_vectors_follow_each_training_step(pooling: str, precision: str, tmp_path: Path) -> None:
    build_random_encoder(tmp_path / "model", seed=0, hidden=128, vocabulary=["a", "man", "runs"])
    here = replace(MACHINE, precision=precision)  # type: ignore[arg-type]
    encoder, fresh = (
        load_transformer(
            str(tmp_path / "model"), here, wishes=Wishes(pooling=pooling, max_tokens=32)
        )
        for _ in range(2)
    )  # type: ignore[arg-type]
    sentences = ["a man", "a man runs runs", "runs"] * 30
    rows = encoder.token_ids(sentences)
    ids, mask = (torch.from_numpy(array) for array in rows.padded(range(len(rows)), 0))
    optimizer = torch.optim.AdamW(encoder.backbone.parameters(), lr=1e-2, fused=True)
    for is_training in (True, False, True):
        before = encoder.encode(sentences)
        encoder.backbone.train(is_training)
        with here.autocast():
            encoder.forward_tokens(ids, mask)[:, 0].sum().backward()
        optimizer.step()
        after = encoder.encode(sentences)
        fresh.backbone.load_state_dict(encoder.backbone.state_dict())
        assert not np.allclose(before, after, atol=1e-3)
        np.testing.assert_array_equal(after, fresh.encode(sentences))
        if is_training:
            assert all(
                layer._cached is None
                for layer in encoder.backbone.modules()
                if isinstance(layer, FastLinear)
            )


def test_only_exact_gelu_is_taken_and_small_layers_stay() -> None:
    approximate, small = Block(function=nn.GELU(approximate="tanh")), Block(width=8)
    use_onednn(approximate)
    assert not use_onednn(small)
    assert type(approximate.intermediate_act_fn) is nn.GELU
    assert type(small.dense) is nn.Linear
    states = torch.randn(2, WIDE)
    with torch.inference_mode():
        torch.testing.assert_close(
            approximate(states),
            F.gelu(F.linear(states, *approximate.dense.parameters()), approximate="tanh"),
        )


def test_without_onednn_everything_stays_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "can_multiply", lambda kind: False)
    block = Block()
    assert not use_onednn(block)
    assert type(block.dense) is nn.Linear


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_an_encoder_keeps_its_vectors_and_the_names_of_its_weights(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_random_encoder(
        tmp_path / "model",
        seed=0,
        hidden=128,
        vocabulary=["a", "man", "runs"],
        architecture=architecture,
    )
    fast = load_transformer(str(tmp_path / "model"), MACHINE, wishes=Wishes(max_tokens=32))
    monkeypatch.setattr(products, "can_multiply", lambda kind: False)
    plain = load_transformer(str(tmp_path / "model"), MACHINE, wishes=Wishes(max_tokens=32))
    taking = [
        module
        for module in fast.backbone.modules()
        if isinstance(module, FastLinear) and module.takes_gelu
    ]
    assert len(taking) == fast.backbone.config.num_hidden_layers
    assert fast.backbone.state_dict().keys() == plain.backbone.state_dict().keys()
    sentences = ["a man", "a man runs runs", "runs"]
    expected = plain.encode(sentences)
    monkeypatch.undo()
    torch.testing.assert_close(
        torch.from_numpy(fast.encode(sentences)), torch.from_numpy(expected), rtol=1e-5, atol=1e-5
    )


def test_onednn_meets_thirty_two_numbers_of_rows_between_two_powers_of_two_and_torch_each_number_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(products, "can_multiply", lambda kind: True)
    numbers = range(1024, 2048)
    with torch.inference_mode():
        rounded = [rows_to_multiply(rows) for rows in numbers]
        assert [rows_to_multiply(rows) for rows in range(71)] == [
            *range(65),
            66,
            66,
            68,
            68,
            70,
            70,
        ]
    assert len(set(rounded)) == 33  # the last of them are as many as 2,048
    assert all(rows <= more < rows * 33 / 32 for rows, more in zip(numbers, rounded, strict=True))
    for has_avx512, in_float32 in ((False, list(numbers)), (True, rounded)):
        monkeypatch.setattr(products, "_has_avx512", lambda has=has_avx512: has)
        with torch.autocast("cpu", torch.bfloat16):
            assert [rows_to_multiply(rows) for rows in numbers] == rounded
        assert [rows_to_multiply(rows) for rows in numbers] == in_float32
    monkeypatch.setattr(products, "can_multiply", lambda kind: kind == torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert [rows_to_multiply(rows) for rows in numbers] == list(numbers)
