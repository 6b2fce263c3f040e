"""Device, precision and threads of the computation."""

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch
from accelerate import PartialState
from torch import Tensor

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Attention, Device, Settings, without_half_a_team
from embedlab.cpu import engine
from embedlab.models.reading import Dtype

# The parameters of glibc's mallopt, the largest number it takes, and the largest block that it
# reused before version 2.35.
MALLOC_TRIM_THRESHOLD, MALLOC_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK, LARGEST_OLD_BLOCK = 2**31 - 1, 2**25

# What torch may compute attention by. "auto" is without cuDNN's kernels, which make a plan for
# every new shape: batches of padded sentences have hundreds, captured steps a few. `make
# gpu-report` measures each.
KERNELS: dict[Attention, tuple[str, ...]] = {
    "auto": ("flash", "mem_efficient", "math"),
    "cudnn": ("cudnn", "math"),
    "efficient": ("mem_efficient", "math"),
    "math": ("math",),
}

# as accelerate takes it: a way of spreading layers, or the device of each module
DeviceMap = str | Mapping[str, int | str]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The device of tensors, the precision of matrix products, and the number of threads on a
    CPU.
    """

    device: torch.device
    precision: Dtype
    threads: int
    has_cpu_engine: bool = True  # applies to a CPU only
    is_capturing: bool = False  # training runs its passes as CUDA graphs
    # training computes what layers hold once more in the backward pass, instead of keeping it
    is_recomputing: bool = False
    # the layers of an encoder that only encodes are spread over several devices
    device_map: DeviceMap | None = None

    def autocast(self, *, keeps_casts: bool = True) -> torch.autocast:
        """Return the context of forward passes: matrix products in bf16 or fp16, or no change; it
        KEEPS_CASTS of weights until it ends.
        """
        kind = torch.float16 if self.precision == "fp16" else torch.bfloat16
        is_half = self.precision in {"bf16", "fp16"}
        return torch.autocast(self.device.type, kind, enabled=is_half, cache_enabled=keeps_casts)

    def in_dtype(self, dtype: Dtype | None) -> "Machine":
        """The machine with products in DTYPE; None changes nothing."""
        if dtype is None:
            return self
        _refuse_precision(dtype, self.device, f"dtype={dtype}", training=False)
        return replace(self, precision=dtype)


def machine(settings: Settings, *, training: bool = False) -> Machine:
    """Return the machine selected by SETTINGS.

    `auto` precision is float32 for evaluation and on a CPU, so that numbers do not depend on the
    hardware; training on a GPU takes bf16 where that has units for it, else fp16 where it has units
    for that; tf32 and fp16 are only for a GPU, int8 only for encoding on a CPU. A missing device is
    a MissingError.
    """
    device = _device(settings.device)
    if training and device.type == "cuda":
        # each of several processes has its own GPU
        torch.cuda.set_device(process_state(device).local_process_index)
    if training and settings.capture and device.type != "cuda":
        raise UsageError(
            f"--capture is for a GPU, not for device {device.type!r}", hint="leave it out"
        )
    if device.type == "cuda":
        for kernel in ("flash", "mem_efficient", "cudnn", "math"):
            getattr(torch.backends.cuda, f"enable_{kernel}_sdp")(
                kernel in KERNELS[settings.attention]
            )
    keep_freed_memory()
    # The generated corpora's matrices are so small that several threads would mostly wait for each
    # other.
    threads = settings.threads or (1 if settings.data == TINY_FOLDER else None)
    if threads is not None:
        torch.set_num_threads(threads)
    precision = settings.precision
    _refuse_precision(precision, device, f"--precision {precision}", training=training)
    if precision == "auto":
        precision = fastest_to_train(device) if training and device.type == "cuda" else "float32"
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        if settings.deterministic:
            give_the_same_bits()
    is_spread = settings.device_map != "none" and device.type == "cuda" and not training
    return Machine(
        device=device,
        precision=precision,
        threads=torch.get_num_threads(),
        has_cpu_engine=settings.cpu_engine == "on",
        is_capturing=training and settings.capture,
        is_recomputing=training and settings.gradient_checkpointing,
        device_map=settings.device_map if is_spread else None,
    )


def _refuse_precision(precision: str, device: torch.device, typed: str, *, training: bool) -> None:
    """Refuse a PRECISION that a DEVICE does not compute in; TYPED is what the user wrote."""
    allowed_for = "an encoder on a CPU" if precision == "int8" else "a GPU"
    is_fit = device.type == ("cpu" if precision == "int8" else "cuda")
    if precision in {"int8", "tf32", "fp16"} and (not is_fit or (precision == "int8" and training)):
        use = "training" if is_fit else f"device {device.type!r}"
        raise UsageError(
            f"{typed} is for {allowed_for}, not for {use}",
            hint="use float32, bf16 or --precision auto",
        )


def engine_line(settings: Settings) -> str:
    """Describe in one line what the CPU engine does on this machine."""
    return engine.describe_engine(is_on=settings.cpu_engine == "on")


def process_state(device: torch.device) -> PartialState:
    """Return this process's place among several, as torchrun, accelerate or `embedlab train --gpus`
    set it; alone otherwise.
    """
    with without_half_a_team():
        return PartialState(cpu=device.type == "cpu")


def keep_freed_memory() -> None:
    """Make the C library reuse freed memory for the next step; libraries without this setting stay
    unchanged.

    glibc returns each block of more than 32 MB to the system and gets it anew page by page:
    measured with a three-layer encoder whose word vectors' gradient was such a block, an eighth of
    a training step.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    # It returns 0 on refusal. The trim threshold alone would stop glibc's own adaptation at blocks
    # of 128 kB.
    if mallopt is not None and any(
        mallopt(MALLOC_MMAP_THRESHOLD, size) for size in (LARGEST_BLOCK, LARGEST_OLD_BLOCK)
    ):
        mallopt(MALLOC_TRIM_THRESHOLD, LARGEST_BLOCK)


def fastest_to_train(device: torch.device) -> Literal["float32", "bf16", "fp16"]:
    """Return the precision whose products a GPU has units for: bf16 from Ampere on, fp16 on Volta
    and Turing (V100, T4).
    """
    if has_bf16_units(device):
        return "bf16"
    return "fp16" if torch.cuda.get_device_capability(device) >= (7, 0) else "float32"


def give_the_same_bits() -> None:
    """Let torch use only GPU operations that give the same bits each time; an operation without
    such a form raises an error.

    Attention is computed by plain products: the backward passes of its fused forms add in the order
    in which blocks finish.
    """
    # as cuBLAS demands it, before its first product
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def is_asynchronous(device: torch.device) -> bool:
    """Return whether DEVICE computes beside this process, which would wait for each copy back."""
    return device.type != "cpu"


def send_tensor(values: Tensor, device: torch.device) -> Tensor:
    """Move VALUES to DEVICE without blocking; to a GPU from pinned memory, so that the copy does
    not wait for what runs there.
    """
    return (values.pin_memory() if device.type == "cuda" else values).to(device, non_blocking=True)


def random_tensors(device: torch.device) -> dict[str, Tensor]:
    """Return the state of torch's generators, which dropout draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Restore the state that `random_tensors` returned; another kind of device continues with its
    own state.
    """
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)


def has_bf16_units(device: torch.device) -> bool:
    """Return whether DEVICE multiplies bf16 matrices in hardware; emulated bf16 is slower than
    float32.
    """
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and (
        torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    )


def _device(kind_wanted: Device) -> torch.device:
    availability = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if kind_wanted == "auto":
        return torch.device(
            next((kind for kind, is_available in availability.items() if is_available), "cpu")
        )
    if not availability.get(kind_wanted, True):
        raise MissingError(
            f"device {kind_wanted!r} is not available here",
            hint="use --device auto or --device cpu; `embedlab doctor` lists the devices",
        )
    return torch.device(kind_wanted)
