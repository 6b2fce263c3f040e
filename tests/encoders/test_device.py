import ctypes
import os
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Attention, Device, Precision, Settings
from embedlab.encoders.device import has_bf16_units, keep_freed_memory, machine

KERNELS = ("flash", "mem_efficient", "cudnn", "math")


def kernels() -> set[str]:
    """The kinds of attention that torch may use on a GPU."""
    return {kind for kind in KERNELS if getattr(torch.backends.cuda, f"{kind}_sdp_enabled")()}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GPU that torch says is there; its settings are as before afterwards."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    state = SimpleNamespace(local_process_index=0)
    monkeypatch.setattr("embedlab.encoders.device.process_state", lambda _: state)
    enabled, products = kernels(), torch.get_float32_matmul_precision()
    yield
    torch.use_deterministic_algorithms(mode=False)
    torch.set_float32_matmul_precision(products)
    for kind in KERNELS:
        getattr(torch.backends.cuda, f"enable_{kind}_sdp")(kind in enabled)


@pytest.mark.parametrize(("has_avx", "has_amx"), [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("training", [True, False])
def test_a_processor_computes_in_float32_unless_bf16_is_typed(
    training: bool, has_avx: bool, has_amx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_avx)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    assert has_bf16_units(torch.device("cpu")) is (has_avx or has_amx)
    assert machine(Settings(device="cpu"), training=training).precision == "float32"
    typed = Settings(device="cpu", precision="bf16", device_map="auto")
    assert machine(typed, training=training).precision == "bf16"
    assert machine(typed).device_map is None  # only encoding on GPUs is spread


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("capability", "precision"),
    [((6, 1), "float32"), ((7, 0), "fp16"), ((7, 5), "fp16"), ((9, 0), "bf16")],
)
def test_training_on_a_gpu_takes_what_it_has_units_for(
    capability: tuple[int, int], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    assert machine(Settings(device="cuda"), training=True).precision == precision
    assert machine(Settings(device="cuda")).precision == "float32"


@pytest.mark.parametrize("precision", ["tf32", "fp16"])
def test_a_precision_of_gpus_is_refused_elsewhere(precision: Precision) -> None:
    says = f"--precision {precision} is for a GPU, not for device 'cpu'"
    with pytest.raises(UsageError, match=says):
        machine(Settings(device="cpu", precision=precision))


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("precision", "products"), [("tf32", "high"), ("float32", "highest"), ("bf16", "highest")]
)
def test_tf32_is_for_products_in_float32_and_only_where_it_is_typed(
    precision: Precision, products: str
) -> None:
    torch.set_float32_matmul_precision("high" if products == "highest" else "highest")
    assert machine(Settings(device="cuda", precision=precision)).precision == precision
    assert torch.get_float32_matmul_precision() == products


@pytest.mark.usefixtures("gpu")
def test_a_deterministic_gpu_uses_neither_chance_nor_fused_attention() -> None:
    machine(Settings(device="cuda", deterministic=False))
    assert not torch.are_deterministic_algorithms_enabled()
    machine(Settings(device="cuda", deterministic=True))
    assert torch.are_deterministic_algorithms_enabled()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert kernels() == {"math"}


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("attention", "expected"),
    [
        ("auto", {"flash", "mem_efficient", "math"}),
        ("cudnn", {"cudnn", "math"}),
        ("efficient", {"mem_efficient", "math"}),
        ("math", {"math"}),
    ],
)
def test_attention_is_computed_by_the_kernels_that_are_named(
    attention: Attention, expected: set[str]
) -> None:
    machine(Settings(device="cuda", attention=attention))
    assert kernels() == expected


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
        (2**31 - 1, {-3: 2**31 - 1, -1: 2**31 - 1}),
        (2**25, {-3: 2**25, -1: 2**31 - 1}),  # glibc before 2.35
        (0, {}),  # a library that refuses
    ],
)
def test_freed_memory_stays_with_the_process_as_far_as_the_library_lets(
    largest: int, expected: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[int, int] = {}

    def mallopt(parameter: int, size: int) -> bool:
        is_taken = parameter == -1 or size <= largest
        found.update({parameter: size} if is_taken else {})
        return is_taken

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    keep_freed_memory()
    assert found == expected
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    keep_freed_memory()  # a library without that setting is left alone
