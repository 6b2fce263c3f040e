"""`embedlab grid`: what it prints and how it ends. The work itself is tested in
tests/experiments.
"""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from embedlab.cli.app import main
from embedlab.core.errors import ExitCode
from embedlab.experiments.cells import CellLock, hold_plan, prepare_grid
from embedlab.experiments.executors.executor import LocalTasks
from embedlab.experiments.plan import GridPlan
from tests.experiments.conftest import GRID, STAND_IN, plan_of, work_here
from tests.experiments.test_pivot import SCORES, write_results


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GridPlan:
    monkeypatch.chdir(tmp_path)
    return plan_of(tmp_path, GRID.replace('"cls", "mean"', '"cls"').replace("[1, 2]", "[1]"))


def run_stand_in(plan: GridPlan) -> None:
    prepare_grid(plan)
    work_here(plan)


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = ExitCode.OK) -> str:
    """What a command writes to stdout."""
    capsys.readouterr()
    assert main(["grid", *words]) == code
    return capsys.readouterr().out


def states(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The state of each cell."""
    found = json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))
    return [row["state"] for row in found["rows"]]


def grids_by_name(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found = json.loads(answer(capsys, "status", "--data", "tiny", "--json"))
    return {row["grid"]: row for row in found["rows"]}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are worked on by a program that trains nothing and needs no encoder."""
    program = partial(LocalTasks, program=STAND_IN)
    monkeypatch.setattr("embedlab.commands.grid_run.LocalTasks", program)
    monkeypatch.setattr("embedlab.commands.grid_plan.lost_encoders", lambda *_: [])


def test_a_dry_run_lists_the_cells_and_starts_nothing(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "mine.toml", "--dry-run", "--data", "tiny", "--json", "--workers", "2"]
    assert main(["grid", *words]) == ExitCode.OK
    said = capsys.readouterr()
    rows = json.loads(said.out)["rows"]
    assert said.err.startswith("mine: 3 cells, 3 to do, 2 at once, 1 thread each; nothing measured")
    assert [row["optim.lr"] for row in rows] == [1e-05, 2e-05, 5e-05]
    assert {row["encoder.pooling"] for row in rows} == {"cls"}
    assert not any(row["done"] for row in rows)
    assert not plan.folder.path.exists()


def test_kinds_of_scores_that_are_named_are_all_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(tmp_path)  # two axes, which are rows and columns where nothing is chosen
    write_results(plan, list(plan.cells))
    prepare_grid(plan)
    words = ("table", "mine", "--data", "tiny")
    assert "encoder.pooling mean" in answer(capsys, *words)
    shown = answer(capsys, *words, "--by", "dataset")
    assert all(name in shown for name in SCORES)


def test_an_axis_has_one_value_to_select_and_is_shown_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(tmp_path)
    write_results(plan, list(plan.cells))
    prepare_grid(plan)
    axis = "encoder.pooling"
    words = ("table", "mine", "--data", "tiny", "--where", f"{axis}=cls", "--where")
    assert answer(capsys, *words, f"{axis}=mean", code=ExitCode.USAGE) == ""
    shown = answer(capsys, *words, f"{axis}=cls", "--rows", "optim.lr", "--rows", "optim.lr")
    assert shown.count("optim.lr") == 1


@pytest.mark.usefixtures("stand_in")
def test_cells_that_fail_are_reported_with_their_reasons_and_end_the_grid_with_1(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = {plan.cell(1).id: "diverge", plan.cell(3).id: "memory"}
    monkeypatch.setenv("FAULTS", json.dumps(faults))
    words = ("run", "mine.toml", "--data", "tiny", "--workers", "2", "--json")
    capsys.readouterr()
    assert main(["grid", *words]) == ExitCode.FAILED
    said = capsys.readouterr()
    assert said.err.startswith("mine: 3 cells, 3 to do, 2 at once")
    table = json.loads(said.out)
    assert {row["cell"]: (row["state"], row["reason"]) for row in table["rows"]} == {
        1: ("failed", "training diverged at step 3: the loss is nan"),
        3: ("failed", "out of memory: MemoryError: cannot allocate 4 TiB"),
    }
    assert table["notes"][0].startswith("1 of 3 cells are done")


@pytest.mark.usefixtures("stand_in")
def test_a_started_grid_goes_on_by_its_name_without_its_file(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_grid(plan)
    Path("mine.toml").unlink()
    words = ("run", "mine", "--data", "tiny")
    notes = json.loads(answer(capsys, *words, "--json"))["notes"]
    assert notes == ["3 of 3 cells are done; `embedlab grid table mine` shows their scores"]
    answer(capsys, *words, "--dry-run", "--threads", "1", "--device", "auto")  # as it was planned
    for more, reason in (
        (("--set", "optim.epochs=2.0"), "continues as it was planned"),
        (("--threads", "2"), "not with other threads"),
        (("--device", "cpu"), "not with other device"),
        (("--data", "elsewhere"), "not with other data"),
    ):
        assert main(["grid", *words, "--dry-run", *more]) == ExitCode.USAGE
        assert reason in capsys.readouterr().err


def test_a_grid_with_nothing_left_to_do_starts_nothing(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    monkeypatch.setattr(
        "embedlab.commands.grid_run.ray_tasks", lambda *_, **__: pytest.fail("nothing is to do")
    )
    words = ("run", "mine.toml", "--data", "tiny", "--cluster", "127.0.0.1:1")
    assert answer(capsys, *words).startswith("mine\n3 of 3 cells are done")
    assert main(["grid", "table", "mine", "--data", "tiny", "--task", "stss"]) == ExitCode.USAGE
    assert "'sts'" in capsys.readouterr().err


def test_a_cell_of_a_job_array_is_not_run_under_an_older_plan(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(plan)
    Path("mine.toml").write_text(
        Path("mine.toml").read_text().replace("[1e-5, 2e-5, 5e-5]", "[1e-5, 3e-5]")
    )
    monkeypatch.setattr("embedlab.commands.grid_run.run_cell", lambda *_: None)
    assert main(["grid", "run", "mine.toml", "--data", "tiny", "--cell", "2"]) == ExitCode.OK
    assert GridPlan.find(plan.place.runs, "mine").axes["optim.lr"] == ("1e-05", "3e-05")


def test_all_grids_are_listed_and_a_damaged_plan_costs_its_line_alone(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_grid(plan)
    grids = grids_by_name(capsys)
    assert grids["mine"]["axes"] == "optim.lr (3), encoder.pooling (1)"
    assert grids["mine"]["summary"] == plan.summary
    assert (grids["mine"]["started"], grids["snli-supcl-lambda"]["started"]) == (True, False)
    plan.folder.plan_file.write_text("{")
    rows = grids_by_name(capsys)
    assert "plan.json' is damaged" in rows["mine"]["summary"]
    assert rows["snli-supcl-lambda"]["axes"]


def test_status_of_a_job_array_is_read_from_its_runs(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    assert states(capsys) == ["done"] * 3
    shutil.rmtree(plan.folder.cells)
    shutil.rmtree(plan.cell(2).run.path)
    assert states(capsys) == ["done", "waiting", "done"]
    assert not plan.folder.cells.exists()
    (plan.cell(1).run.evaluations / "sts.json").unlink()
    with CellLock(plan.cell(1)) as lock:
        assert lock.acquire()  # as `grid run --cell 1` does, which now evaluates
        assert states(capsys) == ["running", "waiting", "done"]
    assert states(capsys) == ["waiting", "waiting", "done"]


def test_cancelling_answers_with_an_object_and_hints_at_the_same_grid(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    with hold_plan(plan):
        assert json.loads(answer(capsys, "cancel", "mine", "--data", "tiny", "--json")) == {
            "cancelled": "mine"
        }
    assert main(["grid", "cancel", "mine", "--data", "tiny"]) == ExitCode.USAGE
    assert "`embedlab grid status mine`" in capsys.readouterr().err


def test_a_grid_whose_encoder_is_missing_is_refused_before_any_cell(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grid", "run", "mine.toml", "--data", "tiny", "--offline"]) == ExitCode.MISSING
    error, hint = capsys.readouterr().err.splitlines()[-2:]
    assert "no encoder nobody/nothing on this machine" in error
    assert "--encoder" in hint
    assert not any(cell.run.path.exists() for cell in plan.cells)
