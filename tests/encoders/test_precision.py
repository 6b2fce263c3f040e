"""Weights are read in the precision that computes: how much memory that takes, and shards."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_plain
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.weight_checks import silence_transformers
from tests.encoders.layouts import DECODERS, SENTENCES, write_backbone
from tests.encoders.opening import offline_settings, spec_of

MOST = 1.3  # of a checkpoint's size


def read(folder: Path, precision: str) -> TransformerEncoder:
    encoder = load_plain(spec_of(folder), offline_settings(precision=precision))
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def memory(field: str) -> int:
    """A field of the kernel's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(found.split()[1]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_loading_makes_no_second_copy_of_shards_in_bf16(tmp_path: Path) -> None:
    write_backbone(tmp_path / "small", "bert")
    write_backbone(tmp_path / "large", "bert")
    (tmp_path / "large" / "model.safetensors").unlink()
    sizes = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 10}
    config = AutoConfig.from_pretrained(tmp_path / "large", trust_remote_code=False, **sizes)
    with silence_transformers():
        model = AutoModel.from_config(config, dtype=torch.bfloat16, trust_remote_code=False)
        model.save_pretrained(tmp_path / "large", max_shard_size="25MB")
    del model
    shards = [*(tmp_path / "large").glob("model-*.safetensors")]
    assert len(shards) > 1
    read(tmp_path / "small", "bf16")  # what is loaded once and for all models
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    encoder = read(tmp_path / "large", "bf16")
    size = sum(file.stat().st_size for file in shards)
    # freed memory of this process may be used again
    assert memory("VmHWM") - before < MOST * size
    assert encoder.dim == 512


@pytest.mark.parametrize("architecture", ["bert", "qwen3"])
def test_weights_in_bf16_give_nearly_the_vectors_of_float32(
    tmp_path: Path, architecture: str
) -> None:
    write_backbone(tmp_path, architecture, **DECODERS.get(architecture, {}))
    encoder = read(tmp_path, "bf16")
    kinds = {value.dtype for value in encoder.backbone.parameters() if value.ndim >= 2}
    assert kinds == {torch.bfloat16}
    exact, vectors = read(tmp_path, "float32").encode(SENTENCES), encoder.encode(SENTENCES)
    distance = np.linalg.norm(exact - vectors, axis=1) / np.linalg.norm(exact, axis=1)
    assert 1e-6 < distance.max() < 0.045


def test_training_reads_float32_weights(tmp_path: Path, cpu: Machine) -> None:
    write_backbone(tmp_path, "bert")
    encoder = load_transformer(str(tmp_path), replace(cpu, precision="bf16"))
    assert {value.dtype for value in encoder.backbone.parameters()} == {torch.float32}
