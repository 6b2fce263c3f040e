"""The engine for processors, on and off: the same vectors, gradients and trained weights."""

import ast
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from embedlab.core.plugins import shipped_names
from embedlab.core.settings import Settings
from embedlab.cpu import engine
from embedlab.cpu.dropout import BitDropout
from embedlab.cpu.engine import describe_engine
from embedlab.cpu.linear import NOTE, FastLinear
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.pretrained import load_backbone
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.reading import UsageOptions
from tests.cpu.test_packing import assert_gradients, vectors_and_gradients
from tests.training.small_runs import MACHINE

OFF = replace(MACHINE, has_cpu_engine=False)


# Of the last layer the engine computes all states or the first alone: of each way one pooling.
@pytest.mark.parametrize(
    ("architecture", "pooling"),
    [
        *(("bert", pooling) for pooling in shipped_names("poolings")),
        *itertools.product(("roberta", "distilbert", "electra", "modernbert"), ("mean", "cls")),
    ],
)
def test_vectors_and_gradients_are_those_of_transformers(
    architecture: str, pooling: str, tmp_path: Path
) -> None:
    words = ["a", "man", "runs", "sleeps"]
    # wide enough for oneDNN
    build_random_encoder(tmp_path, seed=0, hidden=128, vocabulary=words, architecture=architecture)
    on, off = (
        load_transformer(str(tmp_path), here, wishes=UsageOptions(pooling=pooling, max_tokens=32))  # type: ignore[arg-type]
        for here in (MACHINE, OFF)
    )
    sentences = ["a man sleeps", "runs", "a", "a man runs and a man sleeps"]
    np.testing.assert_allclose(on.encode(sentences), off.encode(sentences), atol=1e-5)
    (_, found), (_, expected) = (vectors_and_gradients(encoder) for encoder in (on, off))
    assert_gradients(found, expected)


def test_switched_off_the_modules_are_those_of_transformers(small_bert: Path) -> None:
    plain, _ = load_backbone(small_bert)
    on, off = (load_transformer(str(small_bert), here).backbone for here in (MACHINE, OFF))
    assert [*map(type, off.modules())] == [*map(type, plain.modules())]
    assert not any(module._forward_pre_hooks for module in off.modules())
    assert any(isinstance(module, BitDropout) for module in on.modules())


@pytest.mark.parametrize("here", [MACHINE, OFF])
def test_int8_is_near_and_a_precision_and_not_the_engine(here: Machine, tiny_encoder: Path) -> None:
    exact, short = (
        load_transformer(str(tiny_encoder), replace(here, precision=precision))
        for precision in ("float32", "int8")
    )
    kinds = {type(module) for module in short.backbone.modules()}
    assert not kinds & {nn.Linear, FastLinear}
    texts = ["a man sleeps", "a dog runs in the park"]
    one, other = exact.encode(texts), short.encode(texts)
    error = np.linalg.norm(one - other, axis=1) / np.linalg.norm(one, axis=1)
    assert 0 < error.max() < 0.05
    assert short.fingerprint != exact.fingerprint
    assert short.facts.precision == "int8"
    assert NOTE in short.facts.notes


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
