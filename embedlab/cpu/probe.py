"""Check that torch's private oneDNN operators exist and multiply correctly: any version of torch
may change or drop them.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

OPERATORS = ("_linear_pointwise", "_reorder_linear_weight")
ROWS, IN, OUT = 5, 24, 40  # of the test product, none a multiple of another
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 3e-2}


def flaw(kind: torch.dtype) -> str:
    """Return what is wrong with the operators for this dtype, in a few words; empty if nothing
    is.
    """
    for name in OPERATORS:
        if getattr(torch.ops.mkldnn, name, None) is None:
            return f"this torch has no mkldnn.{name}"
    try:
        with (
            torch.inference_mode(mode=False),
            torch.no_grad(),
            torch.autocast("cpu", enabled=False),
        ):
            wrong = _wrong(kind)
    except (RuntimeError, TypeError, ValueError) as error:
        first_line, _, _ = str(error).partition("\n")
        return f"mkldnn.{OPERATORS[0]} fails: {first_line}"
    return f"mkldnn.{OPERATORS[0]} gives wrong numbers {wrong}" if wrong else ""


def _wrong(kind: torch.dtype) -> str:
    """Return the use of the operators that gives wrong numbers; empty if none does."""
    # No random numbers: torch's generator belongs to the training that comes after.
    states, weight, bias = (
        _numbers(ROWS, IN).to(kind),
        _numbers(OUT, IN).to(kind),
        _numbers(OUT).to(kind),
    )
    plain = states.double() @ weight.double().t()
    multiply, packed = (
        torch.ops.mkldnn._linear_pointwise,
        torch.ops.mkldnn._reorder_linear_weight(weight),
    )
    turned = weight.t().contiguous().t()
    tried = {
        "with a packed weight": (
            multiply(states, packed, bias, "none", [], "none"),
            plain + bias.double(),
        ),
        "with GELU": (
            multiply(states, packed, bias, "gelu", [], "none"),
            F.gelu(plain + bias.double()),
        ),
        "with a plain weight": (multiply(states, weight, None, "none", [], "none"), plain),
        "with a transposed weight": (multiply(states, turned, None, "none", [], "none"), plain),
    }
    return next(
        (
            use
            for use, (computed, expected) in tried.items()
            if not _is_near(computed, expected, TOLERANCE[kind])
        ),
        "",
    )


def _numbers(*shape: int) -> Tensor:
    return (
        torch.arange(1, torch.Size(shape).numel() + 1, dtype=torch.float64)
        .mul(0.7)
        .sin()
        .view(shape)
    )


def _is_near(computed: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Return whether FOUND has the shape of EXPECTED and, relative to its largest number, its
    values.
    """
    if computed.shape != expected.shape:
        return False
    return bool(
        ((computed.double() - expected).abs() <= tolerance * expected.abs().max()).all()
    )  # False for nan
