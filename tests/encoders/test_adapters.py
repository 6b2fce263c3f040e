"""Adapters of peft as models: what they change, where their base comes from, and what is
refused.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers.sentence_transformer.modules import Pooling

from embedlab.encoders.device import Machine
from embedlab.models.folder import read_usage
from embedlab.scoring.training_text import is_text_unknown
from tests.encoders.layouts import (
    DECODERS,
    SENTENCES,
    WIDTH,
    adapted,
    lora,
    save,
    transformer,
    write_backbone,
)
from tests.encoders.opening import assert_refused, change_json, change_weights, opened, spec_of

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of sentence-transformers; its base is beside it."""
    return adapted("bert", lora("query", "value"))(tmp_path_factory.mktemp("adapters") / "lora")


@pytest.fixture
def adapter(written: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(written, tmp_path / "lora"))


def base_of(adapter: Path) -> str:
    return str(json.loads((adapter / CONFIG).read_text())["base_model_name_or_path"])


def change(adapter: Path, **values: object) -> None:
    change_json(adapter / CONFIG, **values)


def vectors(name: str | Path, cpu: Machine) -> NDArray[np.float32]:
    return opened(name, cpu).encode(SENTENCES)


def test_an_adapter_says_which_base_it_changes(written: Path) -> None:
    assert "an adapter of 'lora-backbone'" in read_usage(written).notes
    assert is_text_unknown(spec_of(written))


def test_an_adapter_alone_is_used_as_its_base_states(
    adapter: Path, cpu: Machine, tmp_path: Path
) -> None:
    whole = save(tmp_path / "whole", transformer(tmp_path / "whole"), Pooling(WIDTH, "cls"))
    change(adapter, base_model_name_or_path=str(whole))
    expected = vectors(f"{adapter}?pooling=cls", cpu)
    (adapter / "modules.json").unlink()
    shutil.rmtree(adapter / "1_Pooling")
    assert read_usage(adapter).pooling == "cls"
    np.testing.assert_allclose(vectors(adapter, cpu), expected, atol=1e-6)


def other_base(adapter: Path) -> None:
    write_backbone(adapter / "other", "llama", **DECODERS["llama"])
    change(adapter, base_model_name_or_path=str(adapter / "other"))


def without_weights(adapter: Path) -> None:
    change_weights(adapter, dict.popitem, WEIGHTS)


def not_finite(adapter: Path) -> None:
    def spoil(tensors: dict[str, torch.Tensor]) -> None:
        next(iter(tensors.values()))[0, 0] = torch.nan

    change_weights(adapter, spoil, WEIGHTS)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda one: change(one, base_model_name_or_path="org/gone"),
            "the base model is missing: 'org/gone' is not on this machine",
        ),
        (
            lambda one: change(one, base_model_name_or_path="/nothing/there"),
            "the base model is missing: '/nothing/there' is not on this machine",
        ),
        (lambda one: change(one, base_model_name_or_path=None), "names no base model"),
        (lambda one: change(one, peft_type="MAGIC"), "does not fit the base model"),
        (lambda one: change(one, megatron_config={"a": 1}), "names modules of Megatron"),
        (lambda one: change(one, base_model_name_or_path=str(one)), "is an adapter itself"),
        (other_base, "does not fit the base model '.*other': .*query"),
        (without_weights, "does not fit the base model .*has no weights for"),
        (not_finite, "numbers that are not finite in tensor 'base_model"),
        (lambda one: (one / WEIGHTS).rename(one / "adapter_model.bin"), f"holds no {WEIGHTS}"),
        (lambda one: (one / WEIGHTS).write_bytes(b"x" * 40), "its header: not valid JSON"),
        (
            lambda one: shutil.copy(Path(base_of(one)) / "model.safetensors", one),
            "holds a whole model and an adapter",
        ),
    ],
)
def test_an_adapter_that_does_not_fit_or_lacks_its_base_is_refused_in_one_line(
    adapter: Path, cpu: Machine, damage: Callable[[Path], object], message: str
) -> None:
    damage(adapter)
    assert_refused(adapter, cpu, *message.split(".*"))


def test_without_peft_an_adapter_is_refused_with_the_extra_to_install(
    written: Path, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    assert_refused(written, cpu, "peft is not installed", "embedlab[peft]")
