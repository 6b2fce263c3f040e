import pytest
import torch

from embedlab.encoders.device import has_bf16_units, machine
from embedlab.errors import MissingError
from embedlab.settings import Device, Settings


def test_evaluation_is_float32_unless_asked_otherwise() -> None:
    assert machine(Settings(device="cpu")).precision == "float32"
    assert machine(Settings(device="cpu", precision="bf16")).precision == "bf16"


def test_training_takes_bf16_only_where_the_hardware_has_it() -> None:
    chosen = machine(Settings(device="cpu"), training=True)
    assert chosen.precision == ("bf16" if has_bf16_units(torch.device("cpu")) else "float32")


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_missing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(MissingError, match=device):
        machine(Settings(device=device))


def test_threads_are_those_asked_for() -> None:
    before = torch.get_num_threads()
    try:
        assert machine(Settings(device="cpu", threads=1)).threads == torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
