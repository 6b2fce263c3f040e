"""How fast recipes train, beside sentence-transformers' trainer on the same batches and encoder,
and to what scores.

    python benchmarks/training.py sbert --data DIR --encoder FOLDER [--pairs 4096] [--seeds 3]
    [--threads 2]
    python benchmarks/training.py sbert --precision bf16 [--peer-precision bf16] …    where the
    processor has bf16 units
    python benchmarks/training.py simcse-nli --data DIR --encoder FOLDER --pairs 2048
    python benchmarks/training.py snli-supcl --data DIR --encoder FOLDER       what the contrastive
    part costs beside snli-ce alone

Every training is a process of its own; the sides take turns. Timed is what a user waits for once
model and data are open, until the last step: tokenising included, checkpoints and evaluation left
out. The peer keeps its defaults but for what the recipe says: batch size, rate, schedule, warm-up,
clipping, tokens, pooling. Rows come to it in the same batches, and its classifier starts from the
same weights. The score is STS Benchmark dev (Spearman x 100), of each side by its own encode.

Dropout falls differently on the sides, and in so few steps that alone moves a score by points. So a
peer is met a second time by both sides' trainings without dropout: these compute the same, and
their scores show whether anything else differs.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import measure
from record import Measured, write

if TYPE_CHECKING:
    from embedlab.core.recipe import Recipe

BATCH = 64
# What is trained on each side: a recipe of ours, or sentence-transformers with the loss that is the
# recipe's counterpart.
CLAIMS = {
    "sbert": ("sbert", "peer:sbert", "sentence-transformers' trainer with SoftmaxLoss"),
    "simcse-nli": (
        "simcse-nli",
        "peer:simcse-nli",
        "sentence-transformers' trainer with MultipleNegativesRankingLoss",
    ),
    "snli-supcl": ("snli-supcl", "snli-ce", "embedlab's own snli-ce, without the contrastive part"),
}
# How many times the peer's time: of sbert by the precision of both sides.
LIMITS = {"simcse-nli": "≥ 2 x", "snli-supcl": "≥ 0.87 x (at most 1.15 x the time)"}
LIMITS_OF_SBERT = {
    ("float32", "float32"): "≥ 1.5 x",
    ("bf16", "float32"): "≥ 3 x",
    ("bf16", "bf16"): "≥ 2 x",
}


def recipe_of(name: str, encoder: str, pairs: int) -> "Recipe":
    """The recipe with the benchmark's batch size, one epoch of so many pairs."""
    from embedlab.core.recipe import load_recipe

    values = [
        f"data.rows={pairs}",
        f"optim.batch_size={BATCH}",
        "optim.epochs=1",
        "evaluate.dev=none",
        "evaluate.keep=last",
    ]
    if name == "sbert":
        values.append('data.datasets=["snli"]')
    return load_recipe(name, values, encoder=encoder)


def train_ours(
    name: str, data: Path, encoder: str, pairs: int, seed: int, threads: int, precision: str
) -> dict[str, Any]:
    """One run of ours: pairs a second, score and memory."""
    from embedlab.core.settings import Settings
    from embedlab.data.source import Source
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import machine
    from embedlab.runs import events
    from embedlab.runs.store import RunFolder
    from embedlab.training.stages import train_run

    here = machine(Settings(device="cpu", precision=precision, threads=threads), training=True)  # type: ignore[arg-type]
    times: dict[str, float] = {}

    def report(event: events.Event) -> None:
        if isinstance(event, events.Started | events.Step):
            times[type(event).__name__] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder.of(Path(folder), name, seed)
        train_run(
            recipe_of(name, encoder, pairs),
            Source(folder=data, allow_partial=True),
            here,
            run,
            seed,
            report=report,
        )
        memory = measure.peak_mib()
        score = sts_score(data, load_transformer(str(run.model), here).encode)
    return {"seconds": times["Step"] - times["Started"], "score": score, "memory_mib": memory}


def train_peer(
    name: str, data: Path, encoder: str, pairs: int, seed: int, threads: int, precision: str
) -> dict[str, Any]:
    """The same training by sentence-transformers' trainer."""
    import torch

    from embedlab.data.source import Source

    torch.set_num_threads(threads)
    recipe, source = recipe_of(name, encoder, pairs), Source(folder=data, allow_partial=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = peer_trainer(recipe, source, seed, Path(folder), precision=precision)
        started = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - started
    memory = measure.peak_mib()
    score = sts_score(
        data,
        lambda sentences: trainer.model.encode(list(sentences), show_progress_bar=False),
    )
    return {"seconds": seconds, "score": score, "memory_mib": memory}


def peer_trainer(
    recipe: "Recipe",
    source: Any,
    seed: int,
    folder: Path,
    *,
    precision: str,
    use_cpu: bool = True,
    max_steps: int | None = None,
) -> Any:
    """sentence-transformers' trainer of the RECIPE's counterpart on the same batches."""
    import torch
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer import losses, modules

    from embedlab.objectives.objective import build_objectives
    from embedlab.training.blocks import open_stages

    stage = open_stages(recipe, source, seed)[0]
    optim, frame, batches = (
        recipe.stages[0].optim,
        stage.rows.frame,
        [rows.tolist() for rows in stage.batches(0)],
    )
    transformer = modules.Transformer(
        recipe.encoder.model, max_seq_length=recipe.encoder.max_tokens
    )
    model = SentenceTransformer(
        modules=[
            transformer,
            modules.Pooling(transformer.get_embedding_dimension(), recipe.encoder.pooling),
        ],
        trust_remote_code=False,
        device="cpu" if use_cpu else None,
    )
    if "label" in frame.columns:
        labels = {
            label: number for number, label in enumerate(("entailment", "neutral", "contradiction"))
        }
        columns = {
            "premise": frame["premise"].to_list(),
            "hypothesis": frame["hypothesis"].to_list(),
        }
        rows = Dataset.from_dict(
            {**columns, "label": [labels[label] for label in frame["label"].cast(str)]}
        )
        loss: Any = losses.SoftmaxLoss(model, transformer.get_embedding_dimension(), len(labels))
        torch.manual_seed(seed)
        (objective,) = build_objectives(recipe, transformer.get_embedding_dimension())
        loss.classifier.load_state_dict(objective.head.state_dict())
    else:
        rows = Dataset.from_dict(
            {column: frame[column].to_list() for column in ("anchor", "positive", "negative")}
        )
        loss = losses.MultipleNegativesRankingLoss(model)
    settings = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        num_train_epochs=1,
        max_steps=max_steps or -1,
        per_device_train_batch_size=BATCH,
        learning_rate=optim.lr,
        lr_scheduler_type="constant_with_warmup" if optim.schedule == "constant" else "linear",
        warmup_steps=ceil(optim.warmup * len(batches)),
        max_grad_norm=optim.clip or 0.0,
        batch_sampler=lambda rows, **_: batches,
        use_cpu=use_cpu,
        bf16=precision == "bf16",
        seed=seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    return SentenceTransformerTrainer(model=model, args=settings, train_dataset=rows, loss=loss)


def sts_score(data: Path, encode: Any) -> float:
    """Spearman x 100 of the cosines on STS Benchmark dev."""
    from embedlab.analysis.correlations import spearman
    from embedlab.data.source import Source
    from embedlab.encoders.encoder import cosines

    frame = Source(folder=data, allow_partial=True).open("sts-benchmark", "dev").frame
    first, second = (encode(frame[column].to_list()) for column in ("sentence1", "sentence2"))
    return 100 * float(spearman(cosines(first, second), frame["gold"].to_numpy()))


def lower_bound(
    name: str, data: Path, encoder: str, pairs: int, ceilings: measure.Ceilings
) -> float:
    """The seconds in which the machine's ceilings allow the training, each distinct sentence of a
    batch computed once.
    """
    import torch
    from operations import step_bound

    from embedlab.data.source import Source
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import Machine
    from embedlab.models.reading import UsageOptions
    from embedlab.objectives.needs import objective_needs
    from embedlab.training.blocks import open_stages

    recipe = recipe_of(name, encoder, pairs)
    here = Machine(device=torch.device("cpu"), precision="float32", threads=ceilings.threads)
    model = load_transformer(
        encoder,
        here,
        wishes=UsageOptions(pooling=recipe.encoder.pooling, max_tokens=recipe.encoder.max_tokens),
    )
    stage = open_stages(recipe, Source(folder=data, allow_partial=True), 1)[0]
    lengths, columns = (
        model.token_ids(stage.rows.texts).lengths,
        objective_needs(stage.stage.objective).encoded,
    )
    seconds = 0.0
    for rows in stage.batches(0):
        distinct = {int(place) for column in columns for place in stage.rows.columns[column][rows]}
        bound = step_bound(
            model.backbone,
            [int(lengths[place]) for place in distinct],
            is_first_only=model.pooling == "cls",
        )
        seconds += bound.seconds(ceilings.gflops, ceilings.copy_gb_s)
    return seconds


def without_dropout(encoder: str, folder: Path) -> str:
    """A copy of the encoder's FOLDER whose configuration has no dropout."""
    shutil.copytree(encoder, folder)
    config = folder / "config.json"
    rates = dict.fromkeys(
        ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout"), 0.0
    )
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | rates), encoding="utf-8"
    )
    return str(folder)


def in_turns(
    sides: Sequence[str], encoder: str, arguments: argparse.Namespace
) -> list[list[dict[str, Any]]]:
    """What each of the SIDES found, seed after seed."""
    found: list[list[dict[str, Any]]] = [[] for _ in sides]
    for seed in range(1, arguments.seeds + 1):
        for what, runs in zip(sides, found, strict=True):
            precision = (
                arguments.peer_precision if what.startswith("peer:") else arguments.precision
            )
            words = (
                what,
                str(arguments.data),
                encoder,
                str(arguments.pairs),
                str(seed),
                str(arguments.threads),
                precision,
            )
            runs.append(measure.one(__file__, "side", *words))
    return found


def compared(sides: Sequence[Sequence[dict[str, Any]]]) -> str:
    """The scores of both sides, and their difference over seeds."""
    first, second = ([run["score"] for run in runs] for runs in sides)
    listed = (", ".join(f"{score:.2f}" for score in scores) for scores in (first, second))
    return (
        f"{' and '.join(listed)}, difference "
        f"{measure.interval([one - other for one, other in zip(first, second, strict=True)])}"
    )


def main() -> None:
    """Let the sides take turns and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("claim", choices=CLAIMS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--pairs", type=int, default=4096)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=("float32", "bf16"), default="float32")
    parser.add_argument(
        "--peer-precision",
        choices=("float32", "bf16"),
        default="float32",
        help="float32 is the peer's default",
    )
    arguments = parser.parse_args()
    precisions = (
        arguments.precision,
        arguments.peer_precision if arguments.claim != "snli-supcl" else arguments.precision,
    )
    for one in precisions:
        measure.check_precision(one)
    *sides, title = CLAIMS[arguments.claim]
    limit = (
        LIMITS_OF_SBERT.get(precisions, "")
        if arguments.claim == "sbert"
        else LIMITS[arguments.claim]
    )
    ceilings = measure.ceilings(arguments.threads, arguments.precision)
    found = in_turns(sides, arguments.encoder, arguments)
    bound_s = lower_bound(
        arguments.claim, arguments.data, arguments.encoder, arguments.pairs, ceilings
    )
    notes = [
        f"The peer: {title}.",
        f"{arguments.pairs} pairs, one epoch in batches of {BATCH}, {precisions[0]} beside "
        f"{precisions[1]}, {arguments.threads} threads.",
        f"STS-B dev, Spearman x 100: {compared(found)}.",
        f"The lower bound counts operations on real tokens at {ceilings.gflops:.0f} GFLOP/s, "
        f"the best {precisions[0]} product of "
        f"2048 x 2048 matrices, and the optimizer's bytes at {ceilings.copy_gb_s:.1f} GB/s, "
        f"the best copy, both measured in this run.",
    ]
    is_beside_peer = any(side.startswith("peer:") for side in sides)
    if is_beside_peer:
        with tempfile.TemporaryDirectory() as folder:
            still = in_turns(
                sides, without_dropout(arguments.encoder, Path(folder, "encoder")), arguments
            )
        notes.insert(
            3,
            f"The same trainings without dropout, so that both sides compute the same: "
            f"{compared(still)}.",
        )
    seconds, memory = (
        tuple(_median(runs, key) for runs in found) for key in ("seconds", "memory_mib")
    )
    measured = [
        Measured(
            what="training",
            ours=seconds[0],
            peer=seconds[1],
            unit="s",
            limit=limit,
            runs=arguments.seeds,
        ),
        Measured(what="its lower bound", ours=bound_s, unit="s"),
        Measured(
            what="peak memory",
            ours=memory[0],
            peer=memory[1],
            unit="MiB",
            limit="≥ 1 x" if is_beside_peer else "",
            runs=arguments.seeds,
        ),
    ]
    packages = ("embedlab", "torch", "transformers", "sentence-transformers")
    name = f"training-{arguments.claim}" + (
        "" if precisions == ("float32", "float32") else f"-{precisions[0]}-beside-{precisions[1]}"
    )
    write(name, f"Training {arguments.claim}", measured, packages=packages, notes=notes)


def _median(runs: Sequence[dict[str, Any]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


if __name__ == "__main__":
    if sys.argv[1] == "side":
        what, data, encoder, pairs, seed, threads, precision = sys.argv[2:]
        side = train_peer if what.startswith("peer:") else train_ours
        print(
            json.dumps(
                side(
                    what.removeprefix("peer:"),
                    Path(data),
                    encoder,
                    int(pairs),
                    int(seed),
                    int(threads),
                    precision,
                )
            )
        )
    else:
        main()
