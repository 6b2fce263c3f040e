"""Captured passes give the losses and gradients of today's, though a graph reads and writes the
same memory at every replay; on a processor a stand-in does so too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Wishes
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import capture
from embedlab.training.batching import Batch, Collation, PackedRows, cut_for, tokenise
from embedlab.training.capture import (
    CapturedPasses,
    CommonShapes,
    CudaGraphs,
    common_shapes,
    side_by_side,
    why_not_captured,
)
from embedlab.training.gradients import LossScale
from embedlab.training.learner import Learner, backward, dropout_places, recompute_layers
from embedlab.training.loop import _Stepper
from embedlab.training.order import batch_generator
from embedlab.training.parallel import Team
from embedlab.training.stage_data import open_stage
from tests.training.killed_run import with_lora
from tests.training.small_runs import (
    MACHINE,
    SAMPLE,
    interrupted,
    joint_stages,
    mixed_stages,
    recipe_of,
    save_checkpoints,
    saved_bytes,
    stage,
    two_stages,
)
from tests.training.test_supcl_seq import labelled

Train = Callable[..., RunFolder]
PLAIN = replace(MACHINE, has_cpu_engine=False)  # as on a GPU, transformers does the work
ARCHITECTURES = ["bert", "roberta", "distilbert", "electra"]


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


def test_sentences_side_by_side_overlap_nowhere_and_stay_in_their_row() -> None:
    rng = np.random.default_rng(0)
    for width in (8, 32, 100):
        lengths = rng.integers(1, width + 1, size=50)
        starts, rows = side_by_side(lengths, width)
        taken = np.concatenate(
            [
                np.arange(start, start + length)
                for start, length in zip(starts, lengths, strict=True)
            ]
        )
        assert len(np.unique(taken)) == lengths.sum()
        assert taken.max() < rows * width
        assert (starts // width == (starts + lengths - 1) // width).all()


def test_short_sentences_fill_the_rows_of_long_ones() -> None:
    assert side_by_side(np.array([3, 8, 5, 8, 4, 4]), 8)[1] == 4


STAGES = {
    "pairs": stage("nli_softmax"),
    "premise groups with drawn sets": stage(positives=2, negatives=3),
    "two views (SimCSE)": stage("in_batch_contrastive"),
    "two views, a few sentences at a time": stage("in_batch_contrastive", optim={"micro_batch": 5}),
    "in parts": stage("in_batch_contrastive", optim={"accumulate": 3}),
    "embeddings that stay (DefSent)": stage("definition_to_word"),
    "three views of pairs (SupCL-Seq)": labelled("class_contrastive", dropout=[0.0, 0.0, 0.0]),
}
STAGES["embeddings that stay (DefSent)"]["data"]["datasets"] = ["definitions"]
for name in STAGES:
    if name.startswith(("two", "in parts")):
        STAGES[name]["data"]["datasets"] = ["wiki-split"]


def learner_of(
    encoder: TransformerEncoder, of: dict[str, Any], captured: CapturedPasses | None
) -> tuple[Learner, Batch, bool]:
    """A learner without dropout, and its third batch; packed where passes are captured."""
    recipe = recipe_of(Path(encoder.name), of)
    data = open_stage(recipe, SAMPLE, 1, 0, encoder.word_ids)
    needs = objective_needs(recipe.stages[0].objective)
    torch.manual_seed(0)
    objective = build_objective(recipe.stages[0].objective, encoder.dim)
    objective.attach(encoder)
    collation = Collation(
        data=data,
        needs=needs,
        tokens=tokenise(encoder, data.rows.texts),
        objective=objective.double(),
        pad=0,
        cut=cut_for(encoder),
    )
    if captured is not None:
        collation = replace(collation, pack=common_shapes(collation, encoder).pack)
    learner = Learner(encoder, {0: objective}, captured=captured).train()
    for module, name in dropout_places(learner):
        setattr(module, name, 0.0)
    batch = collation.batch(data.batches(0)[1], batch_generator(1, 0, 0, 1))
    return learner, batch, collation.chunk_limit is not None


def encoder_of(folder: Path, place: Machine = PLAIN, pooling: str = "mean") -> TransformerEncoder:
    return load_transformer(str(folder), place, wishes=Wishes(pooling=pooling, max_tokens=32))


def loss_and_gradients(
    learner: Learner, batch: Batch, *, is_cached: bool
) -> tuple[float, dict[str, Tensor]]:
    learner.zero_grad()
    loss = backward(learner, batch, LossScale(PLAIN), is_cached=is_cached)
    return loss.item(), {
        name: parameter.grad.clone()
        for name, parameter in learner.named_parameters()
        if parameter.grad is not None
    }


@pytest.mark.parametrize("name", STAGES)
def test_packed_batches_have_the_losses_and_gradients_of_padded_ones(
    name: str, tiny_encoder: Path, graphs: list[Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    encoder = encoder_of(tiny_encoder)
    encoder.backbone.double()
    expected = loss_and_gradients(
        *(made := learner_of(encoder, STAGES[name], None))[:2], is_cached=made[2]
    )
    passes = CapturedPasses(encoder)
    learner, batch, is_cached = learner_of(encoder, STAGES[name], passes)
    chunks = [chunk for part in batch.parts or (batch,) for chunk in part.chunks]
    assert all(isinstance(chunk, PackedRows) for chunk in chunks)
    for _ in range(2):  # captured, and replayed
        loss, found = loss_and_gradients(learner, batch, is_cached=is_cached)
        assert loss == pytest.approx(expected[0], abs=1e-12)
        assert found.keys() == expected[1].keys()
        for key, gradient in expected[1].items():
            torch.testing.assert_close(found[key], gradient, rtol=1e-12, atol=1e-12)


def test_views_with_dropout_have_the_gradients_of_eager_ones_with_the_same_draws(
    tiny_encoder: Path, graphs: list[Tape]
) -> None:
    found = []
    of = labelled("class_contrastive", dropout=[0.2, 0.2, 0.4])
    for make in (lambda compute, *_: compute, CudaGraphs()):
        encoder = encoder_of(tiny_encoder)
        learner, batch, _ = learner_of(encoder, of, CapturedPasses(encoder, make))
        for _ in range(2):  # captured, and replayed
            torch.manual_seed(7)
            found.append(loss_and_gradients(learner, batch, is_cached=False))
    assert graphs
    for loss, gradients in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-6)
        for key, gradient in found[0][1].items():
            torch.testing.assert_close(gradients[key], gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "max", "last", "mean-without-cls", "weighted-mean"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_pooling_and_architecture_is_packed_alike(
    architecture: str, pooling: str, tmp_path: Path, graphs: list[Tape]
) -> None:
    build_random_encoder(tmp_path, seed=0, hidden=16, architecture=architecture)
    encoder = encoder_of(tmp_path, pooling=pooling)
    tokens = tokenise(encoder, ["a man sleeps", "dogs", "a dog runs by the long grey sea", "x"])
    pad = int(encoder.tokenizer.pad_token_id or 0)
    chunk = tuple(map(torch.from_numpy, tokens.padded([0, 1, 2, 3], pad)))
    shapes = CommonShapes(
        width=64,
        step=1,
        rows=frozenset(range(4)),
        padding=0.0,
        pad=pad,
        positions=encoder.forward.positions,
    )
    packed = shapes.pack(chunk)
    assert packed is not None
    assert len(packed.ids) < 4
    vectors = CapturedPasses(encoder).encode(packed, None, 0)
    torch.testing.assert_close(vectors, encoder.forward_tokens(*chunk), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_pass_asks_for_no_value_so_that_it_can_be_captured(
    architecture: str, tmp_path: Path
) -> None:
    build_random_encoder(tmp_path, seed=0, hidden=16, architecture=architecture)
    encoder = encoder_of(tmp_path)
    encoder.backbone.train()
    passes = CapturedPasses(encoder)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        inputs = [mode.from_tensor(torch.ones(3, 16, dtype=torch.long)) for _ in range(4)]
        with pytest.raises(DataDependentOutputException):
            bool(inputs[0].all())  # as transformers asks of a mask of two dimensions
        passes.states(*inputs).sum().backward()


def test_long_and_rare_shapes_run_as_they_did(tiny_encoder: Path) -> None:
    encoder = encoder_of(tiny_encoder)
    _, batch, _ = learner_of(encoder, stage("nli_softmax"), CapturedPasses(encoder))
    shapes = CommonShapes(
        width=8, step=2, rows=frozenset({2}), padding=0.0, pad=0, positions=torch.zeros_like
    )
    ids = torch.ones(3, 5, dtype=torch.long)
    assert shapes.pack((ids, torch.ones_like(ids))) is None  # 3 rows, which make 4
    assert shapes.pack((ids[:2], torch.ones_like(ids[:2]))) is not None
    wide = torch.ones(1, 9, dtype=torch.long)
    assert shapes.pack((wide, torch.ones_like(wide))) is None
    assert isinstance(batch.chunks[0], PackedRows)


def test_each_view_has_a_capture_and_so_has_each_rate(
    tiny_encoder: Path, graphs: list[Tape]
) -> None:
    made: list[tuple[int, list[float]]] = []
    encoder = encoder_of(tiny_encoder)

    def record(compute: Any, inputs: Any, trained: Any, place: int) -> Any:
        rates = [module.p for module in encoder.backbone.modules() if hasattr(module, "p")]
        made.append((place, sorted(set(rates))))
        return CudaGraphs()(compute, inputs, trained, place)

    of = labelled("class_contrastive", dropout=[0.1, 0.1, 0.3])
    learner, batch, _ = learner_of(encoder, of, CapturedPasses(encoder, record))
    for _ in range(2):
        loss_and_gradients(learner, batch, is_cached=False)
    assert made == [(0, [0.1]), (1, [0.1]), (2, [0.3])]
    assert len(graphs) == 6


CAPTURING = replace(PLAIN, is_capturing=True)  # what no user can have


def notes_of(run: RunFolder) -> list[str]:
    recorded, _ = events.events_after(run.events_file)
    return [event.text for event in recorded if isinstance(event, events.Noted)]


@pytest.mark.parametrize("has_lora", [False, True])
def test_a_run_without_dropout_ends_where_it_ends_without_captures(
    has_lora: bool, train: Train, tiny_encoder: Path, graphs: list[Tape]
) -> None:
    of = labelled("class_contrastive", rows=48, dropout=[0.0, 0.0])
    recipe = recipe_of(tiny_encoder, of)
    recipe = with_lora(recipe) if has_lora else recipe
    plain = train(recipe, "plain", machine=PLAIN)
    captured = train(recipe, "captured", machine=CAPTURING)
    assert graphs
    assert any("captured in rows of" in note for note in notes_of(captured))
    weights = [load_file(run.model / "model.safetensors") for run in (captured, plain)]
    torch.testing.assert_close(*weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("of", [pytest.param(mixed_stages, marks=pytest.mark.slow), joint_stages])
def test_stages_in_turn_and_in_joint_steps_end_where_eager_ones_do(
    of: Callable[[Path], Recipe],
    train: Train,
    tiny_encoder: Path,
    graphs: list[Tape],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = of(tiny_encoder)
    captured = train(recipe, "captured", machine=CAPTURING)
    assert graphs
    monkeypatch.setattr(capture, "CudaGraphs", lambda: lambda compute, *_: compute)
    eager = train(recipe, "eager", machine=CAPTURING)
    weights = [load_file(run.model / "model.safetensors") for run in (captured, eager)]
    torch.testing.assert_close(*weights, rtol=1e-4, atol=1e-5)


def test_a_captured_run_that_was_stopped_ends_with_the_same_bits(
    train: Train, tiny_encoder: Path, graphs: list[Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = two_stages(tiny_encoder, rows=48)
    whole = train(recipe, "whole", machine=CAPTURING)
    interrupted(train, recipe, 3, monkeypatch, machine=CAPTURING)
    resumed = train(recipe, resume=True, machine=CAPTURING)
    assert graphs
    assert saved_bytes(resumed) == saved_bytes(whole)


def test_what_cannot_be_captured_says_why_and_trains(train: Train, tiny_encoder: Path) -> None:
    place = replace(CAPTURING, is_recomputing=True)
    recipe = recipe_of(tiny_encoder, stage(rows=32))
    run = train(recipe, "aloud", machine=place)
    assert "passes are not captured: gradient checkpointing draws its dropout twice" in notes_of(
        run
    )
    expected = train(recipe, "plain", machine=PLAIN)
    assert saved_bytes(run) == saved_bytes(expected)


def test_what_cannot_be_captured_is_known_before_the_first_step(tiny_encoder: Path) -> None:
    encoder = encoder_of(tiny_encoder)
    assert why_not_captured(encoder, Team()) == ""
    assert "several processes" in why_not_captured(encoder, Team(size=2))
    encoder.backbone.config._attn_implementation = "eager"
    other = encoder_of(tiny_encoder)
    other.forward.takes_wide_mask = False
    assert "not known" in why_not_captured(other, Team())


def test_a_pass_that_fails_to_be_captured_is_named(tiny_encoder: Path) -> None:
    def refuse(*_: object) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing")

    encoder = encoder_of(tiny_encoder)
    learner, batch, _ = learner_of(encoder, stage("nli_softmax"), CapturedPasses(encoder, refuse))
    with pytest.raises(
        EmbedlabError, match=r"a pass of \d+ x \d+ tokens cannot be captured"
    ) as one:
        learner(batch)
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
    kept, again = (
        replace(MACHINE, has_cpu_engine=has_cpu_engine, is_recomputing=is_recomputing)
        for is_recomputing in (False, True)
    )
    assert saved_bytes(train(recipe, "again", machine=again)) == saved_bytes(
        train(recipe, "kept", machine=kept)
    )


def test_layers_that_cannot_be_computed_again_are_refused(tiny_encoder: Path) -> None:
    encoder = encoder_of(tiny_encoder)
    encoder.backbone.supports_gradient_checkpointing = False
    with pytest.raises(UsageError, match="no gradient checkpointing for 'bert'"):
        recompute_layers(encoder)


@pytest.fixture(scope="module")
def gpu() -> Machine:
    """The first GPU in float32."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    return Machine(device=torch.device("cuda"), precision="float32", threads=1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", STAGES)
def test_graphs_have_the_losses_and_gradients_of_eager_passes(
    name: str, tiny_encoder: Path, gpu: Machine
) -> None:
    encoder = encoder_of(tiny_encoder, gpu)
    learner, batch, is_cached = learner_of(encoder, STAGES[name], None)
    expected = loss_and_gradients(
        learner.float().to(gpu.device), batch.to(gpu.device), is_cached=is_cached
    )
    learner, batch, _ = learner_of(encoder, STAGES[name], CapturedPasses(encoder))
    learner.float().to(gpu.device)
    for _ in range(3):
        loss, found = loss_and_gradients(learner, batch.to(gpu.device), is_cached=is_cached)
        assert loss == pytest.approx(expected[0], rel=1e-4)
        assert found.keys() == expected[1].keys()
        for key, gradient in expected[1].items():
            torch.testing.assert_close(found[key], gradient, rtol=1e-3, atol=1e-5)


def losses_of(run: RunFolder) -> Tensor:
    recorded, _ = events.events_after(run.events_file)
    return torch.tensor([each.loss for each in recorded if isinstance(each, events.Step)])


@pytest.mark.gpu
def test_200_steps_without_dropout_differ_by_no_more_than_bf16_does(
    train: Train, tiny_encoder: Path, gpu: Machine
) -> None:
    of = labelled("class_contrastive", rows=64, lr=1e-4, dropout=[0.0, 0.0])
    of["optim"] |= {"epochs": 50.0}  # type: ignore[operator]
    recipe = recipe_of(tiny_encoder, of, log_every=1)
    eager, captured, exact = (
        losses_of(train(recipe, name, machine=place))
        for name, place in {
            "eager": replace(gpu, precision="bf16"),
            "captured": replace(gpu, precision="bf16", is_capturing=True),
            "exact": gpu,
        }.items()
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
        whole = train(recipe, "whole", machine=place)
        interrupted(train, recipe, 3, monkeypatch, machine=place)
        resumed = train(recipe, resume=True, machine=place)
        assert not any("not captured" in note for note in notes_of(resumed))
        assert saved_bytes(resumed) == saved_bytes(whole)
    finally:
        torch.use_deterministic_algorithms(mode=False)


@pytest.mark.gpu
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.5])
def test_a_graph_draws_its_dropout_anew_at_its_rate(rate: float, gpu: Machine) -> None:
    weight = nn.Parameter(torch.ones(100, device=gpu.device))
    given = torch.ones(100, device=gpu.device)
    graph = CudaGraphs()(lambda values: F.dropout(values * weight, rate), [given], [weight], 0)
    torch.manual_seed(0)
    before = torch.cuda.get_rng_state()
    with torch.no_grad():
        draws = torch.stack([graph(given).clone() for _ in range(100)])
        torch.cuda.set_rng_state(before)
        again = torch.stack([graph(given).clone() for _ in range(100)])
    assert draws.equal(again)
    assert len(torch.unique(draws, dim=0)) > 90
    dropped = (draws == 0).float().mean().item()
    assert dropped == pytest.approx(rate, abs=4 * (rate * (1 - rate) / 10_000) ** 0.5)
    assert draws.max().item() == pytest.approx(1 / (1 - rate))
