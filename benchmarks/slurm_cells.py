"""Run a grid as one job array of a real Slurm while its process, its jobs and their time are taken
away, and compare every cell with the same grid run locally, byte by byte.

    python benchmarks/slurm_cells.py --cells 64 --write

Everything runs on `--data tiny`. The submitting process is killed once a tenth of the cells have
ended; each cell is warned twice as Slurm does before a time limit; the job of every eighth cell is
killed as with its node. Then the same command ends what is left.
"""

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from record import Measured, write

from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.runs.events import Step, events_after

EMBEDLAB = (sys.executable, "-P", "-m", "embedlab")
GRID = """summary = "Cells for a scheduler"
base = "snli-ce"
seeds = [{seeds}]
tasks = ["geometry"]

[set]
"optim.epochs" = 6
"evaluate.every" = 1.0

[axes]
"optim.lr" = [1e-5, 2e-5]
"""
WARNINGS = 2  # of each cell


def main() -> int:
    """Run both grids and print how they ended; with --write it is stored among the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1, help="of which cells are disturbed when")
    parser.add_argument("--cluster", default="slurm", help="with options of sbatch")
    parser.add_argument("--write", action="store_true", help="store the table among the results")
    typed = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="embedlab-slurm-"))
    seeds = ", ".join(map(str, range(1, typed.cells // 2 + 1)))
    (place / "cells.toml").write_text(GRID.format(seeds=seeds))
    os.environ |= {"XDG_CACHE_HOME": str(place / "cache"), "OMP_NUM_THREADS": "1"}
    grid = ("grid", "run", "cells.toml", "--data", "tiny", "--threads", "1", "--quiet")
    local = run(*grid, "--runs", "local", "--workers", "2", place=place)
    began = time.monotonic()
    warned, killed = disturb((*grid, "--runs", "jobs", "--cluster", typed.cluster), place, typed)
    arrays = len({name.partition("_")[0] for name in outputs(place)})
    jobs = run(*grid, "--runs", "jobs", "--cluster", typed.cluster, place=place)
    minutes = (time.monotonic() - began) / 60
    expected, found = models(place / "local"), models(place / "jobs")
    equal = sum(found.get(name) == digest for name, digest in expected.items())
    measured = [
        Measured(what="cells whose model is bit-equal to the local one", ours=equal, unit="cells"),
        Measured(what="cells", ours=len(expected), unit="cells"),
        Measured(what="arrays of the killed submitter", ours=arrays, unit="arrays"),
        Measured(what="warnings of a time limit", ours=sum(warned.values()), unit="warnings"),
        Measured(
            what="cells warned twice", ours=sum(n == WARNINGS for n in warned.values()), unit=""
        ),
        Measured(what="jobs killed as with their node", ours=killed, unit="jobs"),
        Measured(what="minutes on Slurm", ours=round(minutes, 1), unit="min"),
    ]
    for one in measured:
        print(f"{one.what}: {one.ours} {one.unit}".rstrip())
    if typed.write:
        write("slurm-cells", "A grid on Slurm", measured, packages=("embedlab", "torch"))
    shutil.rmtree(place, ignore_errors=True)
    return 0 if local == jobs == 0 and equal == len(expected) == typed.cells else 1


def disturb(
    command: tuple[str, ...], place: Path, typed: argparse.Namespace
) -> tuple[Counter[int], int]:
    """Start the grid on Slurm, kill its process, and take their time and jobs from its cells until
    none is left; return how often each cell was warned, and how many jobs were killed.
    """
    process = subprocess.Popen([*EMBEDLAB, *command], cwd=place)
    rng = random.Random(typed.seed)
    steps = {
        cell: sorted(rng.sample(range(30, 330), WARNINGS)) for cell in range(1, typed.cells + 1)
    }
    warned: Counter[int] = Counter()
    killed: set[int] = set()
    while process.poll() is None or tasks():
        done = len(list(place.glob("jobs/*/seed-*/evaluations/geometry.json")))
        if process.poll() is None and done >= max(1, typed.cells // 10):
            process.kill()
            process.wait()
        for task, cell in tasks(state="RUNNING").items():
            step = last_step(place, cell)
            if warned[cell] < WARNINGS and step >= steps[cell][warned[cell]]:
                warned[cell] += 1
                slurm("scancel", "--batch", "--signal=USR1", task)
            elif cell % 8 == 0 and warned[cell] == 1 and cell not in killed:
                killed.add(cell)
                slurm("scancel", "--signal=KILL", "--full", task)
        # Slurm waits two minutes before a requeued job
        for task in tasks(state="PENDING"):
            slurm("scontrol", "update", f"JobId={task}", "StartTime=now")
        time.sleep(0.3)
    return warned, len(killed)


def tasks(state: str = "PENDING,RUNNING,COMPLETING,CONFIGURING") -> dict[str, int]:
    """Return the cells of the tasks in these states, by task."""
    listed = slurm("squeue", "--me", "--noheader", "--array", f"--states={state}", "--format=%F_%K")
    return {task: int(task.rpartition("_")[2]) for task in listed.split()}


def slurm(*command: str) -> str:
    """Return what a command of Slurm prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def last_step(place: Path, cell: int) -> int:
    """Return the last step in the events of a cell's run; 0 before the first."""
    plan = GridPlan.load(GridFolder(place / "jobs" / "grids" / "cells").plan_file)
    path = plan.cell(cell).run.events_file
    steps = (
        [event.step for event in events_after(path)[0] if isinstance(event, Step)]
        if path.exists()
        else []
    )
    return max(steps, default=0)


def outputs(place: Path) -> list[str]:
    """Return the names of what the tasks wrote."""
    return [path.name for path in place.glob("jobs/grids/cells/slurm/*.txt")]


def models(runs: Path) -> dict[str, str]:
    """Return one digest of all tensors of each run, by run."""
    digests = {}
    for run in sorted(runs.glob("*/seed-*")):
        digest = hashlib.sha256()
        for path in sorted(run.rglob("*.safetensors")):
            digest.update(path.read_bytes())
        digests[str(run.relative_to(runs))] = digest.hexdigest()
    return digests


def run(*command: str, place: Path) -> int:
    """Return the exit code of a command of embedlab."""
    return subprocess.run([*EMBEDLAB, *command], cwd=place, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
