import ctypes
import os
from types import SimpleNamespace

import pytest
import torch

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Attention, Device, Precision, Settings
from embedlab.encoders.device import has_bf16_units, keep_freed_memory, machine


def test_evaluation_is_float32_by_default() -> None:
    assert machine(Settings(device="cpu")).precision == "float32"
    assert machine(Settings(device="cpu", precision="bf16")).precision == "bf16"


@pytest.mark.parametrize(("has_avx", "has_amx"), [(True, False), (False, True), (False, False)])
def test_training_is_float32_on_every_processor_unless_bf16_is_typed(
    has_avx: bool, has_amx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_avx)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    assert has_bf16_units(torch.device("cpu")) is (has_avx or has_amx)
    assert machine(Settings(device="cpu"), training=True).precision == "float32"
    assert machine(Settings(device="cpu", precision="bf16"), training=True).precision == "bf16"


@pytest.mark.parametrize(
    ("capability", "precision"),
    [((6, 1), "float32"), ((7, 0), "fp16"), ((7, 5), "fp16"), ((9, 0), "bf16")],
)
def test_training_on_a_gpu_takes_what_it_has_units_for(
    capability: tuple[int, int], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    monkeypatch.setattr(
        "embedlab.encoders.device.process_state", lambda _: SimpleNamespace(local_process_index=0)
    )
    assert machine(Settings(device="cuda"), training=True).precision == precision
    assert machine(Settings(device="cuda")).precision == "float32"


@pytest.mark.parametrize("precision", ["tf32", "fp16"])
def test_a_precision_of_gpus_is_refused_elsewhere(precision: Precision) -> None:
    with pytest.raises(
        UsageError, match=f"--precision {precision} is for a GPU, not for device 'cpu'"
    ):
        machine(Settings(device="cpu", precision=precision))


@pytest.mark.parametrize(
    ("precision", "products"), [("tf32", "high"), ("float32", "highest"), ("bf16", "highest")]
)
def test_tf32_is_for_products_in_float32_and_only_where_it_is_typed(
    precision: Precision, products: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    before = torch.get_float32_matmul_precision(), torch.backends.cuda.cudnn_sdp_enabled()
    try:
        torch.set_float32_matmul_precision("high" if products == "highest" else "highest")
        assert machine(Settings(device="cuda", precision=precision)).precision == precision
        assert torch.get_float32_matmul_precision() == products
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cuda.enable_cudnn_sdp(before[1])


def test_a_deterministic_gpu_uses_neither_chance_nor_fused_attention(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    switches = torch.backends.cuda
    before = (
        switches.flash_sdp_enabled(),
        switches.mem_efficient_sdp_enabled(),
        switches.cudnn_sdp_enabled(),
    )
    try:
        machine(Settings(device="cuda", deterministic=False))
        assert not torch.are_deterministic_algorithms_enabled()
        machine(Settings(device="cuda", deterministic=True))
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
        assert not any(
            (
                switches.flash_sdp_enabled(),
                switches.mem_efficient_sdp_enabled(),
                switches.cudnn_sdp_enabled(),
            )
        )
    finally:
        torch.use_deterministic_algorithms(mode=False)
        switches.enable_flash_sdp(before[0])
        switches.enable_mem_efficient_sdp(before[1])
        switches.enable_cudnn_sdp(before[2])


@pytest.mark.parametrize(
    ("attention", "kernels"),
    [
        ("auto", {"flash", "mem_efficient", "math"}),
        ("cudnn", {"cudnn", "math"}),
        ("efficient", {"mem_efficient", "math"}),
        ("math", {"math"}),
    ],
)
def test_attention_is_computed_by_the_kernels_that_are_named(
    attention: Attention, kernels: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    every, switches = ("flash", "mem_efficient", "cudnn", "math"), torch.backends.cuda
    before = {kind: getattr(switches, f"{kind}_sdp_enabled")() for kind in every}
    try:
        machine(Settings(device="cuda", attention=attention))
        assert {kind for kind in every if getattr(switches, f"{kind}_sdp_enabled")()} == kernels
    finally:
        for kind, is_enabled in before.items():
            getattr(switches, f"enable_{kind}_sdp")(is_enabled)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_missing(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(MissingError, match=device):
        machine(Settings(device=device))


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (2**31 - 1, {"map": 2**31 - 1, "trim": 2**31 - 1}),
        (2**25, {"map": 2**25, "trim": 2**31 - 1}),
        (0, {}),
    ],
    ids=["glibc", "glibc before 2.35", "a library that refuses"],
)
def test_freed_memory_stays_with_the_process_as_far_as_the_library_lets(
    largest: int, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, int] = {}

    def mallopt(parameter: int, size: int) -> int:
        name = {-1: "trim", -3: "map"}[parameter]
        if name == "map" and size > largest:
            return 0
        found[name] = size
        return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    keep_freed_memory()
    assert found == expected


def test_a_library_without_that_setting_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    keep_freed_memory()
