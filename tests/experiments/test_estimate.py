"""The time a grid still costs, from what runs and cells took."""

import json
import os
import shutil
import time

import pytest

from embedlab.core.recipe import from_table
from embedlab.experiments.cells import CellEntry, CellLock
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.progress import START_UP, TRAINING, CellTimes, Cost, GridFollower
from embedlab.reports.grids import cells_table
from embedlab.reports.layout import plain_text
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from tests.stored_scores import begin_run, step_of


def waiting(plan: GridPlan) -> list[CellEntry]:
    return [CellEntry(cell=cell, state="waiting") for cell in plan.cells]


def cost_of(plan: GridPlan, workers: int = 1) -> Cost:
    return CellTimes.of(plan, waiting(plan)).cost(workers)


def write_run(plan: GridPlan, name: str, written: list[events.Event]) -> None:
    run = RunFolder.of(plan.place.runs, name, 1)
    begin_run(run, from_table(dict(plan.variants[0].recipe), name=name, where="here"), *written)


def started(time: float, step: int = 0) -> events.Event:
    return events.Started(time=time, pid=1, host="here", steps=10, step=step)


def finished(time: float) -> events.Event:
    return events.Finished(time=time, step=10)


def fast_last_step(time: float) -> events.Event:
    return step_of(10, 10, time=time, stage=1, rows_per_s=1e6)


def test_a_cell_takes_a_start_the_rows_of_its_training_and_its_tasks(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = str(short_plan.cell(1).variant.recipe["encoder"]["model"])
    rows = short_plan.cell(1).variant.rows
    times = {(encoder, TRAINING): 200.0 / rows, (encoder, START_UP): 7.0}
    monkeypatch.setattr("embedlab.experiments.progress.measured_seconds", lambda *_: times)
    cost = cost_of(short_plan)
    assert (cost.seconds, cost.measured) == (None, "sts not measured yet")
    times[encoder, "sts"] = 20.0
    for workers, seconds in ((1, 3 * 227.0), (3, 227.0)):
        cost = cost_of(short_plan, workers)
        assert cost.seconds == pytest.approx(seconds)


def write_cell(plan: GridPlan, name: str, whole_s: float) -> None:
    """Write the attempts of a cell of an earlier grid, whose run has this NAME."""
    earlier = GridFolder.of(plan.place.runs, f"grid-{name}")
    with events.EventLog(earlier.cells / f"{name}@1.jsonl") as log:
        log.append(events.Attempt(state="failed", errors=1, seconds=20.0))
        log.append(events.Attempt(state="done", seconds=whole_s - 20.0))


@pytest.mark.parametrize(
    "written",
    [
        [],
        [started(0.0), fast_last_step(5.0)],
        [started(0.0), started(5000.0, step=5), fast_last_step(5100.0), finished(5100.0)],
    ],
    ids=["nothing", "unfinished", "paused"],
)
def test_a_run_that_did_not_go_through_in_one_go_says_nothing_of_the_time(
    short_plan: GridPlan, written: list[events.Event]
) -> None:
    write_run(short_plan, "other", written)
    write_cell(short_plan, "other", 9000.0)
    cost = cost_of(short_plan)
    assert (cost.seconds, cost.measured) == (None, "nothing measured yet")


@pytest.fixture
def earlier(short_plan: GridPlan) -> None:
    """A cell of an earlier grid that was trained and not scored."""
    write_run(short_plan, "other", [started(0.0), finished(9.0)])
    write_cell(short_plan, "other", 30.0)


@pytest.mark.usefixtures("earlier")
def test_a_damaged_run_says_nothing_of_the_time_and_stops_nothing(short_plan: GridPlan) -> None:
    assert cost_of(short_plan).measured == "sts not measured yet"
    RunFolder.of(short_plan.place.runs, "other", 1).recipe_file.write_text("no toml at all")
    assert cost_of(short_plan).seconds is None


@pytest.mark.usefixtures("earlier")
def test_a_copy_of_attempts_under_another_name_is_of_no_cell(short_plan: GridPlan) -> None:
    cells = GridFolder.of(short_plan.place.runs, "grid-other").cells
    shutil.copy(cells / "other@1.jsonl", cells / "other@1 (copy).jsonl")
    assert cost_of(short_plan).measured == "sts not measured yet"


def test_scoring_of_earlier_grids_is_part_of_the_estimate_and_the_time_left_moves(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    for name, ended, whole_s in (
        ("cell", now - 60.0, 170.0),
        ("resumed", now - 600.0, 170.0),
    ):  # trained for 100 s
        write_run(short_plan, name, [started(ended - 100.0), finished(ended)])
        run = RunFolder.of(short_plan.place.runs, name, 1)
        run.evaluations.mkdir()
        (run.evaluations / "sts.json").write_text("{}")
        os.utime(run.evaluations / "sts.json", (now, now))
        write_cell(short_plan, name, whole_s)
    cost = cost_of(short_plan)
    assert cost.measured == "earlier cells of the same encoder"
    assert cost.seconds == pytest.approx(
        3 * (100.0 + 60.0 + 10.0), abs=1.0
    )  # the start took 10 s; 600 s of scoring do not fit into 170 s

    first, follower = short_plan.cell(1), GridFollower(short_plan)
    write_run(short_plan, first.variant.run, [started(now)])
    with CellLock(first) as lock:
        assert lock.acquire()
        for later, left in ((10.0, 500.0), (40.0, 470.0), (1000.0, 340.0)):
            monkeypatch.setattr(
                "embedlab.experiments.progress.time.time", lambda later=later: now + later
            )
            assert follower.look().cost.seconds == pytest.approx(left, abs=2.0)


def test_a_list_of_cells_says_what_each_is_expected_to_take(short_plan: GridPlan) -> None:
    entries = waiting(short_plan)
    table = cells_table(short_plan, entries, {entry.cell.id: 91.0 for entry in entries})
    assert [row["seconds"] for row in json.loads(table.to_json())["rows"]] == [91.0] * 3
    assert "1m31s" in plain_text(table)
    assert "expected" not in plain_text(cells_table(short_plan, entries))
