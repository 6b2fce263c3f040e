"""The engine for processors, on and off: the same vectors, gradients and trained weights."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from embedlab.core.plugins import shipped_names
from embedlab.core.settings import Settings
from embedlab.cpu import engine
from embedlab.cpu.dropout import BitDropout
from embedlab.cpu.engine import describe_engine
from embedlab.cpu.linear import FastLinear
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import machine
from embedlab.encoders.pretrained import load_backbone
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Wishes
from tests.training.small_runs import MACHINE

OFF = replace(MACHINE, has_cpu_engine=False)
IDS = torch.tensor(
    [[2, 5, 6, 7, 3], [2, 6, 3, 0, 0], [2, 7, 3, 0, 0], [2, 5, 6, 3, 0], [2, 3, 0, 0, 0]]
)
MASK = torch.tensor(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]
)


def gradients(encoder: TransformerEncoder) -> dict[str, Tensor]:
    vectors = encoder.forward_tokens(IDS, MASK)
    (vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()
    return {
        name: weight.grad
        for name, weight in encoder.backbone.named_parameters()
        if weight.grad is not None
    }


ARCHITECTURES = ("bert", "roberta", "distilbert", "electra", "modernbert")
# Of the last layer the engine computes all states or the first alone: of each way one pooling.
SEEN_BY_ALL = {"mean", "cls"}


@pytest.mark.parametrize(
    ("architecture", "pooling"),
    [
        pytest.param(
            name,
            pooling,
            marks=[] if name == "bert" or pooling in SEEN_BY_ALL else [pytest.mark.slow],
        )
        for name in ARCHITECTURES
        for pooling in shipped_names("poolings")
    ],
)
def test_vectors_and_gradients_are_those_of_transformers(
    architecture: str, pooling: str, tmp_path: Path
) -> None:
    words = ["a", "man", "runs", "sleeps"]
    build_random_encoder(
        tmp_path, seed=0, hidden=128, vocabulary=words, architecture=architecture
    )  # wide enough for oneDNN
    on, off = (
        load_transformer(str(tmp_path), here, wishes=Wishes(pooling=pooling, max_tokens=32))
        for here in (MACHINE, OFF)
    )  # type: ignore[arg-type]
    sentences = ["a man sleeps", "runs", "a", "a man runs and a man sleeps"]
    np.testing.assert_allclose(on.encode(sentences), off.encode(sentences), atol=1e-5)
    for encoder in (on, off):
        encoder.backbone.eval()
    found, expected = gradients(on), gradients(off)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-5)


def test_switched_off_the_modules_are_those_of_transformers(tmp_path: Path) -> None:
    build_random_encoder(tmp_path, seed=0, hidden=128, vocabulary=["a", "man"])
    plain, _ = load_backbone(tmp_path)
    on, off = (load_transformer(str(tmp_path), here).backbone for here in (MACHINE, OFF))
    assert [type(module) for module in off.modules()] == [
        type(module) for module in plain.modules()
    ]
    assert not any(module._forward_pre_hooks for module in off.modules())
    assert any(isinstance(module, BitDropout) for module in on.modules())


def test_int8_is_a_precision_and_not_the_engine(tiny_encoder: Path) -> None:
    on, off = (
        load_transformer(
            str(tiny_encoder), replace(here, precision="int8"), wishes=Wishes(pooling="mean")
        )
        for here in (MACHINE, OFF)
    )
    exact = load_transformer(str(tiny_encoder), OFF, wishes=Wishes(pooling="mean"))
    for encoder in (on, off):
        assert not any(
            type(module) in {nn.Linear, FastLinear} for module in encoder.backbone.modules()
        )
        error = np.abs(encoder.encode(["a man sleeps"]) - exact.encode(["a man sleeps"])).max()
        assert 0 < error < 0.2
        assert len(encoder.facts.notes) == len(exact.facts.notes) + 1


def test_the_setting_decides() -> None:
    assert machine(Settings(device="cpu")).has_cpu_engine
    assert not machine(Settings(device="cpu", cpu_engine="off")).has_cpu_engine
    assert describe_engine(is_on=True).startswith("on, ")
    assert describe_engine(is_on=False).startswith("off: ")


def test_the_door_alone_does_not_load_transformers() -> None:
    """Classifiers, which need the thread pool alone, would wait seconds for it."""
    tree = ast.parse(Path(str(engine.__file__)).read_text(encoding="utf-8"))
    wanted = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not any(str(name).startswith(("transformers", "embedlab")) for name in wanted)
