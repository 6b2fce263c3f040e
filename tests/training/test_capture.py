"""Captured passes give the vectors and gradients of plain ones, though a graph reads and writes the same memory at every replay."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import capture
from embedlab.training.batching import Chunk
from embedlab.training.capture import CapturedPasses, filled
from embedlab.training.dropout import dropout_places, dropout_rate
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE, recipe_of, stage

WORDS = ["a", "man", "dog", "sleeps", "runs"]


class Replayed:
    """What a CUDA graph is to its caller, on a processor.

    Dropout rates are those of the capture; arguments, result and gradients lie in buffers that the next replay overwrites.
    """

    def __init__(self, module: nn.Module, chunk: Chunk) -> None:
        self.module = module
        self.arguments = [values.clone() for values in chunk]
        torch.rand(9)  # torch's captures warm up, which draws dropout
        self.result = module(*self.arguments).detach()
        self.parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self.gradients = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.rates = [(place, name, getattr(place, name)) for place, name in dropout_places(module)]
        self.graph: Tensor | None = None

    def compute(self) -> Tensor:
        before = [(place, name, getattr(place, name)) for place, name, _ in self.rates]
        for place, name, rate in self.rates:
            setattr(place, name, rate)
        computed: Tensor = self.module(*self.arguments)
        for place, name, rate in before:
            setattr(place, name, rate)
        return computed

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        replayed: Tensor = _Replay.apply(self, ids, mask, *self.parameters)  # type: ignore[no-untyped-call]
        return replayed


class _Replay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, static: Replayed, ids: Tensor, mask: Tensor, *parameters: Tensor) -> Tensor:
        assert static.graph is None, "replayed before the backward pass of its last replay"
        ctx.static = static
        for buffer, values in zip(static.arguments, (ids, mask), strict=True):
            assert buffer.shape == values.shape
            buffer.copy_(values)
        with torch.enable_grad():
            static.graph = static.compute()
        static.result.copy_(static.graph)
        return static.result.detach()

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, ...]:
        static: Replayed = ctx.static
        assert static.graph is not None
        found = torch.autograd.grad(static.graph, static.parameters, outputs[0], allow_unused=True)
        static.graph = None
        for buffer, gradient in zip(static.gradients, found, strict=True):
            if gradient is not None:
                buffer.copy_(gradient)
        used = (buffer.detach() if gradient is not None else None for buffer, gradient in zip(static.gradients, found, strict=True))
        return (None, None, None, *used)


def chunk_of(*lengths: int) -> Chunk:
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.arange(length) % 5 + 4
    return ids, (ids > 0).long()


@pytest.fixture
def encoder(tmp_path: Path) -> TransformerEncoder:
    build_random_encoder(tmp_path, seed=0, hidden=16, vocabulary=WORDS)
    loaded = load_transformer(str(tmp_path), MACHINE, pooling="mean", max_tokens=20)
    loaded.backbone.train()
    return loaded


def vectors_and_gradients(encoder: TransformerEncoder, embed: Callable[[], Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    encoder.backbone.zero_grad()
    vectors = embed()
    (vectors * torch.arange(1, vectors.numel() + 1, device=vectors.device).view(vectors.shape).sin()).sum().backward()
    return vectors.detach().clone(), {name: one.grad.clone() for name, one in encoder.backbone.named_parameters() if one.grad is not None}


@pytest.mark.parametrize("is_packing", [True, False])
def test_vectors_and_gradients_of_replays_are_those_of_plain_passes(is_packing: bool, encoder: TransformerEncoder) -> None:
    encoder.is_packing = is_packing
    passes = CapturedPasses(encoder, Replayed)
    for chunk in (chunk_of(3, 4, 9), chunk_of(2, 5), chunk_of(*range(2, 20)), chunk_of(4, 4, 4)):
        captured, found = vectors_and_gradients(encoder, lambda chunk=chunk: passes.encode(chunk, 0.0))  # type: ignore[misc]
        with dropout_rate(dropout_places(encoder.backbone), 0.0):
            plain, expected = vectors_and_gradients(encoder, lambda chunk=chunk: encoder.forward_tokens(*chunk))  # type: ignore[misc]
        torch.testing.assert_close(captured, plain, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_chunks_of_like_size_share_a_capture_and_rates_have_their_own(encoder: TransformerEncoder) -> None:
    captures: list[torch.Size] = []

    def record(module: nn.Module, chunk: Chunk) -> Replayed:
        captures.append(chunk[0].shape)
        return Replayed(module, chunk)

    passes = CapturedPasses(encoder, record)
    for chunk, rate in ((chunk_of(3, 4), None), (chunk_of(5, 5, 7), None), (chunk_of(9, 2), None), (chunk_of(3, 4), 0.2)):
        vectors_and_gradients(encoder, lambda chunk=chunk, rate=rate: passes.encode(chunk, rate))  # type: ignore[misc]
    assert captures == [(16, 8), (16, 16), (16, 8)]


def test_a_filled_chunk_has_the_next_shape_and_no_sentence_without_a_token() -> None:
    ids, mask = filled(chunk_of(3, 17), pad=7, max_tokens=20)
    assert ids.shape == mask.shape == (16, 20)  # 24 tokens would be more than the encoder knows
    assert ids[0, 3:].tolist() == [0] * 14 + [7] * 3
    assert mask.sum(dim=1).tolist() == [3, 17] + [1] * 14


def test_more_shapes_than_are_kept_are_computed_without(encoder: TransformerEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MOST_SHAPES", 1)
    passes = CapturedPasses(encoder, Replayed)
    for chunk in (chunk_of(3, 4), chunk_of(2, 9), chunk_of(5, 5)):
        found, _ = vectors_and_gradients(encoder, lambda chunk=chunk: passes.encode(chunk, 0.0))  # type: ignore[misc]
        with dropout_rate(dropout_places(encoder.backbone), 0.0):
            torch.testing.assert_close(found, encoder.forward_tokens(*chunk), rtol=1e-5, atol=1e-6)


def test_a_capture_leaves_the_random_state_as_it_was(encoder: TransformerEncoder) -> None:
    passes = CapturedPasses(encoder, Replayed)
    torch.manual_seed(1)
    passes._captured(filled(chunk_of(3, 4), pad=0, max_tokens=20), None)
    drawn = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(3))


def test_a_shape_that_cannot_be_captured_is_named(encoder: TransformerEncoder) -> None:
    def record(module: nn.Module, chunk: Chunk) -> Replayed:
        raise RuntimeError("operation not permitted when stream is capturing")

    with pytest.raises(EmbedlabError, match="a pass of 16 x 8 tokens cannot be captured: operation not permitted") as caught:
        CapturedPasses(encoder, record).encode(chunk_of(3, 4), None)
    assert "capture" in caught.value.hint


def test_captures_are_refused_without_a_gpu() -> None:
    assert not machine(Settings(device="cpu", capture=True)).is_capturing
    with pytest.raises(UsageError, match="`capture` is for GPUs"):
        machine(Settings(device="cpu", capture=True), training=True)


@pytest.mark.skipif(not hasattr(torch._C, "_warn_on_accumulate_grad_stream_mismatch"), reason="this torch does not warn")
def test_captures_switch_off_a_warning_at_every_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: "all in one")
    before = torch._C._warn_on_accumulate_grad_stream_mismatch()
    try:
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
        capture.cuda_graphs()
        assert not torch._C._warn_on_accumulate_grad_stream_mismatch()
    finally:
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(before)


@pytest.mark.parametrize("views", ["one", "two"])
def test_a_run_ends_with_the_weights_of_one_without_captures(
    views: str, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed: list[Replayed] = []

    def record(module: nn.Module, chunk: Chunk, *, pool: str, allow_unused_input: bool) -> Replayed:
        assert (pool, allow_unused_input) == ("all in one", True)
        replayed.append(Replayed(module, chunk))
        return replayed[-1]

    monkeypatch.setattr(torch.cuda, "make_graphed_callables", record)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: "all in one")
    options = {"dropout": [0.0]} if views == "one" else {"dropout": [0.0, 0.0]}
    labelled = {
        "data": {"datasets": ["glue-sst2"], "rows": 48},
        "objective": {"name": "classification", "head_dropout": 0.0, **options},
        "optim": {"lr": 1e-3, "batch_size": 16, "weight_decay": 0.01, "clip": 1.0},
    }
    for name, is_capturing in (("captured", True), ("plain", False)):
        here = replace(MACHINE, is_capturing=is_capturing)
        train_run(recipe_of(tiny_encoder, labelled), SAMPLE, here, RunFolder.of(tmp_path / "runs", name, 1), 1)
    assert bool(replayed) is (views == "one")
    captured, plain = (load_file(RunFolder.of(tmp_path / "runs", name, 1).model / "model.safetensors") for name in ("captured", "plain"))
    torch.testing.assert_close(captured, plain, rtol=1e-4, atol=1e-5)


def test_steps_of_several_tasks_are_not_captured(tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cuda, "make_graphed_callables")
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: "all in one")
    recipe = recipe_of(tiny_encoder, stage("nli_softmax", rows=32, optim={"turn": 1}), stage(rows=32, optim={"turn": 1}))
    run = RunFolder.of(tmp_path / "runs", "mixed", 1)
    train_run(recipe, SAMPLE, replace(MACHINE, is_capturing=True), run, 1)
    notes = [event.text for event in events.follow(run.events_file)[0] if isinstance(event, events.Note)]
    assert "passes are not captured: a step takes several, or leaves a part of the encoder as it is" in notes
    assert run.environment().device == "cpu, captured passes"


@pytest.mark.gpu
@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_graphs_on_a_gpu_give_the_vectors_and_gradients_of_plain_passes(architecture: str, tmp_path: Path) -> None:
    build_random_encoder(tmp_path, seed=0, hidden=64, vocabulary=WORDS, architecture=architecture)
    here = Machine(device=torch.device("cuda"), precision="float32", threads=1)
    encoder = load_transformer(str(tmp_path), here, pooling="mean", max_tokens=20)
    encoder.backbone.train()
    passes = CapturedPasses(encoder)
    for chunk in (chunk_of(3, 4, 9), chunk_of(2, 5), chunk_of(*range(2, 20)), chunk_of(4, 4, 4)):
        given = (chunk[0].cuda(), chunk[1].cuda())
        captured, found = vectors_and_gradients(encoder, lambda given=given: passes.encode(given, 0.0))  # type: ignore[misc]
        with dropout_rate(dropout_places(encoder.backbone), 0.0):
            plain, expected = vectors_and_gradients(encoder, lambda given=given: encoder.forward_tokens(*given))  # type: ignore[misc]
        torch.testing.assert_close(captured, plain, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
