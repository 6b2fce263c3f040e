"""A grid file, its plan, and a program that stands in for the real training."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import xxhash

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.cells import Cells, prepare_grid
from embedlab.experiments.executors.executor import LocalTasks, run_cells
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import expand_grid
from embedlab.experiments.single_cell import finish_patiently

STAND_IN = (
    *(sys.executable, "-I", "-S", str(Path(__file__).with_name("stand_in.py"))),
    str(Path(xxhash.__file__).parents[1]),
)

GRID = """
summary = "A test."
base = "snli-ce"
seeds = [1, 2]
tasks = ["sts"]

[set]
encoder = "nobody/nothing"

[axes]
"optim.lr" = [1e-5, 2e-5, 5e-5]
"encoder.pooling" = ["cls", "mean"]
"""

SHORT = GRID.replace('"cls", "mean"', '"cls"').replace("[1, 2]", "[1]")


def place_in(folder: Path) -> Settings:
    """Where runs lie in FOLDER/runs and read `--data tiny`."""
    return Settings(runs=folder / "runs", cache=folder / "cache", data=TINY_FOLDER)


def plan_of(folder: Path, text: str = GRID) -> GridPlan:
    """The plan of a grid file with this TEXT in FOLDER."""
    path = folder / "mine.toml"
    path.write_text(text)
    return expand_grid(load_grid(str(path)), place_in(folder))


def states(plan: GridPlan) -> list[str]:
    return [entry.state for entry in Cells(plan).entries()]


def run_local(plan: GridPlan, workers: int, gpus: Sequence[str] = (), **options: Any) -> None:
    """Run a grid with WORKERS processes on this machine."""
    run_cells(plan, LocalTasks(plan, workers, gpus=gpus, program=STAND_IN), **options)


def work_here(plan: GridPlan) -> None:
    """Do what is left of a grid in this process; starting one takes longer than its cells."""
    cells = Cells(plan)
    for cell in plan.cells:
        while (entry := cells.entry(cell)).state == "waiting":
            ending = finish_patiently(plan, cell, STAND_IN)
            cells.record(cell, entry.ended(*ending, seconds=0.1))


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    return place_in(tmp_path)


@pytest.fixture
def plan(tmp_path: Path) -> GridPlan:
    """3 x 2 variants with 2 seeds."""
    return plan_of(tmp_path)


@pytest.fixture
def short_plan(tmp_path: Path) -> GridPlan:
    """Three cells, prepared."""
    plan = plan_of(tmp_path, SHORT)
    prepare_grid(plan)
    return plan
