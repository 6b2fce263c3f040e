"""A small recipe on `--data tiny`, and what is compared of two runs."""

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from embedlab.core.errors import Interrupted
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import MixSection, Recipe, from_table, load_recipe
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import UsageOptions
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import TrainedEncoder, build_objective
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.batching import Collation, chunk_cutter, tokenise_in_parts
from embedlab.training.checkpointing import Checkpoints, Snapshot
from embedlab.training.meter import Meter
from embedlab.training.parallel import Team
from embedlab.training.stage_data import open_stage
from embedlab.training.stages import train_run

Train = Callable[..., RunFolder]
E = TypeVar("E", bound=events.Event)

MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
SAMPLE = Source(folder=TINY_FOLDER)
ARCHITECTURES = ["bert", "roberta", "distilbert", "electra"]


class KilledError(BaseException):
    """Ends a training at once and without a checkpoint, as a kill does."""


def stage(
    name: str = "supervised_contrastive",
    rows: int = 160,
    optim: dict[str, Any] | None = None,
    dataset: str = "snli",
    **options: object,
) -> dict[str, Any]:
    return {
        "data": {"datasets": [dataset], "rows": rows},
        "objective": {"name": name, **options},
        "optim": {"lr": 1e-3, "batch_size": 16, "weight_decay": 0.01, "clip": 1.0, **(optim or {})},
    }


def recipe_of(encoder: Path, *stages: dict[str, Any], **evaluate: object) -> Recipe:
    values = {
        "summary": "a test",
        "encoder": {"model": str(encoder), "pooling": "mean-without-cls", "max_tokens": 32},
        "stage": list(stages) or [stage()],
        "evaluate": evaluate,
    }
    return from_table(values, name="small", where="test")


def two_stages(encoder: Path, rows: int = 160, every: float = 0.25) -> Recipe:
    """Sampled sets, dropout, two heads, a fraction of an epoch: all that could be lost between two
    processes.
    """
    first = stage("nli_softmax", rows, augment={"positives": 1, "negatives": 3})
    second = stage(rows=rows, positives=2, negatives=3, optim={"epochs": 1.5})
    return recipe_of(encoder, first, second, every=every)


def short_stages(encoder: Path) -> Recipe:
    """The same in a few steps, with two checkpoints a stage."""
    return two_stages(encoder, rows=40, every=0.5)


def mixed_stages(encoder: Path) -> Recipe:
    """Two signals in turns, one of them with two dropout passes and gradient caching, then a stage
    alone.
    """
    first = stage("nli_softmax", 120, {"turn": 3, "epochs": 2})
    cached = {"micro_batch": 5, "turn": 1}
    second = stage("in_batch_contrastive", 40, cached, "wiki-split", projection="one-layer")
    return recipe_of(encoder, first, second, stage(rows=60), every=0.5)


def joint_stages(encoder: Path, combine: Any = "surgery") -> Recipe:
    """A stage alone, then three tasks that share an encoder, two of them also a layer, by gradient
    surgery or as COMBINE says.
    """
    optim = {"turn": 1, "epochs": 2}
    stages = [
        stage(rows=48),
        stage("sentiment_head", 64, optim, "sentiment"),
        stage("paraphrase_head", 64, optim, "paraphrases"),
        stage("similarity_head", 64, optim, "sts-course", sharing="first-layer"),
    ]
    mix = MixSection(combine=combine, until="smallest")
    return replace(recipe_of(encoder, *stages, every=0.5), mix=mix)


def fusion_stages(encoder: Path) -> Recipe:
    """Two signals that step on the same batches, the second also on others, then a stage alone."""
    return _in_step(encoder, "multitask-fusion")


def given_stages(encoder: Path) -> Recipe:
    """Two signals that take whole epochs in turn, then tasks in joint steps."""
    return _in_step(encoder, "multitask-given")


def _in_step(encoder: Path, name: str) -> Recipe:
    changes = [
        "stages.optim.epochs=2",
        "stages.data.rows=24",
        "encoder.max_tokens=32",
        "evaluate.keep=last",
        "evaluate.log_every=1",
    ]
    return load_recipe(name, changes, encoder=str(encoder))


def train_in(
    runs: Path,
    recipe: Recipe,
    name: str = "small",
    seed: int = 1,
    machine: Machine = MACHINE,
    **options: Any,
) -> RunFolder:
    """Train a recipe on `--data tiny` into a folder of its own in RUNS."""
    torch.set_num_threads(1)
    folder = RunFolder.of(runs, name, seed)
    train_run(recipe, SAMPLE, machine, folder, seed, **{"keeps_checkpoints": True, **options})
    return folder


def length_of_a_vector(trained: TrainedEncoder) -> float:
    """A dev score that costs nothing."""
    return float((trained.encoder.encode(["a man sleeps"]) ** 2).sum())


def scores_in_turn(*scores: float) -> Callable[[TrainedEncoder], float]:
    """Return a dev score that gives SCORES, whatever the model."""
    left = iter(scores)
    return lambda _: next(left)


def last_checkpoint(run: RunFolder) -> Snapshot:
    checkpoints = Checkpoints(run.checkpoints)
    return checkpoints.read(checkpoints.steps()[-1])


def weights_of(run: RunFolder) -> dict[str, Tensor]:
    """The weights of the model that a run made."""
    return load_file(run.model / "model.safetensors")


def saved_bytes(run: RunFolder) -> dict[str, bytes]:
    """The encoder, heads, optimizer and random states a run ends with, and the model it made."""
    newest = Checkpoints(run.checkpoints).path(Checkpoints(run.checkpoints).steps()[-1])
    files = [*newest.glob("*.safetensors"), run.path / "heads.safetensors"]
    files += run.model.glob("*model.safetensors")  # or an adapter alone
    return {str(file.relative_to(run.path)): file.read_bytes() for file in files}


def save_checkpoints(monkeypatch: pytest.MonkeyPatch, *, every: int) -> None:
    """Let checkpoints fall due after every so many steps, instead of every minute."""
    monkeypatch.setattr(
        "embedlab.training.loop._is_checkpoint_due", lambda session: session.step % every == 0
    )


def interrupted(
    train: Train,
    recipe: Recipe,
    steps: int,
    number: signal.Signals = signal.SIGTERM,
    **options: Any,
) -> Interrupted:
    """How a training ends that is stopped when it has taken so many STEPS."""
    taken, count = Meter.add, iter(range(1, 1000))

    def stop_there(meter: Meter, losses: Tensor, rows: int) -> None:
        taken(meter, losses, rows)
        if next(count) == steps:
            signal.raise_signal(number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Meter, "add", stop_there)
        with pytest.raises(Interrupted) as stop:
            train(recipe, **options)
    return stop.value


def assert_resumes(train: Train, recipe: Recipe, steps: list[int], **options: Any) -> None:
    """A training that is stopped after each of these STEPS ends with the bits and the loss curve of
    an undisturbed one.
    """
    whole = train(recipe, "whole", **options)
    done = 0
    for step in steps:
        stop = interrupted(train, recipe, step - done, resume=done > 0, **options)
        assert f"after step {step} of" in stop.message
        done = step
    resumed = train(recipe, resume=True, **options)
    assert saved_bytes(resumed) == saved_bytes(whole)
    assert curve(resumed) == curve(whole)


def curve(run: RunFolder) -> dict[int, float]:
    """The points of a run's loss curve as the dashboard draws them, by step."""
    found = events.Curve()
    found.read_on(run.events_file)
    return found.losses


def events_of(run: RunFolder, kind: type[E]) -> list[E]:
    """The events of a KIND that a run recorded."""
    return [event for event in events.events_after(run.events_file)[0] if isinstance(event, kind)]


def notes_of(run: RunFolder) -> list[str]:
    return [event.text for event in events_of(run, events.Noted)]


def open_encoder(
    folder: Path, machine: Machine = MACHINE, pooling: str = "mean"
) -> TransformerEncoder:
    """The transformer in FOLDER, to be trained."""
    wishes = UsageOptions(pooling=pooling, max_tokens=32)
    return load_transformer(str(folder), machine, wishes=wishes)


def narrow_encoder(
    folder: Path, architecture: str, machine: Machine = MACHINE, pooling: str = "cls"
) -> TransformerEncoder:
    """An encoder of an ARCHITECTURE with random weights, written to FOLDER."""
    build_random_encoder(folder, seed=0, hidden=16, architecture=architecture)
    return open_encoder(folder, machine, pooling)


def collation_of(
    encoder: TransformerEncoder, recipe: Recipe, team: Team | None = None
) -> Collation:
    """What makes the batches of a recipe's first stage, with its objective."""
    section = recipe.stages[0].objective
    data = open_stage(recipe, SAMPLE, 1, 0, encoder.word_ids)
    torch.manual_seed(0)
    objective = build_objective(section, encoder.dim)
    objective.attach(encoder)
    return Collation(
        data=data,
        needs=objective_needs(section),
        tokens=tokenise_in_parts(encoder, data.rows.texts),
        objective=objective,
        pad=0,
        cut=chunk_cutter(encoder),
        team=team or Team(),
    )


def gradients_of(module: nn.Module) -> dict[str, Tensor]:
    return {
        name: parameter.grad.clone()
        for name, parameter in module.named_parameters()
        if parameter.grad is not None
    }


def assert_close(found: dict[str, Tensor], expected: dict[str, Tensor], **limits: float) -> None:
    """Compare tensors by their names; with rtol and atol."""
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(
            found[name], tensor, msg=lambda text, of=name: f"{of}: {text}", **limits
        )
