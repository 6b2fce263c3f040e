import json
from collections import Counter
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.experiments.executors.executor import run_cells
from embedlab.experiments.executors.local import LocalWorkers
from embedlab.experiments.halving import check_rungs, rungs_for
from embedlab.experiments.plan import GridFolder
from embedlab.experiments.preparation import prepare_grid
from embedlab.experiments.queue import Queue
from embedlab.runs import events
from tests.experiments.conftest import GRID, STAND_IN, plan_of, work_here

# The stand-in's dev score is the learning rate: the higher, the better.
SIX = (
    GRID.replace('"encoder.pooling" = ["cls", "mean"]', "")
    .replace("[1e-5, 2e-5, 5e-5]", "[1e-5, 2e-5, 5e-5, 4e-5]")
    .replace("[set]", '[set]\n"evaluate.every" = 0.1')
)


@pytest.mark.parametrize(
    ("budget", "rungs"), [(1.0, ()), (0.8, (0.5,)), (0.5, (0.25, 0.5)), (0.32, (0.125, 0.25, 0.5))]
)
def test_rungs_keep_within_the_budget(budget: float, rungs: tuple[float, ...]) -> None:
    assert rungs_for(budget) == rungs


@pytest.mark.parametrize("budget", [0.0, -1.0, 1.5])
def test_a_budget_is_a_share(budget: float) -> None:
    with pytest.raises(UsageError, match="not a share"):
        rungs_for(budget)


def test_a_dev_score_that_comes_too_seldom_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too seldom") as caught:
        check_rungs(plan_of(tmp_path), rungs_for(0.3))
    assert caught.value.hint.startswith("--set evaluate.every=0.0625")
    with pytest.raises(UsageError, match="without a dev score"):
        check_rungs(
            plan_of(tmp_path, GRID.replace("[set]", '[set]\n"evaluate.dev" = "none"')),
            rungs_for(0.5),
        )


@pytest.mark.parametrize("workers", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_better_half_goes_on_whatever_the_number_of_workers(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "HOLD_AT", "4"
    )  # however late the worker looks, it finds the cell at its rung
    plan = plan_of(tmp_path, SIX.replace("[1, 2]", "[1]"))
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    rungs = rungs_for(0.8)
    check_rungs(plan, rungs)
    prepare_grid(plan, folder, rungs)
    if workers > 1:
        run_cells(plan, folder, LocalWorkers(folder, workers, program=STAND_IN))
    else:
        work_here(folder)
    with Queue(folder.queue_file) as queue:
        found = {
            plan.cell(entry.number).variant.labels["optim.lr"]: entry for entry in queue.entries()
        }
    assert {lr: entry.state for lr, entry in found.items()} == {
        "1e-05": "stopped",
        "2e-05": "stopped",
        "4e-05": "done",
        "5e-05": "done",
    }
    assert found["1e-05"].reason == "dev 10.00 after 50% of the training: place 4 of 4"
    stopped = plan.run(plan.cell(found["1e-05"].number))
    assert (
        max(
            event.step
            for event in events.events_after(stopped.events_file)[0]
            if isinstance(event, events.Dev)
        )
        < 8
    )

    prepare_grid(
        plan, folder, rungs
    )  # the same budget leaves them stopped, none brings them to the end
    with Queue(folder.queue_file) as queue:
        assert Counter(entry.state for entry in queue.entries()) == {"done": 2, "stopped": 2}
    monkeypatch.delenv("HOLD_AT")
    prepare_grid(plan, folder)
    work_here(folder)
    with Queue(folder.queue_file) as queue:
        assert Counter(entry.state for entry in queue.entries()) == {"done": 4}


def test_a_failed_cell_does_not_hold_the_others_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "HOLD_AT", "4"
    )  # however late the worker looks, it finds the cell at its rung
    plan = plan_of(tmp_path, SIX.replace("[1, 2]", "[1]"))
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    best = next(cell for cell in plan.cells if cell.variant.labels["optim.lr"] == "5e-05")
    monkeypatch.setenv("FAULTS", json.dumps({best.id: "diverge"}))
    prepare_grid(plan, folder, rungs_for(0.8))
    run_cells(plan, folder, LocalWorkers(folder, 2, program=STAND_IN))
    with Queue(folder.queue_file) as queue:
        states = {
            plan.cell(entry.number).variant.labels["optim.lr"]: entry.state
            for entry in queue.entries()
        }
    assert states == {"1e-05": "stopped", "2e-05": "done", "4e-05": "done", "5e-05": "failed"}
