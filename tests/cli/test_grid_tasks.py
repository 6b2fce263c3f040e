"""Cells are evaluated on every task, dataset and file that `compare --task` takes."""

import os
from pathlib import Path

import pytest

from embedlab.experiments.cells import cell_environment, is_complete, next_command, prepare_grid
from tests.cli.conftest import Embedlab
from tests.cli.test_files_of_commands import ROWS
from tests.experiments.conftest import plan_of

GRID = """
summary = "A cell."
base = "snli-ce"
tasks = TASKS
[set]
encoder = "ENCODER"
"data.rows" = 32
"evaluate.dev" = "none"
[axes]
"optim.lr" = [1e-3]
"""


def test_a_cell_ends_with_evaluations_on_datasets_files_and_tasks(
    tmp_path: Path, tiny_encoder: Path, embedlab: Embedlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(ROWS)
    tasks = '["stsb", "own.csv", "mr"]'
    plan = plan_of(tmp_path, GRID.replace("ENCODER", str(tiny_encoder)).replace("TASKS", tasks))
    cell = plan.cell(1)
    prepare_grid(plan)
    for name, value in cell_environment(plan, None).items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)
    assert {*cell.tasks} == {"sts/own.csv+sts-benchmark", "transfer/mr"}
    training = next_command(plan, cell)
    assert training is not None
    assert embedlab(*training).code == 0
    assert is_complete(cell)
    monkeypatch.chdir("/")  # as jobs of Slurm work
    for stored in cell.tasks:
        (cell.run.evaluations / f"{stored}.json").unlink()
        again = next_command(plan, cell)
        assert again is not None
        assert embedlab(*again).code == 0
        assert is_complete(cell)
    scores = embedlab("grid", "table", plan.name, "--task", "stsb")
    assert (scores.code, "own.csv" in scores.out) == (0, True)
