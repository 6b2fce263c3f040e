"""Weights are read in the precision that computes: how much memory that takes, shards, and layers
spread over devices.
"""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModel

from embedlab.core.settings import Settings
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import DeviceMap, Machine, machine
from embedlab.encoders.loading import load_plain
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import ModelSpec
from tests.encoders import loading_peak
from tests.encoders.layouts import DECODERS, SENTENCES, write_backbone

MOST = 1.3  # of a checkpoint's size


def spec(folder: Path) -> ModelSpec:
    return ModelSpec(name="it", kind="folder", location=str(folder))


def opened(
    folder: Path,
    cpu: Machine,
    precision: Literal["float32", "bf16"],
    device_map: DeviceMap | None = None,
) -> TransformerEncoder:
    encoder = load_plain(
        spec(folder), replace(cpu, precision=precision, device_map=device_map), offline=True
    )
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def write_large(folder: Path, megabytes: int, dtype: torch.dtype, shards: int) -> int:
    """Write a checkpoint of about MEGABYTES in SHARDS; return its size in bytes."""
    write_backbone(folder, "bert")
    config = json.loads((folder / "config.json").read_text())
    layer = 12 * 512 * 512 * dtype.itemsize
    own = {
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": round(megabytes * 1e6 / layer),
    }
    (folder / "config.json").write_text(json.dumps({**config, **own}))
    with torch.device("meta"), silence_transformers():
        described = AutoModel.from_config(
            AutoConfig.from_pretrained(folder, trust_remote_code=False), trust_remote_code=False
        ).state_dict()
    (folder / "model.safetensors").unlink()
    places = {
        name: f"model-{number * shards // len(described) + 1:05}-of-{shards:05}.safetensors"
        for number, name in enumerate(described)
    }
    for file in set(places.values()):
        part = {
            name: torch.full(value.shape, 0.01, dtype=dtype)
            for name, value in described.items()
            if places[name] == file
        }
        save_file(part, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": places})
    )
    return sum(file.stat().st_size for file in folder.glob("model-*.safetensors"))


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_loading_makes_no_second_copy(tmp_path: Path) -> None:
    write_backbone(tmp_path / "small", "bert")
    size = write_large(tmp_path / "large", 64, torch.bfloat16, shards=3)
    assert (
        loading_peak.peak(tmp_path / "small", tmp_path / "large", "bf16") < MOST * size
    )  # freed memory of this process may be used again


@pytest.mark.parametrize("architecture", ["bert", "qwen3"])
def test_weights_in_bf16_give_nearly_the_vectors_of_float32(
    tmp_path: Path, cpu: Machine, architecture: str
) -> None:
    write_backbone(tmp_path / "model", architecture, **DECODERS.get(architecture, {}))
    encoder = opened(tmp_path / "model", cpu, "bf16")
    assert {value.dtype for value in encoder.backbone.parameters() if value.ndim >= 2} == {
        torch.bfloat16
    }
    exact, vectors = (
        opened(tmp_path / "model", cpu, "float32").encode(SENTENCES),
        encoder.encode(SENTENCES),
    )
    cosines = (
        (exact * vectors).sum(axis=1)
        / np.linalg.norm(exact, axis=1)
        / np.linalg.norm(vectors, axis=1)
    )
    assert cosines.min() > 0.999
    assert not np.allclose(exact, vectors, atol=1e-6)


def test_training_reads_float32_weights(tmp_path: Path, cpu: Machine) -> None:
    write_backbone(tmp_path / "model", "bert")
    encoder = load_transformer(str(tmp_path / "model"), replace(cpu, precision="bf16"))
    assert {value.dtype for value in encoder.backbone.parameters()} == {torch.float32}


def test_a_checkpoint_in_shards_is_the_same_model(tmp_path: Path, cpu: Machine) -> None:
    write_backbone(tmp_path / "whole", "qwen3", **DECODERS["qwen3"])
    shutil.copytree(
        tmp_path / "whole", tmp_path / "shards", ignore=shutil.ignore_patterns("*.safetensors")
    )
    with silence_transformers():
        AutoModel.from_pretrained(tmp_path / "whole", trust_remote_code=False).save_pretrained(
            tmp_path / "shards", max_shard_size="30KB"
        )
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 1
    whole, shards = (
        opened(tmp_path / name, cpu, "float32").encode(SENTENCES) for name in ("whole", "shards")
    )
    assert (whole == shards).all()


def test_only_encoding_on_gpus_is_spread() -> None:
    assert machine(Settings(device="cpu", device_map="auto")).device_map is None
