"""Damage every kind of stored file and count what a reader gets: the same result, a notice, or
another result without a word.

    python benchmarks/fuzz/flips.py [--flips 300] [--damage bits|bytes] [--seed 21] [--kinds
    learnt.parquet …] [--write]

A tiny encoder is trained on the sample world and scores it; each file that this leaves behind, and
a grid's, is read as the program reads it, once as it is and then each time with
one other bit flipped, or up to 64 bytes in a row replaced by others, in a copy of its folder. "The
same" is what was read from the whole file, or made again where a cache was found damaged; "noticed"
is an error or a note that names the damage.
"""

import argparse
import json
import platform
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import Recipe, from_table, recipe_to_table
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.vector_cache import EmbeddingCache
from embedlab.experiments.plan import GridPlan, Variant, absolute_settings
from embedlab.models.catalog import ModelSpec
from embedlab.models.reading import UsageOptions
from embedlab.objectives.objective import build_objectives, read_heads
from embedlab.runs import events
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.events import Attempt, Damaged, EventLog, tail
from embedlab.runs.outcomes import StoredOutcomes, items_frame, stored_outcomes
from embedlab.runs.store import RunFolder
from embedlab.scoring.results import evaluate_task
from embedlab.training import loop
from embedlab.training.batching import stored_tokens
from embedlab.training.blocks import plan_stages
from embedlab.training.checkpointing import Checkpoints, find_misfit
from embedlab.training.stages import train_run
from embedlab.tui.state import Memory

RESULTS = Path(__file__).parents[1] / "results"
MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
SAMPLE = Source(folder=TINY_FOLDER)
SENTENCES = ["a man sleeps", "a dog runs in the park", "a woman reads", "two children play"]
ENDINGS = ("same", "noticed", "other result", "traceback")
FAULTS = ENDINGS[2:]

Read = Callable[
    [Path, list[str]], Any
]  # what is read in a folder; what is said on the way is added to the list


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of stored file: the folder it is in, its files there, and how it is read."""

    name: str
    folder: Path
    files: tuple[str, ...]  # patterns below the folder
    read: Read


@dataclass(frozen=True, kw_only=True)
class World:
    """What a short use of the program leaves behind."""

    folder: Path
    run: RunFolder
    recipe: Recipe
    settings: Settings


def make_world(folder: Path) -> World:
    """Train, score and store what is damaged later."""
    build_random_encoder(folder / "tiny", seed=1)
    stage = {
        "data": {"datasets": ["snli"], "rows": 160},
        "objective": {"name": "nli_softmax"},
        "optim": {"lr": 1e-3, "batch_size": 16},
    }
    encoder = {"model": str(folder / "tiny"), "pooling": "mean", "max_tokens": 32}
    values = {"summary": "flips", "encoder": encoder, "stage": [stage], "evaluate": {"every": 0.25}}
    recipe = from_table(values, name="small", where="flips")
    run = RunFolder.of(folder / "runs", "small", 1)
    with patch.object(
        loop, "_is_checkpoint_due", lambda session: session.step % 3 == 0
    ):  # a damaged checkpoint needs one before it
        train_run(
            recipe,
            SAMPLE,
            MACHINE,
            run,
            1,
            dev_score=lambda _: 1.0,
            cache=folder / "cache",
            keeps_checkpoints=True,
        )
    settings = Settings(data=TINY_FOLDER, runs=folder / "runs", cache=folder / "cache", threads=1)
    spec = ModelSpec(name=run.id, kind="run", location=str(run.model), seed=1)
    evaluate_task("sts", spec, settings, lambda _: lambda *_: None).save(run.evaluations)
    return World(folder=folder, run=run, recipe=recipe, settings=settings)


def kinds(world: World) -> Iterator[Kind]:
    """Every kind of stored file."""
    run = world.run
    newest = (
        Checkpoints(run.checkpoints).path(Checkpoints(run.checkpoints).steps()[-1]).name
    )  # older ones are read only where it is damaged
    yield Kind(
        name="vector cache", folder=_vector_cache(world), files=("*.rows",), read=_read_vectors
    )
    yield Kind(
        name="checkpoint: tensors",
        folder=run.checkpoints,
        files=(f"{newest}/*.safetensors",),
        read=_reader_of_checkpoints(world),
    )
    yield Kind(
        name="checkpoint: state.json",
        folder=run.checkpoints,
        files=(f"{newest}/*.json",),
        read=_reader_of_checkpoints(world),
    )
    yield Kind(
        name="model: weights", folder=run.model, files=("model.safetensors",), read=_read_model
    )
    yield Kind(
        name="model: other files", folder=run.model, files=("*.json", "*/*.json"), read=_read_model
    )
    yield Kind(
        name="heads.safetensors",
        folder=_alone(world, "heads.safetensors"),
        files=("heads.safetensors",),
        read=_read_heads,
    )
    yield Kind(
        name="learnt.parquet",
        folder=_alone(world, "learnt.parquet"),
        files=("*.parquet",),
        read=_read_training_text,
    )
    yield Kind(
        name="recipe.toml",
        folder=_alone(world, "recipe.toml"),
        files=("*.toml",),
        read=_read_recipe,
    )
    yield Kind(
        name="environment.json",
        folder=_alone(world, "environment.json"),
        files=("*.json",),
        read=_read_environment,
    )
    yield Kind(
        name="events.jsonl",
        folder=_alone(world, "events.jsonl"),
        files=("*.jsonl",),
        read=_read_events,
    )
    yield Kind(
        name="evaluations: json", folder=run.evaluations, files=("*.json",), read=_read_evaluation
    )
    yield Kind(
        name="evaluations: outcomes",
        folder=_outcomes(world),
        files=("*/*.parquet",),
        read=_read_outcomes,
    )
    yield Kind(
        name="token store",
        folder=world.folder / "cache" / "tokens",
        files=("*/*",),
        read=_reader_of_tokens(world),
    )
    yield Kind(name="dashboard-2.json", folder=_memory(world), files=("*.json",), read=_read_memory)
    yield Kind(
        name="grid: attempts", folder=_attempts(world), files=("*.jsonl",), read=_read_attempts
    )
    yield Kind(
        name="grid: plan.json", folder=_plan(world), files=("*/*/plan.json",), read=_read_plan
    )


def flip_bit(content: bytearray, generator: random.Random) -> str:
    """Flip one bit; gives which."""
    bit = generator.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    return f"bit {bit}"


def replace_bytes(content: bytearray, generator: random.Random) -> str:
    """Replace up to 64 bytes in a row, each by another; gives which."""
    start = generator.randrange(len(content))
    end = min(start + generator.randint(2, 64), len(content))
    for place in range(start, end):
        content[place] ^= generator.randint(1, 255)
    return f"bytes {start} to {end - 1}"


DAMAGES: Mapping[str, Callable[[bytearray, random.Random], str]] = {
    "bits": flip_bit,
    "bytes": replace_bytes,
}


def flip_all(
    kind: Kind, count: int, damage: str, generator: random.Random, scratch: Path
) -> list[tuple[str, str]]:
    """Damage COUNT times, each time a whole file; how each reading ended, and where the damage was
    with what was said.
    """
    files = sorted(
        {file for pattern in kind.files for file in kind.folder.glob(pattern) if file.is_file()}
    )
    expected, copy = kind.read(_copied(kind.folder, scratch / "whole"), []), scratch / "copy"
    found = []
    for number in range(count):
        file = files[number % len(files)].relative_to(kind.folder)
        content = bytearray((kind.folder / file).read_bytes())
        place = DAMAGES[damage](content, generator)
        _copied(kind.folder, copy)
        (copy / file).write_bytes(content)
        ending, detail = _ending(kind.read, copy, expected)
        found.append((ending, f"{file} {place}: {detail}"))
    return found


def _ending(read: Read, folder: Path, expected: object) -> tuple[str, str]:
    said: list[str] = []
    try:
        found = read(folder, said)
    except EmbedlabError as error:
        return "noticed", error.message
    except Exception:
        return "traceback", traceback.format_exc()
    if said:
        return "noticed", said[0]
    return (
        ("same", "")
        if found == expected
        else ("other result", f"{found!r:.300} instead of {expected!r:.300}")
    )


def _copied(folder: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(folder, place))


def _alone(world: World, name: str) -> Path:
    """A run's folder with one of its files: what others hold need not be copied for each flip."""
    folder = world.folder / "alone" / name.replace(".", "-") / "small" / "seed-1"
    folder.mkdir(parents=True)
    shutil.copy(world.run.path / name, folder / name)
    return folder


def _memory(world: World) -> Path:
    folder = world.folder / "state"
    memory = Memory("data", folder / "dashboard-2.json")
    memory.set("models", ["mine"])
    memory.write()
    return folder


def _read_memory(folder: Path, _: list[str]) -> object:
    memory = Memory("data", folder / "dashboard-2.json")
    if memory.trouble is not None:
        raise memory.trouble
    return memory.get("models", [])


def _vector_cache(world: World) -> Path:
    folder = world.folder / "vectors"
    for start in (0, 40):
        numbers = np.arange(start, start + 40)
        _cache(folder).store(_keys(numbers), _vectors(numbers), numbers % 2 == 0)
    return folder / "embeddings" / "f"


def _cache(folder: Path) -> EmbeddingCache:
    return EmbeddingCache(folder, "f", dim=16, limit_bytes=2**30)


def _keys(numbers: np.ndarray) -> np.ndarray:
    return sentence_keys([f"sentence {number}" for number in numbers])


def _vectors(numbers: np.ndarray) -> np.ndarray:
    return np.sin(np.outer(numbers + 1, np.arange(1, 17))).astype(np.float32)


def _read_vectors(folder: Path, _: list[str]) -> object:
    """The vectors of all sentences; what the cache does not know is computed, as an encoder
    would.
    """
    numbers = np.arange(80)
    place = folder.parent / "cache-root"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place / "embeddings" / "f")
    known, vectors, cut = _cache(place).find(_keys(numbers))
    vectors[~known], cut[~known] = _vectors(numbers)[~known], (numbers % 2 == 0)[~known]
    return vectors.tobytes(), cut.astype(bool).tolist()


def _reader_of_checkpoints(world: World) -> Read:
    encoder = load_transformer(
        str(world.folder / "tiny"), MACHINE, wishes=UsageOptions(pooling="mean", max_tokens=32)
    )
    objectives = build_objectives(world.recipe, encoder.dim)
    plan = plan_stages(world.recipe, SAMPLE, 1)
    misfit = partial(find_misfit, encoder=encoder, objectives=objectives, steps=plan[-1].end)

    def read(folder: Path, said: list[str]) -> object:
        snapshot, notes = Checkpoints(folder).newest(misfit)
        said += notes
        if snapshot is None:  # none is intact: training starts from the beginning
            return None
        parts = (snapshot.encoder, snapshot.heads, snapshot.optimizer, snapshot.random)
        return (
            snapshot.step,
            snapshot.best,
            [{name: tensor.numpy().tobytes() for name, tensor in part.items()} for part in parts],
        )

    return read


def _read_model(folder: Path, said: list[str]) -> object:
    encoder = load_transformer(str(folder), MACHINE)
    said += encoder.facts.notes
    return encoder.encode(SENTENCES).tobytes()


def _read_heads(folder: Path, _: list[str]) -> object:
    return {
        name: tensor.numpy().tobytes() for name, tensor in read_heads(RunFolder(folder)).items()
    }


def _read_training_text(folder: Path, _: list[str]) -> object:
    text = KnownText.read(folder / "learnt.parquet")
    return text.sentences.tobytes(), text.pairs.tobytes()


def _read_recipe(folder: Path, _: list[str]) -> object:
    return recipe_to_table(RunFolder(folder).recipe())


def _read_environment(folder: Path, _: list[str]) -> object:
    return RunFolder(folder).environment()


def _read_events(folder: Path, said: list[str]) -> object:
    found = events.tail(folder / "events.jsonl")
    said += [event.text for event in found if isinstance(event, events.Damaged)]
    return found


def _read_evaluation(folder: Path, _: list[str]) -> object:
    return repr(Evaluation.load(folder / "sts.json"))  # nan is nan


def _outcomes(world: World) -> Path:
    folder, rows = world.folder / "outcomes", np.arange(200)
    items = items_frame(rows, [str(row % 3) for row in rows], [str(row % 2) for row in rows])
    facts: dict[str, Any] = {
        "task": "transfer",
        "dataset": "mr",
        "split": "cv",
        "model": "small@1",
        "fingerprint": "0" * 16,
    }
    StoredOutcomes(
        **facts,
        data=({"name": "mr", "rows": 200},),
        marks=("sample",),
        classes=("0", "1", "2"),
        items=items,
    ).save(folder)
    return folder


def _read_outcomes(folder: Path, said: list[str]) -> object:
    found = list(
        stored_outcomes(folder, "transfer", unusable=lambda error: said.append(error.message))
    )
    return [
        (one.items.rows(), {key: value for key, value in vars(one).items() if key != "items"})
        for one in found
    ]


def _reader_of_tokens(world: World) -> Read:
    encoder = load_transformer(
        str(world.folder / "tiny"), MACHINE, wishes=UsageOptions(pooling="mean", max_tokens=32)
    )
    sentences = [f"{sentence} {number}" for sentence in SENTENCES for number in range(40)]
    tokens = world.folder / "cache" / "tokens"
    shutil.rmtree(tokens, ignore_errors=True)
    stored_tokens(encoder, sentences, world.folder / "cache")

    def read(folder: Path, _: list[str]) -> object:
        place = folder.parent / "token-root"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place / "tokens")
        rows = stored_tokens(encoder, sentences, place)
        return rows.flat.tobytes(), rows.offsets.tobytes(), rows.truncated.astype(bool).tolist()

    return read


def _attempts(world: World) -> Path:
    folder = world.folder / "attempts"
    with EventLog(folder / "run@1.jsonl") as log:
        log.append(Attempt(state="waiting", reason="out of memory", errors=1, seconds=12.5))
        log.append(Attempt(state="done", seconds=3.0))
    return folder


def _read_attempts(folder: Path, _: list[str]) -> object:
    found = tail(folder / "run@1.jsonl")
    if any(isinstance(event, Damaged) for event in found):
        raise EmbedlabError("damaged")
    return found


def _plan(world: World) -> Path:
    folder = world.folder / "grid-runs"
    variant = Variant(
        run="small", labels={"optim.lr": "1e-3"}, recipe=recipe_to_table(world.recipe), rows=160.0
    )
    plan = GridPlan(
        name="g",
        summary="flips",
        axes={"optim.lr": ("1e-3",)},
        variants=(variant,),
        seeds=(1, 2),
        threads=1,
        place=absolute_settings(Settings(runs=folder, cache=world.folder / "cache")),
    )
    plan.save()
    return folder


def _read_plan(folder: Path, _: list[str]) -> object:
    plan = GridPlan.load(folder / "grids" / "g" / "plan.json")
    return (
        plan.name,
        plan.summary,
        plan.axes,
        [vars(variant) for variant in plan.variants],
        plan.seeds,
        plan.threads,
    )


def _markdown(
    title: str, counts: Mapping[str, Counter[str]], files: Mapping[str, str], seconds: float
) -> str:
    packages = {
        name: version(name) for name in ("embedlab", "torch", "transformers", "polars", "numpy")
    }
    versions = ", ".join(
        [
            f"python {platform.python_version()}",
            *(f"{name} {number}" for name, number in packages.items()),
        ]
    )
    command = " ".join(["python", "benchmarks/fuzz/flips.py", *sys.argv[1:]])
    lines = [
        f"# {title} of stored files",
        "",
        f"`{command}`; {versions}; {datetime.now(UTC).date()}; {seconds:.0f} s.",
        "",
    ]
    lines += [
        f"| kind | flips | {' | '.join(ENDINGS)} | said of the first |",
        f"|---|{'---:|' * (1 + len(ENDINGS))}---|",
    ]
    for name, found in counts.items():
        numbers = " | ".join(str(found[ending]) for ending in ENDINGS)
        lines.append(f"| {name} | {found.total()} | {numbers} | {files[name]} |")
    total = sum(counts.values(), Counter[str]())
    lines.append(
        f"| all | {total.total()} | {' | '.join(str(total[ending]) for ending in ENDINGS)} | |"
    )
    lines += [
        "",
        "- same: what is read equals the undamaged, or a damaged cache was made again; "
        "noticed: an error or a note",
    ]
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    """Run the campaign, print its table, and give 1 where a flip went unnoticed or ended in a
    traceback.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flips", type=int, default=300, help="of each kind")
    parser.add_argument(
        "--damage",
        choices=DAMAGES,
        default="bits",
        help="flip one bit, or replace several bytes in a row",
    )
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    arguments = parser.parse_args(words)
    torch.set_num_threads(1)
    began, counts, first = time.perf_counter(), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        for kind in kinds(world):
            if arguments.kinds and kind.name not in arguments.kinds:
                continue
            found = flip_all(
                kind,
                arguments.flips,
                arguments.damage,
                random.Random(f"{arguments.seed} {kind.name}"),
                Path(folder) / "scratch",
            )
            counts[kind.name] = Counter(ending for ending, _ in found)
            noticed = next((detail for ending, detail in found if ending == "noticed"), "–")
            first[kind.name] = (
                noticed.partition(": ")[2]
                .replace(folder, "")
                .replace("|", "¦")
                .splitlines()[0][:110]
                if noticed != "–"
                else "–"
            )
            print(
                kind.name,
                dict(counts[kind.name]),
                f"{time.perf_counter() - began:.0f} s",
                file=sys.stderr,
                flush=True,
            )
            for ending, detail in [one for one in found if one[0] in FAULTS][:3]:
                print(f"  {ending}: {detail}", file=sys.stderr, flush=True)
    title, name = {"bits": ("Flipped bits", "flips"), "bytes": ("Replaced bytes", "flips-bytes")}[
        arguments.damage
    ]
    text = _markdown(title, counts, first, time.perf_counter() - began)
    print(text)
    if arguments.write:
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
        (RESULTS / f"{name}.json").write_text(
            json.dumps({name: dict(found) for name, found in counts.items()}, indent=2) + "\n"
        )
    return int(any(found[ending] for found in counts.values() for ending in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
