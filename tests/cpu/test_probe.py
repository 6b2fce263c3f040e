"""torch's private operators are used only where they exist and multiply correctly."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from embedlab.cpu import linear
from embedlab.cpu.engine import describe_engine
from embedlab.cpu.linear import FastLinear, can_multiply, operator_fault, why_not_multiplied
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.random_encoder import build_random_encoder
from tests.training.small_runs import MACHINE

pytestmark = pytest.mark.skipif(
    not can_multiply(torch.float32), reason="oneDNN is used on x86 alone"
)

Operator = Callable[..., Any]


def wrong_gelu(multiply: Operator) -> Operator:
    """An operator that no longer knows what is to follow the product."""
    return lambda states, weight, bias, then, *rest: multiply(states, weight, bias, "none", *rest)


def nan_without_bias(multiply: Operator) -> Operator:
    return lambda states, weight, bias, *rest: (
        multiply(states, weight, bias, *rest) * (1 if bias is not None else torch.nan)
    )


def another_signature(multiply: Operator) -> Operator:
    return lambda states, weight: multiply(states, weight, None, "none", [], "none")


@pytest.fixture(autouse=True)
def _forget_answers() -> Iterator[None]:
    """No test reads what another one has found out."""
    for answer in (can_multiply, why_not_multiplied):
        answer.cache_clear()
    yield
    for answer in (can_multiply, why_not_multiplied):
        answer.cache_clear()


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_the_operators_of_this_torch_have_no_flaw_and_draw_no_random_numbers(
    kind: torch.dtype,
) -> None:
    if not can_multiply(kind):
        pytest.skip("this processor's oneDNN has no such products")
    before = torch.get_rng_state()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        assert operator_fault(kind) == ""
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (wrong_gelu, "gives wrong numbers with GELU"),
        (nan_without_bias, "gives wrong numbers with a plain weight"),
        (another_signature, "_linear_pointwise fails: "),
        (None, "_linear_pointwise fails: "),
    ],
)
def test_where_an_operator_is_not_as_it_was_torch_multiplies_and_doctor_says_why(
    change: Callable[[Operator], Operator] | None,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build_random_encoder(tmp_path, seed=0, hidden=linear.SMALL, vocabulary=["a", "man", "runs"])
    sound = load_transformer(str(tmp_path), MACHINE).encode(["a man runs", "a"])
    own = torch.ops.mkldnn
    names = ("_reorder_linear_weight", "_is_mkldnn_bf16_supported")
    operators = {name: getattr(own, name) for name in names}
    if change is not None:
        operators["_linear_pointwise"] = change(own._linear_pointwise)
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(**operators))
    for answer in (can_multiply, why_not_multiplied):
        answer.cache_clear()
    said = describe_engine(is_on=True)
    assert expected in said
    assert "oneDNN multiplies" not in said
    encoder = load_transformer(str(tmp_path), MACHINE)
    assert not any(isinstance(module, FastLinear) for module in encoder.backbone.modules())
    np.testing.assert_allclose(encoder.encode(["a man runs", "a"]), sound, atol=1e-5)
