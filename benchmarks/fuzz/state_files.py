"""Damaged state: files of runs, grids, evaluations and the dashboard, read by the commands and the
dashboard that read them.

python benchmarks/fuzz/state_files.py [--cases 2000] [--seed 21] [--write]
"""

import fcntl
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS
from structures import ODD, change, command

from embedlab.core.disk import sealed_json
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.experiments.cells import Cells
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import expand_grid
from embedlab.experiments.progress import GridFollower
from embedlab.runs import events
from embedlab.runs.environment import collect_environment
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.store import RunFolder
from embedlab.tui.runs.model import RunFollower
from embedlab.tui.state import Memory

PART = {
    "name": "snli",
    "split": "train",
    "rows": 3,
    "expected_rows": 9,
    "partial": True,
    "data": "tiny",
    "sha256": {"a": "b"},
}
GRID = """
summary = "A test."
base = "snli-ce"
seeds = [1, 2]
[set]
encoder = "unknown/nothing"
[axes]
"optim.lr" = [1e-5, 2e-5]
"""


def evaluation(model: str) -> Evaluation:
    """An evaluation with a score of each kind, one of them undefined."""
    values = {"dataset": 0.5, "average": float("nan")}
    scores = [
        StoredScore(by=by, slice="sts12", metric="spearman", setting="all", value=value, items=3)
        for by, value in values.items()
    ]
    return Evaluation(
        task="sts", model=model, fingerprint="ab", precision="float32", pooling="mean", max_tokens=128, truncated=0, data=(PART,),
        marks=("sample",), scores=tuple(scores), notes=("a note",),
    )  # fmt: skip


def write_run(run: RunFolder, recipe: str = "snli-ce") -> None:
    """A finished run without weights."""
    run.write_once(
        load_recipe(recipe),
        collect_environment(
            seed=run.seed, device="cpu", precision="float32", threads=1, data=[PART]
        ),
    )
    (run.model / "x").mkdir(parents=True)
    evaluation(run.id).save(run.evaluations)
    run.hand_over(7)
    with events.EventLog(run.events_file) as log:
        log.append(events.Started(pid=7, host="here", steps=4))
        for step in (1, 2, 3, 4):
            log.append(
                events.Step(
                    stage=0,
                    epoch=1,
                    step=step,
                    steps=4,
                    loss=1 / step,
                    lr=1e-5,
                    rows_per_s=9,
                    eta_s=4 - step,
                    memory_mib=100,
                )
            )
        log.append(events.Noted(text="a note"))
        log.append(events.Dev(step=4, score=50.0))
        log.append(events.Finished(step=4))


def write_world(folder: Path) -> None:
    """A run, a grid with its runs and attempts, and the dashboard's state."""
    write_run(RunFolder.of(folder / "runs", "mine", 1))
    (folder / "grid.toml").write_text(GRID)
    plan = expand_grid(
        load_grid(str(folder / "grid.toml")),
        Settings(runs=folder / "runs", cache=folder / "cache", data=TINY_FOLDER),
    )
    plan.save()
    for cell in plan.cells:
        write_run(cell.run)
    for cell in plan.cells:
        Cells(plan).record(cell, events.Attempt(state="failed", reason="why", errors=1))
    memory = Memory("data", folder / "embedlab" / "dashboard-2.json")
    memory.set("models", ["mine"])
    memory.write()


def run_commands(folder: Path, rng: random.Random) -> None:
    """What reads a run, one way of many."""
    runs = str(folder / "runs")
    match rng.randrange(6):
        case 0:
            command("runs", "ls", "--runs", runs)
        case 1:
            command("runs", "show", "mine", "--runs", runs, "--json")
        case 2:
            command(
                "runs", "log", "mine@1", "--runs", runs, *(["--json"] if rng.random() < 0.5 else [])
            )
        case 3:
            RunFollower(folder / "runs").look().entries()
        case 4:
            command(
                "train",
                "snli-ce",
                "--resume",
                "--name",
                "mine",
                "--runs",
                runs,
                "--dry-run",
                "--data",
                "tiny",
            )
        case _:
            run = RunFolder(folder / "runs" / "mine" / "seed-1")
            run.environment()
            run.recipe()


def held(folder: Path, rng: random.Random) -> None:
    """The same while a process holds the run: then its pid file counts."""
    with (folder / "runs" / "mine" / "seed-1" / "lock").open("wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        run_commands(folder, rng)


def grid_commands(folder: Path, rng: random.Random) -> None:
    """What reads a grid and its cells, one way of many."""
    runs = str(folder / "runs")
    match rng.randrange(5):
        case 0:
            command("grid", "status", "grid", "--data", "tiny", "--runs", runs)
        case 1:
            command("grid", "status", "--data", "tiny", "--runs", runs)
        case 2:
            command(
                "grid",
                "table",
                "grid",
                "--data",
                "tiny",
                "--runs",
                runs,
                *(["--json"] if rng.random() < 0.5 else []),
            )
        case 3:
            command(
                "grid",
                "run",
                "grid",
                "--data",
                "tiny",
                "--runs",
                runs,
                "--dry-run",
                "--workers",
                "1",
            )
        case _:
            GridFollower(GridPlan.find(folder / "runs", "grid")).look()


def stored_evaluation(folder: Path, rng: random.Random) -> None:
    """An evaluation as a table of a grid reads it, and alone."""
    found = next((folder / "runs").glob("grid.*/seed-1/evaluations/sts.json"))
    if rng.random() < 0.5:
        Evaluation.load(found)
    grid_commands(folder, rng)


def dashboard(folder: Path, _rng: random.Random) -> None:
    """The dashboard's state at its start: what is unusable gives way to the defaults."""
    models = Memory("data", folder / "embedlab" / "dashboard-2.json").get("models", [])
    assert isinstance(models, list)


Reader = Callable[[Path, random.Random], None]
TARGETS: Mapping[str, tuple[str, Reader]] = {
    "environment.json": ("runs/mine/seed-1/environment.json", run_commands),
    "recipe.toml": ("runs/mine/seed-1/recipe.toml", run_commands),
    "pid": ("runs/mine/seed-1/pid", held),
    "events.jsonl": ("runs/mine/seed-1/events.jsonl", run_commands),
    "events.jsonl of a cell": ("runs/grid.*/seed-1/events.jsonl", grid_commands),
    "evaluations/sts.json": ("runs/grid.*/seed-1/evaluations/sts.json", stored_evaluation),
    "plan.json": ("runs/grids/grid/plan.json", grid_commands),
    "attempts of a cell": ("runs/grids/grid/cells/*.jsonl", grid_commands),
    "dashboard-2.json": ("embedlab/dashboard-2.json", dashboard),
}


def damage(path: Path, rng: random.Random) -> str:
    """Damage one file; the name of the mutation."""
    content = path.read_bytes()
    if (path.suffix in {".json", ".jsonl"} or path.name == "pid") and rng.random() < 0.65:
        name, text = _change_json(content, rng, lines=path.suffix == ".jsonl")
        path.write_text(text)
        return name
    name = rng.choice(list(MUTATIONS))
    path.write_bytes(MUTATIONS[name](content, rng))
    return name


def _change_json(content: bytes, rng: random.Random, *, lines: bool) -> tuple[str, str]:
    odd = [value for value in ODD if value != 10**4_000 and not hasattr(value, "isoformat")]
    texts = content.decode().splitlines() if lines else [content.decode()]
    place = rng.randrange(len(texts))
    values = json.loads(texts[place])
    # a wrong checksum alone would be refused before the shape is looked at
    is_sealed = values.pop("checksum", None) is not None and not lines
    name, values = change(values, rng, odd=odd)
    is_sealed = is_sealed and isinstance(values, dict)
    is_sealed = is_sealed and "\\ud800" not in json.dumps(values)  # no UTF-8: none was written
    texts[place] = sealed_json(values).rstrip() if is_sealed else json.dumps(values)
    return name, "\n".join(texts) + "\n"


def read(world: Path, number: int, target: str, seed: int) -> None:
    """Copy the world, damage one file of it and read it."""
    pattern, reader = TARGETS[target]
    rng = generator(seed, number)
    folder = world.with_name(f"case-{number}")
    shutil.copytree(world, folder)
    try:
        damage(next(folder.glob(pattern)), rng)
        reader(folder, rng)
    finally:
        shutil.rmtree(folder)


def cases(count: int, seed: int, world: Path) -> list[Case]:
    """COUNT cases, the same for the same SEED, each file as often as the others."""
    names = list(TARGETS)
    chosen = [names[number % len(names)] for number in range(count)]
    return [
        Case(target=target, mutation="any", run=partial(read, world, number, target, seed))
        for number, target in enumerate(chosen)
    ]


if __name__ == "__main__":
    options = arguments(__doc__, 2000)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {f"XDG_{name}_HOME": scratch for name in ("CONFIG", "CACHE", "STATE", "DATA")}
        os.chdir(scratch)
        # In a process of its own: the threads of polars do not outlive the forks of a campaign.
        maker = multiprocessing.get_context("fork").Process(
            target=write_world, args=(Path(scratch) / "world",)
        )
        maker.start()
        maker.join()
        outcomes, seconds = timed(
            cases(options.cases, options.seed, Path(scratch) / "world"), limit_s=options.limit_s
        )
    notes = (
        "values of JSON are replaced, deleted, renamed, doubled and nested, bytes damaged as "
        "those of corpora; checksums are left out",
        "an error without a hint is one line; what is accepted holds the events and rows "
        "that were not damaged",
        f"a case that takes more than {options.limit_s:g} s hangs",
    )
    sys.exit(
        report(
            "state_files",
            "Damaged state of runs, grids and the dashboard",
            outcomes,
            seconds=seconds,
            notes=notes,
            write=options.write,
        )
    )
