"""Real trainings in a grid: minutes, so only now and then."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from embedlab.experiments.executors.executor import run_cells
from embedlab.experiments.executors.local import LocalTasks
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.preparation import prepare_grid
from embedlab.runs import events
from tests.experiments.conftest import cells_of, plan_of

SMALL = """
summary = "Two variants of a short training, two seeds."
base = "snli-ce"
seeds = [1, 2]
tasks = ["sts"]
[set]
encoder = "ENCODER"
"data.rows" = 1500
"optim.lr" = 1e-3
"evaluate.every" = 0.25
[axes]
"encoder.pooling" = ["cls", "mean"]
"""


def states(folder: GridFolder) -> set[str]:
    return {entry.state for entry in cells_of(folder).entries()}


def weights(plan: GridPlan) -> list[bytes]:
    return [(plan.run(cell).model / "model.safetensors").read_bytes() for cell in plan.cells]


@pytest.mark.slow
def test_killed_trainings_end_as_undisturbed_ones(tmp_path: Path, tiny_encoder: Path) -> None:
    undisturbed, killed = (
        plan_of(tmp_path / name, SMALL.replace("ENCODER", str(tiny_encoder)))
        for name in made(tmp_path)
    )
    folder = GridFolder.of(undisturbed.place.runs_folder, undisturbed.name)
    prepare_grid(undisturbed, folder)
    run_cells(undisturbed, folder, LocalTasks(undisturbed, folder, 2))
    assert states(folder) == {"done"}

    folder = GridFolder.of(killed.place.runs_folder, killed.name)
    prepare_grid(killed, folder)
    rng, kills = random.Random(1), 0
    while states(folder) != {"done"}:
        program = "from embedlab.cli.app import main; import sys; sys.exit(main(sys.argv[1:]))"
        words = [
            "grid",
            "run",
            str(tmp_path / "killed" / "mine.toml"),
            "--data",
            "tiny",
            "--workers",
            "2",
            "--quiet",
        ]
        environment = {
            **os.environ,
            "EMBEDLAB_RUNS": killed.place.runs,
            "EMBEDLAB_CACHE": killed.place.cache,
        }
        grid = subprocess.Popen(
            [sys.executable, "-c", program, *words], env=environment, stdout=subprocess.DEVNULL
        )
        while grid.poll() is None:
            time.sleep(rng.uniform(1, 15))
            family = (
                [
                    grid.pid,
                    *(child.pid for child in psutil.Process(grid.pid).children(recursive=True)),
                ]
                if grid.poll() is None
                else []
            )
            if family and kills < 6:
                os.kill(rng.choice(family), signal.SIGKILL)
                kills += 1
    assert kills > 2
    assert weights(killed) == weights(undisturbed)
    for cell in killed.cells:
        log, _ = events.events_after(killed.run(cell).events_file)
        assert sum(isinstance(event, events.Finished) for event in log) == 1


def made(folder: Path) -> list[str]:
    names = ["undisturbed", "killed"]
    for name in names:
        (folder / name).mkdir()
    return names
