"""Training at the papers' sizes on whatever GPU there is, with random weights and pairs whose
lengths and repetitions are their corpora's.

    python benchmarks/gpu_training.py [--seconds 150]                            snli-supcl (BERT
    8x512) and sbert (BERT-base) on a GPU
    python benchmarks/gpu_training.py --device cpu --shapes sbert --seconds 100  the share of the
    best matrix product on a CPU
    python benchmarks/gpu_training.py --device cpu --precision bf16 …            the same in bf16,
    on a processor that has units for it
    python benchmarks/gpu_training.py --device cpu --batch 256 …                 the same where a
    step has more to multiply

Each shape trains one epoch of its pairs in batches of 64 by default, or as much of it as fits into
--seconds; what was not trained is extrapolated and said so. It is the training loop of a run that
does so, timed from its start: the loss that is read every ten steps is in; tokenising, evaluation
and checkpoints, which take 3% of a long run at most but may take half a short one, are not. The
loop then goes on for a few steps that are taken apart by phase and by kind of operation. Speed does
not depend on the weights' values, so that nothing has to be downloaded.
"""

import argparse
import gc
import signal
import statistics
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from kinds import shares_by_kind
from made_pairs import WORDS, nli_pairs, random_tokens
from measure import best_of, product_seconds
from operations import step_bound
from record import Measured, write
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.profiler import ProfilerActivity, profile
from transformers import BertConfig, BertModel

from embedlab.core.errors import Interrupted
from embedlab.core.recipe import Recipe, Stage, load_recipe
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.folder import Usage
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.objectives.rows import index_rows
from embedlab.runs import events
from embedlab.training.batching import Collation, cut_for
from embedlab.training.blocks import blocks
from embedlab.training.checkpointing import Checkpoints
from embedlab.training.gradients import LossScale
from embedlab.training.learner import Learner
from embedlab.training.loop import TrainingSession, train_block
from embedlab.training.order import epochs_of_steps, group_rows, steps_of_epochs
from embedlab.training.signals import StopRequest
from embedlab.training.stage_data import StageData
from embedlab.training.tracking import accelerator

BATCH = 64
SEED = 1
SHARE_LIMIT = "≥ 0.6"  # in bf16 on a CPU
PROFILED_STEPS = 5  # at least: the loop reports every tenth step
# on a CPU, the last one counts: what a profile keeps cuts up the memory that steps reuse, until
# there is enough of it
PROFILED_TIMES = 4
SPARE_STEPS = 100  # after the epoch, for what is profiled
PRODUCTS = 5  # each time that the loop reports its steps
# at least, before the share of the best product counts: in them memory is taken and programs for
# shapes are built
WARM_STEPS = 10


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A training's size."""

    recipe: str
    config: BertConfig
    pairs: Mapping[str, int]  # of each corpus
    limit: str  # what was promised of the epoch on an H100 or H200

    def scaled(self, total: int | None) -> Mapping[str, int]:
        """Its pairs, or TOTAL instead in the same proportion."""
        whole = sum(self.pairs.values())
        return {name: round(count * (total or whole) / whole) for name, count in self.pairs.items()}


SHAPES = {
    "snli-supcl": Shape(
        recipe="snli-supcl",
        config=BertConfig(
            vocab_size=WORDS,
            hidden_size=512,
            num_hidden_layers=8,
            num_attention_heads=8,
            intermediate_size=2048,
        ),
        pairs={"snli": 549_367},
        limit="< 60 s on an H100",
    ),
    "sbert": Shape(
        recipe="sbert",
        config=BertConfig(vocab_size=WORDS),
        pairs={"snli": 549_367, "multinli": 392_702},
        limit="< 600 s on an H100",
    ),
}


@dataclass(kw_only=True)
class Found:
    """What was seen of a training."""

    seconds: float = 0.0
    steps: int = 0
    warm_s: float = 0.0  # of the seconds, those of the first steps
    warm_steps: int = 0
    pairs: int = 0  # in those steps
    is_whole: bool = False  # an epoch, not a part of it
    gflop: float = 0.0  # the operations on real tokens of the steps after the first ones
    products: list[float] = field(
        default_factory=list
    )  # TFLOP/s of matrix products after some of the steps
    memory_gib: float = 0.0  # of the GPU, at most
    by_phase: Mapping[str, float] = field(default_factory=dict)  # milliseconds a step
    by_kind: Mapping[str, float] = field(default_factory=dict)


class Product:
    """Two square matrices in the precision that training multiplies in: 8192 wide on a GPU, 2048 on
    a CPU.
    """

    def __init__(self, here: Machine) -> None:
        self.here = here
        size = 8192 if here.device.type == "cuda" else 2048
        kind = torch.bfloat16 if here.precision == "bf16" else torch.float32
        self.first, self.second = (
            torch.randn(size, size, device=here.device, dtype=kind) for _ in range(2)
        )

    def tflops(self, times: int) -> float:
        """TFLOP/s of the best of so many products."""
        is_on_cpu = self.here.device.type == "cpu"
        seconds = (
            product_seconds(self.first, self.second, times)
            if is_on_cpu
            else best_of(times, self._multiply)
        )
        return float(2 * len(self.first) ** 3 / seconds / 1e12)

    def _multiply(self) -> Any:
        product = self.first @ self.second
        wait(self.here)
        return product


def made_stage(stage: Stage, pairs: Mapping[str, int]) -> tuple[StageData, int]:
    """A stage over generated pairs, and the steps of its first epoch; the stage goes on for the
    spare ones.
    """
    rows = index_rows(nli_pairs(pairs), objective_needs(stage.objective))
    batch = stage.optim.batch_size
    groups = group_rows(rows.columns["premise"], batch)
    (steps,) = steps_of_epochs(groups, batch, 1.0, seed=SEED, stage=0)
    epochs = epochs_of_steps(groups, batch, steps + SPARE_STEPS, seed=SEED, stage=0)
    passes = sum(epochs) / steps
    data = StageData(
        index=0,
        leader=0,
        stage=stage,
        rows=rows,
        groups=groups,
        states=(),
        seed=SEED,
        epochs=epochs,
        passes=passes,
    )
    return data, steps


def random_encoder(shape: Shape, recipe: Recipe, here: Machine) -> TransformerEncoder:
    """An encoder of this shape with random weights."""
    return TransformerEncoder(
        name=shape.recipe,
        fingerprint="random",
        backbone=BertModel(shape.config, add_pooling_layer=False),
        tokenizer=build_tokenizer(["a"]),
        usage=Usage(
            folders=(),
            pooling=recipe.encoder.pooling,
            max_tokens=recipe.encoder.max_tokens,
            source=Path(),
        ),
        machine=here,
    )


def train(
    shape: Shape,
    here: Machine,
    pairs: Mapping[str, int],
    seconds: float,
    product: Product | None = None,
    batch: int = BATCH,
) -> Found:
    """Train an epoch of these pairs, or as much of it as fits into SECONDS; PRODUCT is measured
    between the steps, which it is not in.
    """
    if here.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(SEED)
    recipe = load_recipe(shape.recipe)
    stage = replace(recipe.stages[0], optim=replace(recipe.stages[0].optim, batch_size=batch))
    data, steps = made_stage(stage, pairs)
    encoder, found = random_encoder(shape, recipe, here), Found()
    objective = build_objective(stage.objective, encoder.dim).to(here.device)
    collation = Collation(
        data=data,
        needs=objective_needs(stage.objective),
        tokens=random_tokens(data.rows.sentences),
        objective=objective,
        pad=0,
        cut=cut_for(encoder),
    )
    (block,) = blocks([data])
    with tempfile.TemporaryDirectory() as folder:
        session = TrainingSession(
            encoder=encoder,
            objectives=[objective],
            accelerator=accelerator(
                here,
                track=None,
                folder=Path(folder),
                project=shape.recipe,
                recipe=recipe,
                seed=SEED,
            ),
            scale=LossScale(here),
            checkpoints=Checkpoints(Path(folder)),
            stop=StopRequest(),
            emit=lambda event: follower.send(event) if isinstance(event, events.Step) else None,
            evaluate=recipe.evaluate,
            dev_score=None,
            steps=block.end,
        )
        follower = progress(session, found, steps, seconds, product)
        next(follower)
        with suppress(Interrupted):
            train_block(session, block, [collation])
    found.pairs, lengths = taken(collation, found.steps, after=found.warm_steps)
    found.is_whole, found.gflop = found.steps >= steps, step_bound(encoder.backbone, lengths).gflop
    session.accelerator.free_memory()
    return found


def taken(collation: Collation, steps: int, after: int) -> tuple[int, list[int]]:
    """The pairs of a training's first STEPS, and the tokens of each distinct sentence of each batch
    AFTER the first so many.
    """
    data = collation.data
    batches = [rows for epoch in range(len(data.epochs)) for rows in data.batches(epoch)][:steps]
    distinct = [
        np.unique([data.rows.columns[column][rows] for column in collation.needs.encoded])
        for rows in batches[after:]
    ]
    return sum(map(len, batches)), collation.tokens.lengths[np.concatenate(distinct)].tolist()


def progress(
    session: TrainingSession, found: Found, steps: int, seconds: float, product: Product | None
) -> Generator[None, events.Step, None]:
    """Time a training until it has taken STEPS or SECONDS, take a few more steps apart, then stop
    it; each event of it is sent here.
    """
    here = session.encoder.machine
    is_on_gpu = here.device.type == "cuda"
    started, event = wait(here), (yield)
    while event.step < steps and time.perf_counter() - started < seconds:
        if not found.warm_steps and event.step >= WARM_STEPS:
            found.warm_s, found.warm_steps = wait(here) - started, event.step
        elif product is not None and found.warm_steps:
            paused = wait(here)
            found.products += [product.tflops(1) for _ in range(PRODUCTS)]
            started += wait(here) - paused
        session.saved_at = time.perf_counter()  # so that no checkpoint falls due
        event = yield
    found.seconds, found.steps = wait(here) - started, event.step
    found.memory_gib = torch.cuda.max_memory_allocated() / 2**30 if is_on_gpu else 0.0
    session.saved_at = time.perf_counter()
    with phases(here) as spent:
        event = yield from event_at(found.steps + PROFILED_STEPS)
    found.by_phase = {
        phase: 1000 * duration / (event.step - found.steps) for phase, duration in spent.items()
    }
    for _ in range(1 if is_on_gpu else PROFILED_TIMES):
        session.saved_at = time.perf_counter()
        with profile(
            activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if is_on_gpu else [])]
        ) as seen:
            event = yield from event_at(event.step + PROFILED_STEPS)
            wait(here)
    found.by_kind = shares_by_kind(seen.key_averages(), is_on_gpu=is_on_gpu)
    session.stop.signal = signal.SIGTERM
    yield


def event_at(step: int) -> Generator[None, events.Step, events.Step]:
    """The first event of this step or a later one."""
    while (event := (yield)).step < step:
        pass
    return event


@contextmanager
def phases(here: Machine) -> Iterator[Mapping[str, float]]:
    """The seconds of each phase of the steps within, with a wait after each: their sum is more than
    steps in a row take.
    """
    spent = dict.fromkeys(("batch", "forward", "backward", "optimizer"), 0.0)
    last = wait(here)

    def end(phase: str) -> None:
        nonlocal last
        now = wait(here)
        spent[phase] += now - last
        last = now

    hooks = [
        register_module_forward_pre_hook(
            lambda module, *_: end("batch") if isinstance(module, Learner) else None
        ),
        register_module_forward_hook(
            lambda module, *_: end("forward") if isinstance(module, Learner) else None
        ),
        register_optimizer_step_pre_hook(lambda *_: end("backward")),
        register_optimizer_step_post_hook(lambda *_: end("optimizer")),
    ]
    try:
        yield spent
    finally:
        for hook in hooks:
            hook.remove()


def wait(here: Machine) -> float:
    """The time when the accelerator has done all it was given."""
    if here.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def table_of(
    title: str, found: Found, pairs: int, best: float, here: Machine
) -> tuple[list[Measured], list[str]]:
    """The table's lines and notes for a shape; BEST is the best matrix product in TFLOP/s."""
    whole = "measured" if found.is_whole else f"extrapolated from {found.pairs:,} pairs"
    share = found.gflop / (found.seconds - found.warm_s) / 1e3 / best
    is_on_gpu = here.device.type == "cuda"
    epoch_limit = SHAPES[title].limit if is_on_gpu else ""
    share_limit = SHARE_LIMIT if not is_on_gpu and here.precision == "bf16" else ""
    epoch_s = found.seconds * pairs / found.pairs
    lines = [
        Measured(
            what=f"{title}: an epoch of {pairs:,} pairs, {whole}",
            ours=epoch_s,
            unit="s",
            limit=epoch_limit,
        ),
        Measured(
            what=f"{title}: share of the best matrix product, real tokens alone",
            ours=share,
            unit="",
            limit=share_limit,
        ),
    ]
    settled_ms = 1000 * (found.seconds - found.warm_s) / (found.steps - found.warm_steps)
    by_phase = ", ".join(f"{phase} {ms:.1f} ms" for phase, ms in found.by_phase.items())
    by_kind = ", ".join(f"{kind} {share:.0%}" for kind, share in found.by_kind.items())
    notes = [
        f"{title}: {1000 * found.seconds / found.steps:.1f} ms a step, {settled_ms:.1f} ms "
        f"after the first {found.warm_steps}, "
        f"which alone count for the share; by phase, each waited for: {by_phase}.",
        f"{title}, own time by kind: {by_kind or 'none was recorded'}.",
    ]
    if found.products:
        usual = statistics.median(found.products)
        notes.append(
            f"{title}: the same product between its steps reaches {usual:.3g} TFLOP/s in the "
            f"median, which is how fast the machine was "
            f"meanwhile; a step reaches {share * best / usual:.2f} of that."
        )
    if found.memory_gib:
        notes.append(f"{title}: {found.memory_gib:.1f} GiB at most.")
    return lines, notes


def main() -> None:
    """Train each shape and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--seconds", type=float, default=150.0, help="of training a shape, at most")
    parser.add_argument("--pairs", type=int, help="of each shape, instead of the paper's")
    parser.add_argument("--batch", type=int, default=BATCH, help="pairs in each")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--precision", default="auto", choices=("auto", "float32", "bf16"))
    arguments = parser.parse_args()
    settings = Settings(
        device=arguments.device, threads=arguments.threads, precision=arguments.precision
    )
    here = machine(settings, training=True)
    product = Product(here)
    best = product.tflops(10 if arguments.device == "cpu" else 50)
    name = (
        torch.cuda.get_device_name(here.device) if here.device.type == "cuda" else arguments.device
    )
    pairs = {title: SHAPES[title].scaled(arguments.pairs) for title in arguments.shapes}
    between = product if arguments.device == "cpu" else None
    found = {}
    for title in arguments.shapes:
        found[title] = train(
            SHAPES[title], here, pairs[title], arguments.seconds, between, arguments.batch
        )
        # modules and what accelerate wraps around them hold each other: the next shape would find
        # them in memory
        gc.collect()
        torch.cuda.empty_cache()
    best = max([best, *(reached for one in found.values() for reached in one.products)])
    measured: list[Measured] = []
    notes = [
        f"{name} in {here.precision}, {here.threads} threads, batches of {arguments.batch}; "
        f"best matrix product in this run {best:.3g} TFLOP/s."
    ]
    for title, one in found.items():
        lines, more = table_of(title, one, sum(pairs[title].values()), best, here)
        measured += lines
        notes += more
    file = f"training-{name.lower().replace(' ', '-')}"
    file += "-bf16" if arguments.device == "cpu" and here.precision == "bf16" else ""
    file += f"-batch-{arguments.batch}" if arguments.batch != BATCH else ""
    write(
        file,
        "Training at the papers' sizes",
        measured,
        packages=("embedlab", "torch", "transformers"),
        notes=notes,
    )


if __name__ == "__main__":
    main()
