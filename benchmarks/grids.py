"""What a grid costs beside its trainings: its plan and its table.

    python benchmarks/grids.py [--plan-cells 10000] [--table-cells 500] [--runs 5]

All on the sample world; no cell is trained. A command's time is that of a process of its own, from
its start to its end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from record import Measured, write

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.source import Source, open_parts
from embedlab.experiments.cells import prepare_grid
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import expand_grid
from embedlab.runs import events
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.tasks.sts import STS_DATASETS

VALUES = 10  # an axis
SEEDS = 5
STEPS = 40  # events that a run has beside its dev scores


def grid_file(folder: Path, name: str, cells: int, seeds: int) -> Path:
    """A grid of so many CELLS over keys of snli-supcl, with ten values an axis where so many are
    needed.
    """
    keys = ("optim.lr", "objective.weight", "objective.temperature", "optim.warmup")
    lines, left = [], cells // seeds
    for key in keys:
        count = min(VALUES, left)
        values = [round(0.01 * (number + 1), 4) for number in range(count)]
        lines.append(f'"{key}" = {values}')
        left //= count
        if left <= 1:
            break
    path = folder / f"{name}.toml"
    path.write_text(
        f'summary = "A benchmark."\nbase = "snli-supcl"\nseeds = '
        f'{list(range(1, seeds + 1))}\ntasks = ["sts"]\n'
        f'[set]\nencoder = "unknown/nothing"\n[axes]\n' + "\n".join(lines) + "\n"
    )
    return path


def plan_of(path: Path) -> GridPlan:
    """The plan of a grid file on the sample world."""
    place = Settings(runs=path.parent / "runs", cache=path.parent / "cache", data=TINY_FOLDER)
    return expand_grid(load_grid(str(path)), place)


def seconds_of(folder: Path, *words: str) -> float:
    """How long a command takes that ends well."""
    started = time.perf_counter()
    environment = {
        **os.environ,
        "EMBEDLAB_RUNS": str(folder / "runs"),
        "EMBEDLAB_CACHE": str(folder / "cache"),
    }
    subprocess.run(
        [sys.executable, "-m", "embedlab", *words, "--data", "tiny"],
        env=environment,
        capture_output=True,
        check=True,
        cwd=folder,
    )
    return time.perf_counter() - started


def finish(plan: GridPlan) -> None:
    """Give every cell of PLAN the files that a finished and evaluated run has, with numbers that
    depend on cell and seed alone.
    """
    parts, _ = open_parts(Source(folder=TINY_FOLDER), STS_DATASETS)
    keys = [("dataset", name) for name in STS_DATASETS] + [
        ("average", name) for name in ("sts12-16", "average of seven")
    ]
    keys += [
        ("source", f"{part.state.name}/{source}")
        for part in parts
        for source in part.frame["source"].unique().to_list()
    ]
    slices = [
        (by, key, metric, aggregate)
        for by, key in keys
        for metric in ("spearman", "pearson")
        for aggregate in (("all",) if by == "source" else ("all", "mean", "wmean"))
    ]
    for cell in plan.cells:
        run, value = cell.run, 0.5 + 0.3 * (cell.number % 97) / 97
        scores = tuple(
            StoredScore(by=by, slice=key, metric=metric, setting=setting, value=value, items=100)
            for by, key, metric, setting in slices
        )
        run.model.mkdir(parents=True)
        write_events(run.events_file, value)
        Evaluation(
            task="sts", model=cell.id, fingerprint=f"{cell.number}", precision="float32", pooling="mean", max_tokens=128, truncated=0,
            data=(), marks=("sample",), scores=scores,
        ).save(run.evaluations)  # fmt: skip


def write_events(path: Path, dev: float) -> None:
    """The events of a short finished run."""
    with events.EventLog(path) as log:
        log.append(events.Started(time=1.0, pid=1, host="here", steps=STEPS))
        for step in range(1, STEPS + 1):
            log.append(
                events.Step(
                    stage=0,
                    epoch=0.1,
                    step=step,
                    steps=STEPS,
                    loss=1.0,
                    lr=0.1,
                    rows_per_s=1.0,
                    eta_s=1.0,
                    memory_mib=1.0,
                )
            )
        log.append(events.Dev(step=STEPS, score=100 * dev))
        log.append(events.Finished(step=STEPS))


def measured(arguments: argparse.Namespace, folder: Path) -> Iterator[Measured]:
    """Every claim with its limit; medians over the runs."""

    def median(of: list[float]) -> float:
        return statistics.median(of)

    runs = range(arguments.runs)
    path = grid_file(folder, "large", arguments.plan_cells, 1)
    expansions = [timed_plan(path) for _ in runs]
    cells = expansions[0][1]
    yield Measured(
        what=f"plan of {cells:,} cells",
        ours=median([one[0] for one in expansions]),
        unit="s",
        limit="< 2 s",
        runs=len(runs),
    )
    words = (
        "grid",
        "run",
        path.name,
        "--dry-run",
        "--json",
        "--set",
        "encoder.model=unknown/nothing",
    )
    whole = median([seconds_of(folder, *words) for _ in runs])
    yield Measured(
        what=f"grid run --dry-run of {cells:,} cells, the whole command",
        ours=whole,
        unit="s",
        runs=len(runs),
    )
    plan = plan_of(grid_file(folder, "finished", arguments.table_cells, SEEDS))
    finish(plan)
    prepare_grid(plan)
    for what, more in (
        ("all axes", ()),
        ("two axes", ("--rows", "optim.lr", "--columns", "objective.weight")),
    ):
        took = median([seconds_of(folder, "grid", "table", plan.name, *more) for _ in runs])
        yield Measured(
            what=f"grid table of {len(plan)} finished cells, {what}",
            ours=took,
            unit="s",
            limit="< 1 s",
            runs=len(runs),
        )
    took = median([seconds_of(folder, "grid", "status", plan.name) for _ in runs])
    yield Measured(what=f"grid status of {len(plan)} cells", ours=took, unit="s", runs=len(runs))


def timed_plan(path: Path) -> tuple[float, int]:
    """Seconds that a process of its own takes for the plan after its imports, and the plan's
    cells.
    """
    answer = subprocess.run(
        [sys.executable, __file__, "plan", str(path)], capture_output=True, text=True, check=True
    )
    seconds, cells = json.loads(answer.stdout)
    return seconds, cells


def print_plan(path: Path) -> None:
    """What `timed_plan` starts."""
    started = time.perf_counter()
    plan = plan_of(path)
    print(json.dumps([time.perf_counter() - started, len(plan)]))


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plan-cells", type=int, default=10_000)
    parser.add_argument("--table-cells", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = list(measured(arguments, Path(temporary)))
    notes = (f"medians of {arguments.runs}",)
    write(
        "grids",
        "Grids beside their trainings",
        found,
        packages=("polars", "pydantic", "numpy"),
        notes=notes,
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["plan", path]:
            print_plan(Path(path))
        case _:
            main()
