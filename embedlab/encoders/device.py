"""Device, precision and threads of the computation."""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from accelerate import PartialState

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Device, Settings, without_half_a_team
from embedlab.cpu import engine

# The parameters of glibc's mallopt, the largest number it takes, and the largest block that it reused before version 2.35.
MALLOC_TRIM_THRESHOLD, MALLOC_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK, LARGEST_OLD_BLOCK = 2**31 - 1, 2**25


DeviceMap = str | Mapping[str, int | str]  # as accelerate takes it: a way of spreading layers, or the device of each module


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The device of tensors, the precision of matrix products, and the number of threads on a CPU."""

    device: torch.device
    precision: Literal["float32", "bf16", "int8"]
    threads: int
    has_cpu_engine: bool = True  # applies to a CPU only
    device_map: DeviceMap | None = None  # the layers of an encoder that only encodes are spread over several devices

    def autocast(self) -> torch.autocast:
        """Return the context of forward passes: bf16 matrix products, or no change."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")


def machine(settings: Settings, *, training: bool = False) -> Machine:
    """Return the machine selected by SETTINGS.

    `auto` precision is float32 for evaluation and on a CPU, so that numbers do not depend on the hardware; training on a GPU
    takes bf16 where that has units for it; int8 is only for encoding on a CPU. A missing device is a MissingError.
    """
    device = _device(settings.device)
    if training and device.type == "cuda":
        torch.cuda.set_device(process_state(device).local_process_index)  # each of several processes has its own GPU
    if device.type == "cuda":
        # cuDNN's attention makes a plan for every new shape, and batches have hundreds of shapes: 23 to 37 ms each by public
        # reports, not measured here.
        torch.backends.cuda.enable_cudnn_sdp(False)
    keep_freed_memory()
    # The sample world's matrices are so small that several threads would mostly wait for each other.
    threads = settings.threads or (1 if settings.sample else None)
    if threads is not None:
        torch.set_num_threads(threads)
    precision = settings.precision
    if precision == "int8" and (training or device.type != "cpu"):
        doing = "training" if training else f"device {device.type!r}"
        raise UsageError(f"--precision int8 is for encoding on a CPU, not for {doing}", hint="use --precision float32, bf16 or auto")
    if precision == "auto":
        precision = "bf16" if training and device.type == "cuda" and has_bf16_units(device) else "float32"
    is_spread = settings.device_map != "none" and device.type == "cuda" and not training
    return Machine(
        device=device,
        precision=precision,
        threads=torch.get_num_threads(),
        has_cpu_engine=settings.cpu_engine == "on",
        device_map=settings.device_map if is_spread else None,
    )


def engine_line(settings: Settings) -> str:
    """Describe in one line what the CPU engine does on this machine."""
    return engine.describe_engine(is_on=settings.cpu_engine == "on")


def process_state(device: torch.device) -> PartialState:
    """Return this process's place among several, as torchrun, accelerate or `embedlab train --gpus` set it; alone otherwise."""
    with without_half_a_team():
        return PartialState(cpu=device.type == "cpu")


def keep_freed_memory() -> None:
    """Make the C library reuse freed memory for the next step; libraries without this setting stay unchanged.

    glibc returns each block of more than 32 MB to the system and gets it anew page by page: measured with a three-layer encoder
    whose word vectors' gradient was such a block, an eighth of a training step.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    # It returns 0 on refusal. The trim threshold alone would stop glibc's own adaptation at blocks of 128 kB.
    if mallopt is not None and any(mallopt(MALLOC_MMAP_THRESHOLD, size) for size in (LARGEST_BLOCK, LARGEST_OLD_BLOCK)):
        mallopt(MALLOC_TRIM_THRESHOLD, LARGEST_BLOCK)


def has_bf16_units(device: torch.device) -> bool:
    """Return whether DEVICE multiplies bf16 matrices in hardware; emulated bf16 is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def _device(wanted: Device) -> torch.device:
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return torch.device(next(kind for kind, is_there in there.items() if is_there))
    if not there[wanted]:
        raise MissingError(
            f"device {wanted!r} is not available here", hint="use --device auto or --device cpu; `embedlab doctor` lists the devices"
        )
    return torch.device(wanted)
