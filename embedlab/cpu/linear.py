"""Linear layers on a CPU: by oneDNN, with packed weights, fused GELU, bf16 and AVX-512, where
torch's private operators are there and right (any version may change or drop them); and in eight
bits, whose saving and cost `benchmarks/encoding.py --precision int8` measures.
"""

import platform
import warnings
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import PreTrainedModel
from transformers.activations import GELUActivation

FEW_ROWS = 256  # tokens: with fewer, a product costs less than its graph node; an estimate
# layer width below which products end before either library's overhead does; an estimate
SMALL = 128

# A layer and the activation after it, as the blocks of BERT and its kin and those of DistilBERT
# name them.
FOLLOWED = (("dense", "intermediate_act_fn"), ("lin1", "activation"))


class FastLinear(nn.Linear):
    """A linear layer that encodes with a weight packed once, and trains with oneDNN where that is
    faster.
    """

    takes_gelu = False  # while encoding, GELU is fused into the product
    # the weight that was packed, its state then, and the packed one; torch counts most changes of a
    # tensor, but not those through `.data` or by a fused optimizer
    _cached: tuple[Tensor, tuple[int, int, torch.dtype], Tensor] | None = None

    def forward(self, states: Tensor) -> Tensor:
        """Map (…, width in) to (…, width out); in bf16 under autocast."""
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else states.dtype
        if not torch.is_inference_mode_enabled():
            if torch.is_grad_enabled():
                self.forget()  # the weight is about to change
            if is_multiplying(kind) and states.numel() >= FEW_ROWS * self.in_features:
                trainable: Tensor = _LinearFunction.apply(states.to(kind), self.weight, self.bias)  # type: ignore[no-untyped-call]
                return trainable
            return super().forward(states)
        if not is_multiplying(kind) or not states.numel():
            product = super().forward(states)
            return F.gelu(product) if self.takes_gelu else product
        bias = None if self.bias is None else self.bias.to(kind)
        return _multiply(
            states.to(kind), self._packed(kind), bias, "gelu" if self.takes_gelu else "none"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without packed weights, so that a model that has encoded can be
        copied.
        """
        return {name: value for name, value in self.__dict__.items() if name != "_cached"}

    def forget(self) -> None:
        """Free the packed weight."""
        if self._cached is not None:
            self._cached = None

    def _packed(self, kind: torch.dtype) -> Tensor:
        state = (self.weight.data_ptr(), _version(self.weight), kind)
        if self._cached is None or self._cached[0] is not self.weight or self._cached[1] != state:
            packed_weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.to(kind))
            self._cached = (self.weight, state, packed_weight)
        return self._cached[2]


class _UnlessTaken(nn.Module):
    """The activation after a layer that fuses it while encoding."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, states: Tensor) -> Tensor:
        return states if torch.is_inference_mode_enabled() else self.function(states)


class _LinearFunction(torch.autograd.Function):
    """A product and its gradients in the dtype of the states; weight, bias and their gradients have
    the dtype of the parameters.
    """

    @staticmethod
    def forward(context: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        # The bf16 copy is saved for the backward pass: an estimated tenth of the states saved for a
        # pass of 4,096 tokens.
        multiplied = weight.to(states.dtype)
        context.save_for_backward(states, multiplied if context.needs_input_grad[0] else None)
        context.weight_kind = weight.dtype
        return _multiply(states, multiplied, None if bias is None else bias.to(states.dtype))

    @staticmethod
    @once_differentiable
    def backward(
        context: Any, gradient: Tensor
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        states, multiplied = context.saved_tensors
        of_states, of_weight, of_bias = context.needs_input_grad
        rows = gradient.flatten(0, -2)
        return (
            _product(gradient, multiplied) if of_states else None,
            _product(rows.t(), states.flatten(0, -2)).to(context.weight_kind)
            if of_weight
            else None,
            rows.sum(dim=0).to(context.weight_kind) if of_bias else None,
        )


def use_onednn(backbone: nn.Module) -> bool:
    """Replace the linear layers of BACKBONE by oneDNN ones and return whether any can; parameters
    keep their values and names.
    """
    if not can_multiply(torch.float32):
        return False
    for module in list(backbone.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear and min(child.weight.shape) >= SMALL:
                setattr(module, name, _fast_linear(child))
        for layer, function in FOLLOWED:
            linear, activation = getattr(module, layer, None), getattr(module, function, None)
            if (
                isinstance(linear, FastLinear)
                and type(activation) is GELUActivation
                and activation.act is F.gelu
            ):  # by the error function
                linear.takes_gelu = True
                setattr(module, function, _UnlessTaken(activation))
    return any(isinstance(module, FastLinear) for module in backbone.modules())


def forget_weights(backbone: nn.Module) -> None:
    """Free the packed weights, which training is about to invalidate."""
    for module in backbone.modules():
        if isinstance(module, FastLinear):
            module.forget()


@cache  # called for each product
def can_multiply(kind: torch.dtype) -> bool:
    """Return whether oneDNN can multiply this dtype on this machine."""
    return not why_not_multiplied(kind)


@cache
def why_not_multiplied(kind: torch.dtype) -> str:
    """Return why oneDNN cannot multiply this dtype on this machine, in a few words; empty where it
    can.
    """
    if platform.machine() not in {"x86_64", "AMD64"}:
        return "measured on x86 alone"
    if not torch.backends.mkldnn.is_available():
        return "this torch has no oneDNN"
    if kind not in TOLERANCE:
        return "another dtype"
    if kind == torch.bfloat16:
        is_supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
        if is_supported is None or not is_supported():
            return "the processor lacks its instructions"
    return operator_fault(kind)


def is_multiplying(kind: torch.dtype) -> bool:
    """Return whether products of this dtype use oneDNN in the current mode.

    In training float32 uses torch's own library except with AVX-512, which that library does not
    use on all makes of processors: on an AMD processor oneDNN was twice as fast; without AVX-512 no
    gain was measured.
    """
    return can_multiply(kind) and (
        torch.is_inference_mode_enabled() or kind == torch.bfloat16 or _has_avx512()
    )


def rows_to_multiply(rows: int) -> int:
    """Return the number of rows to multiply for ROWS: up to a thirty-second more where oneDNN
    multiplies.

    oneDNN compiles a program for each number of rows, in a millisecond each, and caches a thousand
    of them with their work memory.
    """
    if not is_multiplying(torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32):
        return rows
    step = 1 << max(
        0, rows.bit_length() - 6
    )  # thirty-two numbers between one power of two and the next
    return -(-rows // step) * step


@cache
def _has_avx512() -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX512"


def _version(weight: Tensor) -> int:
    return (
        -1 if weight.is_inference() else weight._version
    )  # torch counts no changes of tensors made in inference mode


def _fast_linear(layer: nn.Linear) -> FastLinear:
    fast = FastLinear(
        layer.in_features, layer.out_features, bias=layer.bias is not None, device="meta"
    )
    fast.weight, fast.bias = layer.weight, layer.bias
    return fast.train(layer.training)


def _multiply(
    states: Tensor, weight: Tensor, bias: Tensor | None, function: str = "none"
) -> Tensor:
    """Return STATES times WEIGHT, packed or not, then FUNCTION, by its name in oneDNN."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(
        states.contiguous(), weight, bias, function, [], "none"
    )
    return product


def _product(first: Tensor, second: Tensor) -> Tensor:
    """Return FIRST times SECOND, unpacked; in bf16 torch itself calls oneDNN."""
    return first @ second if first.dtype == torch.bfloat16 else _multiply(first, second.t(), None)


ROWS, IN, OUT = 5, 24, 40  # of the test product, none a multiple of another
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 3e-2}


def operator_fault(kind: torch.dtype) -> str:
    """Return what is wrong with the operators for this dtype, in a few words; empty if nothing
    is.
    """
    try:
        with (
            torch.inference_mode(mode=False),
            torch.no_grad(),
            torch.autocast("cpu", enabled=False),
        ):
            faulty_use = find_faulty_use(kind)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        first_line, _, _ = str(error).partition("\n")
        return f"mkldnn._linear_pointwise fails: {first_line}"
    return f"mkldnn._linear_pointwise gives wrong numbers {faulty_use}" if faulty_use else ""


def find_faulty_use(kind: torch.dtype) -> str:
    """Return the use of the operators that gives wrong numbers; empty if none does."""
    # No random numbers: torch's generator belongs to the training that comes after.
    shapes = ((ROWS, IN), (OUT, IN), (OUT,))
    states, weight, bias = (_numbers(*shape).to(kind) for shape in shapes)
    product = states.double() @ weight.double().t()
    biased = product + bias.double()
    transposed = weight.t().contiguous().t()
    packed_weight = torch.ops.mkldnn._reorder_linear_weight(weight)
    for use_name, computed, expected in (
        ("with a packed weight", _multiply(states, packed_weight, bias), biased),
        ("with GELU", _multiply(states, packed_weight, bias, "gelu"), F.gelu(biased)),
        ("with a plain weight", _multiply(states, weight, None), product),
        ("with a transposed weight", _multiply(states, transposed, None), product),
    ):
        if computed.shape != expected.shape:
            return use_name
        largest = TOLERANCE[kind] * expected.abs().max()
        if not ((computed.double() - expected).abs() <= largest).all():  # so for nan
            return use_name
    return ""


def _numbers(*shape: int) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.arange(1, count + 1, dtype=torch.float64).mul(0.7).sin().view(shape)


NOTE = "int8: a vector differs a little with the sentences that are encoded beside it"


def quantise(backbone: PreTrainedModel) -> None:
    """Replace the linear layers of BACKBONE by int8 ones: weights are quantised once, inputs at
    each call by their largest value.
    """
    with warnings.catch_warnings():
        # torch warns that this moves to another package, which does not change the numbers.
        warnings.simplefilter("ignore")
        torch.ao.quantization.quantize_dynamic(
            backbone.eval(), {nn.Linear}, dtype=torch.qint8, inplace=True
        )
