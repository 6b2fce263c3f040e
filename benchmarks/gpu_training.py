"""Training at the papers' sizes on whatever GPU there is, with random weights and sentences of SNLI's lengths.

    python benchmarks/gpu_training.py [--seconds 180]                            snli-supcl (BERT 8x512) and sbert (BERT-base) on a GPU
    python benchmarks/gpu_training.py --capture                                  the same with passes as CUDA graphs
    python benchmarks/gpu_training.py --device cpu --shapes sbert --seconds 100  the share of the best matrix product on a CPU

Each shape trains one epoch of its pairs in batches of 64, or as much of it as fits into --seconds; what was not trained is
extrapolated and said so. Then a few steps are profiled by phase and by kind of operation. Speed does not depend on the weights'
values, so that nothing has to be downloaded.
"""

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import torch
from kinds import shares_by_kind
from measure import best_of
from operations import step_floor
from record import Measured, write
from torch.profiler import ProfilerActivity, profile
from transformers import BertConfig, BertModel

from embedlab.encoders.device import Machine, machine
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.objectives.rows import index_rows
from embedlab.recipe import load_recipe
from embedlab.settings import Settings
from embedlab.training.batching import Batch, Collation, cut_for
from embedlab.training.capture import CapturedPasses
from embedlab.training.learner import Learner
from embedlab.training.loop import adamw
from embedlab.training.order import group_rows, steps_of_epochs
from embedlab.training.stage_data import StageData

BATCH = 64
WORDS = 30_522
PROFILED_STEPS = 5


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A training's size."""

    recipe: str
    config: BertConfig
    pairs: int
    limit: str  # what was promised of an H100 or H200


SHAPES = {
    "snli-supcl": Shape(
        recipe="snli-supcl",
        config=BertConfig(vocab_size=WORDS, hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048),
        pairs=549_367,
        limit="< 60 s on an H100",
    ),
    "sbert": Shape(recipe="sbert", config=BertConfig(vocab_size=WORDS), pairs=942_069, limit="< 600 s on an H100"),
}


def nli_pairs(count: int) -> pl.DataFrame:
    """So many pairs, three hypotheses a premise, as names for sentences that are only lengths."""
    place = np.arange(count)
    labels = np.array(["entailment", "neutral", "contradiction"])[place % 3]
    return pl.DataFrame(
        {"premise": [f"p{number}" for number in place // 3], "hypothesis": [f"h{number}" for number in place], "label": labels}
    )


def random_tokens(sentences: pl.Series) -> TokenRows:
    """Random tokens: premises of about 16, hypotheses of about 10, as SNLI's are, a few much longer."""
    rng = np.random.default_rng(0)
    typical = np.where(sentences.str.starts_with("p").to_numpy(), 15.0, 9.5)
    lengths = np.clip(rng.lognormal(np.log(typical), 0.35), 4, 128).astype(np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    flat = rng.integers(1_000, WORDS, size=int(offsets[-1]), dtype=np.int32)
    return TokenRows(flat=flat, offsets=offsets, truncated=np.zeros(len(lengths), np.bool_))


def prepare(shape: Shape, here: Machine, pairs: int) -> tuple[Learner, Collation]:
    """A learner with random weights, and what makes its batches."""
    recipe = load_recipe(shape.recipe)
    stage = replace(recipe.stages[0], optim=replace(recipe.stages[0].optim, batch_size=BATCH))
    needs = objective_needs(stage.objective)
    rows = index_rows(nli_pairs(pairs), needs)
    groups = group_rows(rows.columns["premise"], BATCH)
    epochs = steps_of_epochs(groups, BATCH, 1.0, seed=1, stage=0)
    data = StageData(index=0, leader=0, stage=stage, rows=rows, groups=groups, states=(), seed=1, epochs=epochs, passes=1.0)
    torch.manual_seed(0)
    encoder = TransformerEncoder(
        name=shape.recipe,
        fingerprint="random",
        backbone=BertModel(shape.config, add_pooling_layer=False),
        tokenizer=build_tokenizer(["a"]),
        pooling=recipe.encoder.pooling,
        max_tokens=128,
        machine=here,
    )
    objective = build_objective(stage.objective, encoder.dim).to(here.device)
    collation = Collation(data=data, needs=needs, tokens=random_tokens(rows.sentences), objective=objective, pad=0, cut=cut_for(encoder))
    return Learner(encoder, {0: objective}, captured=CapturedPasses(encoder) if here.is_capturing else None).train(), collation


def step(learner: Learner, optimizer: torch.optim.Optimizer, batch: Batch, here: Machine) -> None:
    """What the training loop does with a batch."""
    with here.autocast():
        loss = learner(batch.to(here.device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def wait(here: Machine) -> float:
    """The time when the accelerator has done all it was given."""
    if here.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def train(
    learner: Learner, optimizer: torch.optim.Optimizer, batches: Iterator[Batch], here: Machine, seconds: float
) -> tuple[float, int, int, float]:
    """Seconds, pairs and steps of an epoch or of the part of it that fits, and the operations on its real tokens (GFLOP)."""
    for _ in range(3):
        step(learner, optimizer, next(batches), here)
    started, pairs, steps = wait(here), 0, 0
    lengths: list[torch.Tensor] = []
    for batch in batches:
        step(learner, optimizer, batch, here)
        pairs, steps = pairs + batch.rows, steps + 1
        lengths += [mask.sum(dim=1) for _, mask in batch.chunks]
        if (steps % 50 == 0 or here.device.type == "cpu") and wait(here) - started > seconds:
            break
    spent = wait(here) - started
    return spent, pairs, steps, step_floor(learner.encoder, torch.cat(lengths).tolist()).gflop


def phases(learner: Learner, optimizer: torch.optim.Optimizer, batches: Iterator[Batch], here: Machine) -> dict[str, float]:
    """Milliseconds a step of each phase, with a wait after each: their sum is more than a step in a row takes."""
    spent = dict.fromkeys(("batch", "forward", "backward", "optimizer"), 0.0)
    for _ in range(PROFILED_STEPS):
        begin = wait(here)
        batch = next(batches).to(here.device)
        made = wait(here)
        with here.autocast():
            loss = learner(batch)
        ahead = wait(here)
        loss.backward()
        back = wait(here)
        optimizer.step()
        optimizer.zero_grad()
        for phase, duration in zip(spent, (made - begin, ahead - made, back - ahead, wait(here) - back), strict=True):
            spent[phase] += 1000 * duration / PROFILED_STEPS
    return spent


def kinds(learner: Learner, optimizer: torch.optim.Optimizer, batches: Iterator[Batch], here: Machine) -> Mapping[str, float]:
    """The share of each kind of operation in the processor's own time."""
    on_gpu = here.device.type == "cuda"
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]) as seen:
        for _ in range(PROFILED_STEPS):
            step(learner, optimizer, next(batches), here)
        wait(here)
    return shares_by_kind(seen.key_averages(), is_on_gpu=on_gpu)


def best_product(here: Machine) -> float:
    """TFLOP/s of the best product of two matrices in the precision that training multiplies in: 8192 wide on a GPU, 2048 on a CPU."""
    size, kind = (8192 if here.device.type == "cuda" else 2048), torch.bfloat16 if here.precision == "bf16" else torch.float32
    first, second = (torch.randn(size, size, device=here.device, dtype=kind) for _ in range(2))

    def multiply() -> Any:
        product = first @ second
        wait(here)
        return product

    return 2 * size**3 / best_of(50 if here.device.type == "cuda" else 10, multiply) / 1e12


def main() -> None:
    """Train each shape and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu", "mps"))
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--seconds", type=float, default=180.0, help="of training a shape, at most")
    parser.add_argument("--pairs", type=int, help="of each shape, instead of the paper's")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--capture", action="store_true", help="run passes as CUDA graphs")
    arguments = parser.parse_args()
    here = machine(Settings(device=arguments.device, threads=arguments.threads, capture=arguments.capture), training=True)
    best = best_product(here)
    name = torch.cuda.get_device_name(here.device) if here.device.type == "cuda" else arguments.device
    measured, notes = [], [f"{name} in {here.precision}, {here.threads} threads; best matrix product in this run {best:.3g} TFLOP/s."]
    for title in arguments.shapes:
        shape = SHAPES[title]
        pairs = arguments.pairs or shape.pairs
        learner, collation = prepare(shape, here, pairs)
        optimizer = adamw({name: weight for name, weight in learner.named_parameters() if weight.requires_grad})
        batches = collation.batches(0)
        spent, done, steps, gflop = train(learner, optimizer, batches, here, arguments.seconds)
        batches = collation.batches(0)
        by_phase, by_kind = phases(learner, optimizer, batches, here), kinds(learner, optimizer, batches, here)
        whole = "measured" if done > 0.98 * pairs else f"extrapolated from {done:,} pairs"
        measured.append(
            Measured(what=f"{title}: an epoch of {pairs:,} pairs, {whole}", ours=spent * pairs / done, unit="s", limit=shape.limit)
        )
        measured.append(
            Measured(what=f"{title}: share of the best matrix product, real tokens alone", ours=gflop / spent / 1e3 / best, unit="")
        )
        notes.append(
            f"{title}: {1000 * spent / steps:.1f} ms a step; " + ", ".join(f"{phase} {ms:.1f} ms" for phase, ms in by_phase.items()) + "."
        )
        notes.append(f"{title}, own time by kind: " + ", ".join(f"{kind} {share:.0%}" for kind, share in by_kind.items()) + ".")
        if here.device.type == "cuda":
            notes.append(f"{title}: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB at most.")
    file = f"training-{arguments.device}" if arguments.device != "cuda" else f"training-{name.lower().replace(' ', '-')}"
    file += "-captured" if here.is_capturing else ""
    write(file, "Training at the papers' sizes", measured, packages=("embedlab", "torch", "transformers"), notes=notes)


if __name__ == "__main__":
    main()
