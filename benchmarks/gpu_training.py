"""Milliseconds a step of training on a GPU, beside sentence-transformers' trainer and a step that
is captured by hand, in one run; then attention's kernels, memory, and encoding.

    python benchmarks/gpu_training.py [--steps 200] [--minutes 6]
    python benchmarks/gpu_training.py --device cpu --sizes small --steps 40    how it runs at all

Timings come first, and the page is written after each, so that one that is cut short leaves what
was measured. Weights are random and the sentences are the real ones inside embedlab (8,000 pairs of
SNLI), so that nothing is downloaded; speed does not depend on the weights' values. A side is the
median over its windows of ten steps, of the training loop of a run. Batches are 64 rows. The step
by hand is one CUDA graph of forward and backward passes over the same rows, a sum as its loss,
clipping and AdamW: less than a real step does.
"""

import argparse
import csv
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from record import Measured, write
from training import peer_trainer
from transformers import BertConfig, BertModel

from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.models.reading import UsageOptions
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.batching import Collation, PackedRows, chunk_cutter, tokenise_in_parts
from embedlab.training.blocks import open_stages
from embedlab.training.capture import CapturedPasses, common_shapes
from embedlab.training.loop import adamw
from embedlab.training.order import batch_generator
from embedlab.training.stages import train_run

BATCH, WINDOW, SEED = 64, 10, 1
WORDS = 30_522  # of BERT's vocabulary
SIZES = {"base": (768, 12, 12), "8x512": (512, 8, 8), "small": (32, 1, 2)}  # width, layers, heads
SHAPES = {"sbert": "base", "snli-supcl": "8x512", "simcse-nli": "base", "supcl-seq": "base"}
PEERS = ("sbert", "simcse-nli")  # what sentence-transformers has a loss for
PEER_BATCHES = (128, 512, 2_048)  # sentences: the peer encodes at its best
LIMITS = {"sbert": "≥ 4 x"}  # of the eager step; of the others twice
BY_HAND = "≥ 0.87 x (at most 1.15 x the time)"


@dataclass(kw_only=True)
class Timed:
    """What was seen of one side."""

    ms: float = float("nan")  # a step
    gib: float = 0.0
    padding: str = ""


class Page:
    """The measurements so far; each is written at once."""

    def __init__(self, name: str, here: Machine, minutes: float) -> None:
        gpu = torch.cuda.get_device_name() if here.device.type == "cuda" else "a processor"
        self.name, self.until = name, time.monotonic() + 60 * minutes
        self.lines: list[Measured] = []
        self.notes = [f"{gpu}, {here.precision}, batches of {BATCH} rows; random weights."]

    @property
    def has_time(self) -> bool:
        """Whether there is time for another side."""
        return time.monotonic() < self.until

    def add(self, *lines: Measured, note: str = "") -> None:
        """Add lines and write the page."""
        self.lines += lines
        self.notes += [note] if note else []
        packages = ("embedlab", "torch", "transformers", "sentence-transformers")
        write(self.name, "Training on a GPU", self.lines, packages=packages, notes=self.notes)


def starter() -> Source:
    """The corpora inside embedlab."""
    return Source(folder=STARTER_FOLDER)


def made_corpora(folder: Path) -> Source:
    """The starter's SNLI, and its sentences in the layouts of SimCSE's triplets and of CoLA."""
    frame = starter().open("snli", "train").frame
    (folder / "SNLI").mkdir()
    name = "snli_1.0_train.jsonl"
    (folder / "SNLI" / name).symlink_to(STARTER_FOLDER / "SNLI" / name)
    by_premise: dict[str, dict[str, str]] = {}
    for row in frame.iter_rows(named=True):
        by_premise.setdefault(row["premise"], {})[row["label"]] = row["hypothesis"]
    with (folder / "nli_for_simcse.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sent0", "sent1", "hard_neg"])
        for premise, found in by_premise.items():
            if {"entailment", "contradiction"} <= found.keys():
                rows.writerow([premise, found["entailment"], found["contradiction"]])
    (folder / "GLUE" / "CoLA").mkdir(parents=True)
    (folder / "GLUE" / "CoLA" / "train.tsv").write_text(
        "".join(
            f"made\t{number % 2}\t\t{text}\n"
            for number, text in enumerate(frame["hypothesis"].unique(maintain_order=True))
        )
    )
    return Source(folder=folder, allow_partial=True)


def random_encoder(folder: Path, size: str) -> str:
    """An encoder of BERT's layout with random weights, whose tokens are the starter's words."""
    frame = starter().open("snli", "train").frame
    texts = [*frame["premise"], *frame["hypothesis"]]
    words = sorted({word for text in texts for word in text.lower().split()})
    tokenizer = build_tokenizer([*words, *(f"word{number}" for number in range(WORDS))][:25_000])
    width, layers, heads = SIZES[size]
    torch.manual_seed(SEED)
    model = BertModel(
        BertConfig(
            vocab_size=WORDS if size != "small" else len(tokenizer),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
        ),
        add_pooling_layer=False,
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def recipe_of(name: str, encoder: str, steps: int, batch: int = BATCH) -> Recipe:
    """The recipe's first stage in batches of 64, so many steps without evaluation."""
    values = [
        "stage.0.optim.epochs=1000",
        f"stage.0.optim.batch_size={batch}",
        "evaluate.dev=none",
        "evaluate.keep=last",
        f"evaluate.log_every={WINDOW}",
        f"max_steps={steps}",
    ]
    if name == "sbert":
        values.append('stage.0.data.datasets=["snli"]')
    recipe = load_recipe(name, values, encoder=encoder)
    return replace(recipe, stages=recipe.stages[:1])


@contextmanager
def measured_memory(found: Timed) -> Iterator[None]:
    """Note the GPU's memory of what runs within, and free it afterwards."""
    has_gpu = torch.cuda.is_available()
    if has_gpu:
        torch.cuda.reset_peak_memory_stats()
    try:
        yield
    finally:
        if has_gpu:
            found.gib = torch.cuda.max_memory_allocated() / 2**30
        gc.collect()
        torch.cuda.empty_cache()


def median_ms(times: Sequence[float]) -> float:
    """The milliseconds of a step, by the times of every tenth; the first window is for plans and
    captures.
    """
    windows = [after - before for before, after in pairwise(times[1:])]
    return 1000 * statistics.median(windows) / WINDOW if windows else float("nan")


def train_ours(recipe: Recipe, source: Source, here: Machine) -> Timed:
    """Time a run of ours."""
    found, times = Timed(), []

    def report(event: events.Event) -> None:
        if isinstance(event, events.Step) and event.step % WINDOW == 0:
            times.append(time.perf_counter())  # the loss was read: the card has done the step
        if isinstance(event, events.Noted) and "captured" in event.text:
            found.padding = event.text

    with tempfile.TemporaryDirectory() as folder, measured_memory(found):
        run = RunFolder.of(Path(folder), recipe.name, SEED)
        train_run(recipe, source, here, run, SEED, report=report)
    found.ms = median_ms(times)
    return found


def train_peer(recipe: Recipe, source: Source, here: Machine) -> Timed:
    """Time sentence-transformers' trainer on the same batches."""
    from transformers import TrainerCallback

    found, times = Timed(), []

    class Clock(TrainerCallback):
        def on_step_end(self, _arguments: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step % WINDOW == 0:
                wait(here)
                times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder, measured_memory(found):
        trainer = peer_trainer(
            recipe,
            source,
            SEED,
            Path(folder),
            precision=here.precision,
            use_cpu=here.device.type == "cpu",
            max_steps=recipe.max_steps,
        )
        trainer.add_callback(Clock())
        trainer.train()
        del trainer
    found.ms = median_ms(times)
    return found


def step_by_hand(recipe: Recipe, source: Source, here: Machine, steps: int) -> Timed:
    """Time a step over the rows of one of our batches, the whole of it in one graph."""
    found = Timed()
    with measured_memory(found):
        section = recipe.encoder
        wishes = UsageOptions(pooling=section.pooling, max_tokens=section.max_tokens)
        encoder = load_transformer(section.model, here, wishes=wishes)
        encoder.backbone.train()
        rows, views = packed_batch(recipe, source, encoder)
        rows = PackedRows(*(values.to(here.device) for values in rows))
        passes = CapturedPasses(encoder, capture=lambda compute, *_: compute)
        parameters = dict(encoder.backbone.named_parameters())
        optimizer = adamw(parameters)
        for group in optimizer.param_groups:
            group["capturable"] = here.device.type == "cuda"

        def step() -> None:
            optimizer.zero_grad()
            with here.autocast(keeps_casts=False):
                vectors = torch.cat([passes.encode(rows, None, view) for view in range(views)])
            vectors.square().mean().backward()
            torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0, foreach=True)
            optimizer.step()

        again = captured(step) if here.device.type == "cuda" else step
        times = []
        for number in range(steps):
            again()
            if number % WINDOW == 0:
                wait(here)
                times.append(time.perf_counter())
        found.ms = median_ms(times)
    return found


def packed_batch(recipe: Recipe, source: Source, encoder: Any) -> tuple[PackedRows, int]:
    """The rows of the first batch that has a common shape, and its views."""
    collation = padded_batches(recipe, source, encoder)
    collation = replace(collation, pack=common_shapes(collation, encoder).pack)
    for number, rows in enumerate(collation.data.batches(0)):
        batch = collation.collate(rows, batch_generator(SEED, 0, 0, number))
        chunk = batch.chunks[0]
        if isinstance(chunk, PackedRows):
            return chunk, len(collation.objective.views)
    raise SystemExit("no batch has a common shape")


def padded_batches(recipe: Recipe, source: Source, encoder: Any) -> Collation:
    """What makes the batches of a recipe's first stage."""
    data = open_stages(recipe, source, SEED)[0]
    return Collation(
        data=data,
        needs=objective_needs(recipe.stages[0].objective),
        tokens=tokenise_in_parts(encoder, data.rows.texts),
        objective=build_objective(recipe.stages[0].objective, encoder.dim),
        pad=0,
        cut=chunk_cutter(encoder),
    )


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """One graph of a whole step, after five that warm up."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def wait(here: Machine) -> None:
    """Wait until the card has done all it was given."""
    if here.device.type == "cuda":
        torch.cuda.synchronize()


def time_training(page: Page, place: Path, here: Machine, typed: argparse.Namespace) -> None:
    """Add the steps of each recipe."""
    source = made_corpora(place)
    for name in typed.recipes:
        size = typed.sizes or SHAPES[name]
        folder = place / size
        encoder = str(folder) if folder.exists() else random_encoder(folder, size)
        recipe = recipe_of(name, encoder, typed.steps)
        what = f"{name}, BERT {size}"
        eager = train_ours(recipe, source, here)
        peers = {"eager": (eager.ms, LIMITS.get(name, "≥ 2 x"))}
        ours, padding = eager, ""
        if here.device.type == "cuda":
            ours = train_ours(recipe, source, replace(here, is_capturing=True))
            padding = f"{ours.padding}; "
        peers["a step captured by hand"] = (
            step_by_hand(recipe, source, here, typed.steps).ms,
            BY_HAND,
        )
        if name in PEERS and page.has_time:
            peers["sentence-transformers' trainer"] = (train_peer(recipe, source, here).ms, "")
        page.add(
            *(
                Measured(
                    what=f"{what}: a step, beside {peer}",
                    ours=ours.ms,
                    peer=ms,
                    unit="ms",
                    limit=limit,
                )
                for peer, (ms, limit) in peers.items()
            ),
            note=f"{what}: {padding}{ours.gib:.1f} GiB at most, eager {eager.gib:.1f}.",
        )
        if not page.has_time:
            return


def time_kernels(page: Page, place: Path, typed: argparse.Namespace) -> None:
    """Add captured sbert by each kernel of attention, and what gradient checkpointing saves."""
    source = Source(folder=place, allow_partial=True)
    recipe = recipe_of("sbert", str(place / (typed.sizes or "base")), typed.steps)
    for attention in ("auto", "efficient", "cudnn", "math"):
        settings = Settings(device="cuda", attention=attention, capture=True)
        found = train_ours(recipe, source, machine(settings, training=True))
        page.add(
            Measured(
                what=f"sbert captured, attention by {attention}: a step", ours=found.ms, unit="ms"
            )
        )
    settings = Settings(device="cuda", gradient_checkpointing=True)
    found = train_ours(recipe, source, machine(settings, training=True))
    page.add(
        Measured(what="sbert with gradient checkpointing: a step", ours=found.ms, unit="ms"),
        Measured(what="its memory at most", ours=found.gib, unit="GiB"),
    )


def time_encoding(page: Page, place: Path, here: Machine, typed: argparse.Namespace) -> None:
    """Add the encoding of all sentences of the starter, in half precision on a GPU."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    frame = starter().open("snli", "train").frame
    sentences = list(dict.fromkeys([*frame["premise"], *frame["hypothesis"]]))[: typed.sentences]
    folder = str(place / (typed.sizes or "base"))
    encoder = load_transformer(folder, here, wishes=UsageOptions(pooling="mean", max_tokens=128))
    transformer = modules.Transformer(folder, max_seq_length=128)
    pooling = modules.Pooling(transformer.get_embedding_dimension(), "mean")
    peer = SentenceTransformer(
        modules=[transformer, pooling], device=str(here.device), trust_remote_code=False
    )
    if here.precision == "bf16":
        peer.bfloat16()

    def best(work: Callable[[], object]) -> float:
        """The best of two, after one that warms up."""
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - began)
        return min(seconds[1:])

    ours = best(lambda: encoder.encode(sentences))
    theirs = {
        size: best(
            lambda size=size: peer.encode(sentences, batch_size=size, show_progress_bar=False)
        )
        for size in PEER_BATCHES
    }
    size = min(theirs, key=lambda size: theirs[size])
    page.add(
        Measured(
            what=f"encoding {len(sentences):,} sentences in {here.precision}, the peer {size} at once",
            ours=ours,
            peer=theirs[size],
            unit="s",
        )
    )


def main() -> None:
    """Measure in the order of weight, until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--recipes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--sizes", choices=SIZES, help="of every encoder, in place of its own")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=100_000, help="at most")
    parser.add_argument("--minutes", type=float, default=6.0)
    typed = parser.parse_args()
    here = machine(Settings(device=typed.device), training=True)
    page = Page(f"gpu-training{'' if typed.device == 'cuda' else '-cpu'}", here, typed.minutes)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        time_training(page, place, here, typed)
        if page.has_time:
            time_encoding(page, place, replace(here, is_capturing=False), typed)
        if page.has_time and here.device.type == "cuda":
            time_kernels(page, place, typed)
    print(json.dumps({line.what: [line.ours, line.peer] for line in page.lines}))


if __name__ == "__main__":
    main()
