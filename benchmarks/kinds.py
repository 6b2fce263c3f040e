"""What kinds of operations a profiled training spends its time in."""

from collections.abc import Iterable

from torch.autograd import DeviceType
from torch.autograd.profiler_util import FunctionEventAvg

# What an operator's name says of its kind, in small letters; the first that fits.
OPERATORS = {
    "attention": ("attention", "_softmax", "bmm"),
    "matrix products": ("mm", "linear"),
    "dropout": ("bernoulli", "dropout", "random_"),
    "activation": ("gelu",),
    "layer norm": ("layer_norm",),
    "optimizer": ("adamw",),
    "embeddings": ("embedding", "index"),
    "memory": ("copy", "fill", "zero", "cat", "empty", "add", "mul", "div", "sum", "clone"),
}
# What a kernel's name says. Attention comes first, as its kernels are made with cutlass; "mm" would
# fit layer norm's gamma.
KERNELS = {
    "attention": ("flash", "fmha", "mem_eff", "efficient_attention", "sdpa", "softmax"),
    "matrix products": (
        "gemm",
        "gemv",
        "nvjet",
        "cutlass",
        "cublas",
        "xmma",
        "splitk",
        "sm80_",
        "sm90_",
        "sm100_",
    ),
    "optimizer": ("multi_tensor_apply", "fused_adam", "fusedadam"),
    "layer norm": ("layer_norm", "layernorm", "gammabeta", "rowwisemoments"),
    "embeddings": (
        "embedding",
        "index",
        "gather",
        "scatter",
        "sort",
        "segment",
        "grad_weight",
        "cub::",
        "thrust::",
    ),
    "dropout": ("dropout", "masked_scale", "bernoulli"),
    "activation": ("gelu",),
    "memory": ("memcpy", "memset", "copy", "fill"),
    "reductions": ("reduce",),
    "elementwise": ("elementwise",),
}


def shares_by_kind(events: Iterable[FunctionEventAvg], *, is_on_gpu: bool) -> dict[str, float]:
    """The share of each kind in the processor's own time, largest first; empty where nothing was
    recorded.

    On a GPU kernels and copies count: the operators that started them, and marked spans such as the
    optimizer's step, bear the same time once more, and a replayed CUDA graph has no operators.
    """
    found: dict[str, float] = {}
    for event in events:
        is_device = event.device_type != DeviceType.CPU
        if is_on_gpu and (not is_device or event.is_user_annotation):
            continue
        kind = kind_of(str(event.key), is_kernel=is_device)
        found[kind] = found.get(kind, 0.0) + (
            event.self_device_time_total if is_on_gpu else event.self_cpu_time_total
        )
    total = sum(found.values())
    return {
        kind: value / total
        for kind, value in sorted(found.items(), key=lambda item: -item[1])
        if value > 0
    }


def kind_of(name: str, *, is_kernel: bool) -> str:
    """The kind of an operator or a kernel."""
    kinds, name = KERNELS if is_kernel else OPERATORS, name.lower()
    return next(
        (kind for kind, parts in kinds.items() if any(part in name for part in parts)), "other"
    )
