"""Captured passes give the losses and gradients of today's, though a graph reads and writes the
same memory at every replay; on a processor a stand-in does so too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.runs.events import Step
from embedlab.training import capture
from embedlab.training.batching import Batch, PackedRows, tokenise_in_parts
from embedlab.training.capture import (
    CapturedPasses,
    CommonShapes,
    CudaGraphs,
    common_shapes,
    pack_side_by_side,
    why_not_captured,
)
from embedlab.training.gradients import LossScale
from embedlab.training.learner import Learner, backward, dropout_places, recompute_layers
from embedlab.training.loop import _Stepper
from embedlab.training.order import batch_generator
from embedlab.training.parallel import Team
from tests.training.killed_run import with_lora
from tests.training.small_runs import (
    ARCHITECTURES,
    MACHINE,
    Train,
    assert_close,
    assert_resumes,
    collation_of,
    events_of,
    gradients_of,
    joint_stages,
    mixed_stages,
    narrow_encoder,
    notes_of,
    open_encoder,
    recipe_of,
    save_checkpoints,
    saved_bytes,
    stage,
    two_stages,
    weights_of,
)
from tests.training.test_supcl_seq import labelled

PLAIN = replace(MACHINE, has_cpu_engine=False)  # as on a GPU, transformers does the work


class Tape(TorchDispatchMode):
    """What a CUDA graph is, on a processor: the operations of a block, which a replay computes once
    more on the same tensors and into the same results.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        for function, args, kwargs, result in self.calls:
            again = function(*args, **kwargs)
            for before, now in zip(tree_leaves(result), tree_leaves(again), strict=True):
                if isinstance(before, Tensor) and before.data_ptr() != now.data_ptr():
                    before.copy_(now)


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tape]]:
    """All that is captured, on a processor."""
    made: list[Tape] = []

    @contextmanager
    def graph(tape: Tape, *, pool: object) -> Iterator[None]:
        made.append(tape)
        with tape:
            yield

    stream = SimpleNamespace(wait_stream=lambda _: None)
    stand_ins = {
        "CUDAGraph": Tape,
        "graph": graph,
        "graph_pool_handle": object,
        "Stream": lambda: stream,
        "current_stream": lambda: stream,
        "stream": lambda _: nullcontext(),
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    # its gradients of words are rows, on a processor alone
    monkeypatch.setattr(_Stepper, "_teaches_whole", lambda *_: False)
    return made


def test_short_sentences_fill_the_rows_of_long_ones() -> None:
    assert pack_side_by_side(np.array([3, 8, 5, 8, 4, 4]), 8)[1] == 4


STAGES = {
    "pairs": stage("nli_softmax"),
    "premise groups with drawn sets": stage(positives=2, negatives=3),
    "two views (SimCSE)": stage("in_batch_contrastive", dataset="wiki-split"),
    "two views, a few sentences at a time": stage(
        "in_batch_contrastive", optim={"micro_batch": 5}, dataset="wiki-split"
    ),
    "in parts": stage("in_batch_contrastive", optim={"accumulate": 3}, dataset="wiki-split"),
    "embeddings that stay (DefSent)": stage("definition_to_word", dataset="definitions"),
    "three views of pairs (SupCL-Seq)": labelled("class_contrastive", dropout=[0.0, 0.0, 0.0]),
}


def learner_of(
    encoder: TransformerEncoder, of: dict[str, Any], captured: CapturedPasses | None
) -> tuple[Learner, Sequence[Batch], bool]:
    """A learner without dropout, and its third batch; packed where passes are captured."""
    collation = collation_of(encoder, recipe_of(Path(encoder.name), of))
    objective = collation.objective.double()
    if captured is not None:
        collation = replace(collation, pack=common_shapes(collation, encoder).pack)
    learner = Learner(encoder, {0: objective}, captured=captured).train()
    for module, name in dropout_places(learner):
        setattr(module, name, 0.0)
    batch = collation.parts(collation.data.batches(0)[1], batch_generator(1, 0, 0, 1))
    return learner, batch, collation.chunk_limit is not None


def loss_and_gradients(
    learner: Learner, batch: Sequence[Batch], *, is_cached: bool
) -> tuple[float, dict[str, Tensor]]:
    learner.zero_grad()
    loss = backward(learner, batch, LossScale(PLAIN), is_cached=is_cached)
    return loss.item(), gradients_of(learner)


@pytest.mark.parametrize("name", STAGES)
def test_packed_batches_have_the_losses_and_gradients_of_padded_ones(
    name: str, tiny_encoder: Path, graphs: list[Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    encoder = open_encoder(tiny_encoder, PLAIN)
    encoder.backbone.double()
    learner, batch, is_cached = learner_of(encoder, STAGES[name], None)
    expected = loss_and_gradients(learner, batch, is_cached=is_cached)
    passes = CapturedPasses(encoder)
    learner, batch, is_cached = learner_of(encoder, STAGES[name], passes)
    chunks = [chunk for part in batch for chunk in part.chunks]
    assert all(isinstance(chunk, PackedRows) for chunk in chunks)
    for _ in range(2):  # captured, and replayed
        loss, found = loss_and_gradients(learner, batch, is_cached=is_cached)
        assert loss == pytest.approx(expected[0], abs=1e-12)
        assert_close(found, expected[1], rtol=1e-12, atol=1e-12)


def test_views_with_dropout_have_the_gradients_of_eager_ones_with_the_same_draws(
    tiny_encoder: Path, graphs: list[Tape]
) -> None:
    found = []
    of = labelled("class_contrastive", dropout=[0.2, 0.2, 0.4])
    for make in (lambda compute, *_: compute, CudaGraphs()):
        encoder = open_encoder(tiny_encoder, PLAIN)
        learner, batch, _ = learner_of(encoder, of, CapturedPasses(encoder, make))
        for _ in range(2):  # captured, and replayed
            torch.manual_seed(7)
            found.append(loss_and_gradients(learner, batch, is_cached=False))
    assert graphs
    for loss, gradients in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-6)
        assert_close(gradients, found[0][1], rtol=1e-4, atol=1e-6)


POOLINGS = ["cls", "max", "last", "mean-without-cls", "weighted-mean"]
PACKED = [
    *(("bert", pooling) for pooling in POOLINGS),
    *((one, "max") for one in ARCHITECTURES[1:]),
]


@pytest.mark.parametrize(("architecture", "pooling"), PACKED)
def test_every_pooling_and_architecture_is_packed_alike(
    architecture: str, pooling: str, tmp_path: Path
) -> None:
    encoder = narrow_encoder(tmp_path, architecture, PLAIN, pooling)
    tokens = tokenise_in_parts(
        encoder, ["a man sleeps", "dogs", "a dog runs by the long grey sea", "x"]
    )
    chunk = tuple(map(torch.from_numpy, tokens.padded([0, 1, 2, 3], pad_of(encoder))))
    packed = shapes_of(encoder, width=64, step=1, rows=range(4)).pack(chunk)
    assert packed is not None
    assert len(packed.ids) < 4
    vectors = CapturedPasses(encoder, lambda compute, *_: compute).encode(packed, None, 0)
    torch.testing.assert_close(vectors, encoder.forward_tokens(*chunk), rtol=1e-5, atol=1e-6)


def pad_of(encoder: TransformerEncoder) -> int:
    return int(encoder.tokenizer.pad_token_id or 0)


def shapes_of(
    encoder: TransformerEncoder, *, width: int, step: int, rows: Iterable[int]
) -> CommonShapes:
    return CommonShapes(
        width=width,
        step=step,
        rows=frozenset(rows),
        padding=0.0,
        pad=pad_of(encoder),
        positions=encoder.forward.positions,
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_pass_asks_for_no_value_so_that_it_can_be_captured(
    architecture: str, tmp_path: Path
) -> None:
    encoder = narrow_encoder(tmp_path, architecture, PLAIN)
    encoder.backbone.train()
    passes = CapturedPasses(encoder)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        inputs = [mode.from_tensor(torch.ones(3, 16, dtype=torch.long)) for _ in range(4)]
        with pytest.raises(DataDependentOutputException):
            bool(inputs[0].all())  # as transformers asks of a mask of two dimensions
        passes.states(*inputs).sum().backward()


def test_long_and_rare_shapes_run_as_they_did(tiny_encoder: Path) -> None:
    shapes = shapes_of(open_encoder(tiny_encoder, PLAIN), width=8, step=2, rows=[2])

    def is_packed(rows: int, width: int) -> bool:
        ids = torch.ones(rows, width, dtype=torch.long)
        return shapes.pack((ids, torch.ones_like(ids))) is not None

    assert is_packed(2, 5)
    assert not is_packed(3, 5)  # which make 4
    assert not is_packed(1, 9)


CAPTURING = replace(PLAIN, is_capturing=True)  # what no user can have


@pytest.mark.parametrize("of", [pytest.param(mixed_stages, marks=pytest.mark.slow), joint_stages])
def test_stages_in_turn_and_in_joint_steps_end_where_eager_ones_do(
    of: Callable[[Path], Recipe],
    train: Train,
    tiny_encoder: Path,
    graphs: list[Tape],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = replace(with_lora(of(tiny_encoder)), max_steps=7)
    captured = train(recipe, "captured", machine=CAPTURING)
    assert graphs
    assert any("captured in rows of" in note for note in notes_of(captured))
    monkeypatch.setattr(capture, "CudaGraphs", lambda: lambda compute, *_: compute)
    eager = train(recipe, "eager", machine=CAPTURING)
    assert_close(weights_of(captured), weights_of(eager), rtol=1e-4, atol=1e-5)


def test_a_captured_run_that_was_stopped_ends_with_the_same_bits(
    train: Train, tiny_encoder: Path, graphs: list[Tape]
) -> None:
    recipe = two_stages(tiny_encoder, rows=48)
    assert_resumes(train, recipe, [3], machine=CAPTURING)
    assert graphs


def test_what_cannot_be_captured_says_why_and_trains(train: Train, tiny_encoder: Path) -> None:
    place = replace(CAPTURING, is_recomputing=True)
    run = train(recipe_of(tiny_encoder, stage(rows=32)), machine=place)
    assert "passes are not captured: gradient checkpointing draws its dropout twice" in notes_of(
        run
    )


def test_what_cannot_be_captured_is_known_before_the_first_step(tiny_encoder: Path) -> None:
    encoder = open_encoder(tiny_encoder, PLAIN)
    assert why_not_captured(encoder, Team()) == ""
    assert "several processes" in why_not_captured(encoder, Team(size=2))
    encoder.forward.takes_wide_mask = False
    assert "not known" in why_not_captured(encoder, Team())


def test_a_pass_that_fails_to_be_captured_is_named(tiny_encoder: Path) -> None:
    def refuse(*_: object) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing")

    encoder = open_encoder(tiny_encoder, PLAIN)
    learner, batch, _ = learner_of(encoder, stage("nli_softmax"), CapturedPasses(encoder, refuse))
    with pytest.raises(
        EmbedlabError, match=r"a pass of \d+ x \d+ tokens cannot be captured"
    ) as one:
        learner(batch[0])
    assert "--capture" in str(one.value.hint)


def test_a_processor_never_captures() -> None:
    assert not machine(Settings(device="cpu", capture=True)).is_capturing
    assert not machine(Settings(device="cpu"), training=True).is_capturing
    with pytest.raises(UsageError, match="--capture is for a GPU, not for device 'cpu'"):
        machine(Settings(device="cpu", capture=True), training=True)


@pytest.mark.parametrize("has_cpu_engine", [True, False])
def test_layers_that_are_computed_again_give_the_same_bits(
    has_cpu_engine: bool, train: Train, tiny_encoder: Path
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=48))
    place = replace(MACHINE, has_cpu_engine=has_cpu_engine)
    again = train(recipe, "again", machine=replace(place, is_recomputing=True))
    assert saved_bytes(again) == saved_bytes(train(recipe, "kept", machine=place))


def test_layers_that_cannot_be_computed_again_are_refused(tiny_encoder: Path) -> None:
    encoder = open_encoder(tiny_encoder, PLAIN)
    encoder.backbone.supports_gradient_checkpointing = False
    with pytest.raises(UsageError, match="no gradient checkpointing for 'bert'"):
        recompute_layers(encoder)


@pytest.mark.gpu
@pytest.mark.parametrize("name", STAGES)
def test_graphs_have_the_losses_and_gradients_of_eager_passes(
    name: str, tiny_encoder: Path, gpu: Machine
) -> None:
    encoder = open_encoder(tiny_encoder, gpu)
    learner, batch, is_cached = learner_of(encoder, STAGES[name], None)
    there = [part.to(gpu.device) for part in batch]
    expected = loss_and_gradients(learner.float().to(gpu.device), there, is_cached=is_cached)
    learner, batch, _ = learner_of(encoder, STAGES[name], CapturedPasses(encoder))
    learner.float().to(gpu.device)
    there = [part.to(gpu.device) for part in batch]
    for _ in range(3):
        loss, found = loss_and_gradients(learner, there, is_cached=is_cached)
        assert loss == pytest.approx(expected[0], rel=1e-4)
        assert_close(found, expected[1], rtol=1e-3, atol=1e-5)


@pytest.mark.gpu
def test_200_steps_without_dropout_differ_by_no_more_than_bf16_does(
    train: Train, tiny_encoder: Path, gpu: Machine
) -> None:
    optim = {"lr": 1e-4, "epochs": 50.0}
    of = labelled("class_contrastive", optim, rows=64, dropout=[0.0, 0.0])
    recipe = recipe_of(tiny_encoder, of, log_every=1)
    machines = {
        "eager": replace(gpu, precision="bf16"),
        "captured": replace(gpu, precision="bf16", is_capturing=True),
        "exact": gpu,
    }
    eager, captured, exact = (
        torch.tensor([event.loss for event in events_of(train(recipe, name, machine=place), Step)])
        for name, place in machines.items()
    )
    assert len(captured) == len(eager) == 200
    noise = (eager - exact).abs().mean()
    assert (captured - exact).abs().mean() < 2 * noise + 1e-3


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_a_captured_run_on_a_gpu_that_was_stopped_ends_with_the_same_bits(
    precision: Any, train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, gpu: Machine
) -> None:
    settings = Settings(device="cuda", deterministic=True, precision=precision, capture=True)
    try:
        place = machine(settings, training=True)
        recipe = two_stages(tiny_encoder, rows=48)
        save_checkpoints(monkeypatch, every=2)
        assert_resumes(train, recipe, [3], machine=place)
        assert not any("not captured" in note for note in notes_of(train(recipe, resume=True)))
    finally:
        torch.use_deterministic_algorithms(mode=False)


@pytest.mark.gpu
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.5])
def test_a_graph_draws_its_dropout_anew_at_its_rate(rate: float, gpu: Machine) -> None:
    weight, ones = nn.Parameter(torch.ones(100, device=gpu.device)), torch.ones(100).to(gpu.device)
    graph = CudaGraphs()(lambda values: F.dropout(values * weight, rate), [ones], [weight], 0)

    def draws() -> Tensor:
        torch.manual_seed(0)
        with torch.no_grad():
            return torch.stack([graph(ones).clone() for _ in range(100)])

    drawn = draws()
    assert drawn.equal(draws())
    assert len(torch.unique(drawn, dim=0)) > 90
    dropped = (drawn == 0).float().mean().item()
    assert dropped == pytest.approx(rate, abs=4 * (rate * (1 - rate) / 10_000) ** 0.5)
    assert drawn.max().item() == pytest.approx(1 / (1 - rate))
