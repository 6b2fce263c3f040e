"""Linear layers on a processor, multiplied by oneDNN: it takes weights laid out for it, GELU within the product, bf16 and AVX-512."""

import platform
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers.activations import GELUActivation

from embedlab.cpu.probe import TOLERANCE, flaw

FEW_ROWS = 256  # tokens: of fewer a product costs less than the graph's node for it; an estimate
SMALL = 128  # width of a layer whose products are over before either library has begun; an estimate

# A layer and the function right after it, as the blocks of BERT and its kin and those of DistilBERT name them.
FOLLOWED = (("dense", "intermediate_act_fn"), ("lin1", "activation"))


@dataclass(frozen=True, eq=False)
class _PackedWeight:
    """A weight as oneDNN reads it fastest, and what it was made of."""

    source: Tensor
    address: int
    version: int  # torch counts most changes of a tensor, but not those through `.data` and those of a fused optimizer
    weight: Tensor

    def is_of(self, source: Tensor, kind: torch.dtype) -> bool:
        """Whether it still is what SOURCE holds, in this number format."""
        made_of, now = (self.address, self.version, self.weight.dtype), (source.data_ptr(), _version(source), kind)
        return self.source is source and made_of == now


class FastLinear(nn.Linear):
    """As torch's linear layer: while encoding by a weight that is laid out once, in training by oneDNN where that is faster."""

    takes_gelu = False  # while encoding, what follows is computed within the product
    _kept: _PackedWeight | None = None

    def forward(self, states: Tensor) -> Tensor:
        """(…, width in) to (…, width out); in bf16 where autocast says so."""
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else states.dtype
        if not torch.is_inference_mode_enabled():
            if torch.is_grad_enabled():
                self.forget()  # the weight is about to be learnt
            if is_multiplying(kind) and states.numel() >= FEW_ROWS * self.in_features:
                training_text: Tensor = _LinearFunction.apply(states.to(kind), self.weight, self.bias)  # type: ignore[no-untyped-call]
                return training_text
            return super().forward(states)
        if not is_multiplying(kind) or not states.numel():
            product = super().forward(states)
            return F.gelu(product) if self.takes_gelu else product
        bias = None if self.bias is None else self.bias.to(kind)
        return _multiply(states.to(kind), self._packed(kind), bias, "gelu" if self.takes_gelu else "none")

    def __getstate__(self) -> dict[str, Any]:
        """All but what oneDNN alone can read, so that a model that has encoded can be copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def forget(self) -> None:
        """Free what encoding keeps of the weight."""
        if self._kept is not None:
            self._kept = None

    def _packed(self, kind: torch.dtype) -> Tensor:
        packed = self._kept
        if packed is None or not packed.is_of(self.weight, kind):
            packed = self._kept = _PackedWeight(
                source=self.weight,
                address=self.weight.data_ptr(),
                version=_version(self.weight),
                weight=torch.ops.mkldnn._reorder_linear_weight(self.weight.to(kind)),
            )
        return packed.weight


class _UnlessTaken(nn.Module):
    """The function after a layer that takes it itself while encoding."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, states: Tensor) -> Tensor:
        return states if torch.is_inference_mode_enabled() else self.function(states)


class _LinearFunction(torch.autograd.Function):
    """A product and its gradients in the number format of the states; weight and bias and their gradients are what they are kept in."""

    @staticmethod
    def forward(context: Any, states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        # In bf16 it is kept for the way back: an estimated tenth of what a pass of 4,096 tokens keeps of its states.
        multiplied = weight.to(states.dtype)
        context.save_for_backward(states, multiplied if context.needs_input_grad[0] else None)
        context.weight_kind = weight.dtype
        return _multiply(states, multiplied, None if bias is None else bias.to(states.dtype))

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        states, multiplied = context.saved_tensors
        of_states, of_weight, of_bias = context.needs_input_grad
        rows = gradient.flatten(0, -2)
        return (
            _product(gradient, multiplied) if of_states else None,
            _product(rows.t(), states.flatten(0, -2)).to(context.weight_kind) if of_weight else None,
            rows.sum(dim=0).to(context.weight_kind) if of_bias else None,
        )


def use_onednn(backbone: nn.Module) -> bool:
    """Let the linear layers of BACKBONE multiply by oneDNN, and whether one does; parameters stay what they are and keep their names."""
    if not can_multiply(torch.float32):
        return False
    for module in list(backbone.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear and min(child.weight.shape) >= SMALL:
                setattr(module, name, _fast(child))
        for layer, function in FOLLOWED:
            before, after = getattr(module, layer, None), getattr(module, function, None)
            if isinstance(before, FastLinear) and type(after) is GELUActivation and after.act is F.gelu:  # by the error function
                before.takes_gelu = True
                setattr(module, function, _UnlessTaken(after))
    return any(isinstance(module, FastLinear) for module in backbone.modules())


def forget_weights(backbone: nn.Module) -> None:
    """Free what encoding keeps of the weights, which training is about to change."""
    for module in backbone.modules():
        if isinstance(module, FastLinear):
            module.forget()


@cache  # each product needs the answer
def can_multiply(kind: torch.dtype) -> bool:
    """Whether oneDNN multiplies this dtype here."""
    return not why_not(kind)


@cache
def why_not(kind: torch.dtype) -> str:
    """Why oneDNN does not multiply this dtype here, in a few words; empty where it does."""
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
    return flaw(kind)


def is_multiplying(kind: torch.dtype) -> bool:
    """Whether oneDNN is who multiplies numbers of this format now.

    In training float32 is torch's own library's but where there is AVX-512, which that does not use on processors of all makes: on one
    of AMD's oneDNN was twice as fast; without AVX-512 no gain was measured.
    """
    return can_multiply(kind) and (torch.is_inference_mode_enabled() or kind == torch.bfloat16 or _has_avx512())


def rows_to_multiply(rows: int) -> int:
    """How many rows to multiply where there are so many: up to a thirty-second more where oneDNN multiplies.

    For each number of them it builds programs, in a millisecond each, and keeps a thousand of them with the memory that they work in.
    """
    if not is_multiplying(torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32):
        return rows
    step = 1 << max(0, rows.bit_length() - 6)  # thirty-two numbers between one power of two and the next
    return -(-rows // step) * step


@cache
def _has_avx512() -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX512"


def _version(weight: Tensor) -> int:
    return -1 if weight.is_inference() else weight._version  # of what was made in inference mode torch counts nothing


def _fast(layer: nn.Linear) -> FastLinear:
    made = FastLinear(layer.in_features, layer.out_features, bias=layer.bias is not None, device="meta")
    made.weight, made.bias = layer.weight, layer.bias
    return made.train(layer.training)


def _multiply(states: Tensor, weight: Tensor, bias: Tensor | None, then: str = "none") -> Tensor:
    """STATES times WEIGHT, laid out or not, and THEN a function of the product by its name in oneDNN."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(states.contiguous(), weight, bias, then, [], "none")
    return product


def _product(first: Tensor, second: Tensor) -> Tensor:
    """FIRST times SECOND as they lie; in bf16 torch itself leaves it to oneDNN."""
    return first @ second if first.dtype == torch.bfloat16 else _multiply(first, second.t(), None)
