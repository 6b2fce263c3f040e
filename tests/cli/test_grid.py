"""`embedlab grid`: what it prints and how it ends. The work itself is tested in
tests/experiments.
"""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from embedlab.cli.app import main, program
from embedlab.commands.grid_run import sparkline
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.core.settings import Settings
from embedlab.experiments.cell import CellLock
from embedlab.experiments.executors.local import LocalWorkers
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.preparation import prepare_grid, started
from embedlab.experiments.queue import Queue
from embedlab.reports.notes import GENERATED_NOTE
from tests.experiments.conftest import GRID, STAND_IN, plan_of, work_here
from tests.experiments.test_pivot import value_of, without_evaluations, write_results
from tests.stored_json import store_values, stored_values


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GridPlan:
    monkeypatch.chdir(tmp_path)
    return plan_of(tmp_path, GRID.replace('"cls", "mean"', '"cls"').replace("[1, 2]", "[1]"))


def run_stand_in(plan: GridPlan) -> None:
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    prepare_grid(plan, folder)
    work_here(folder)


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = ExitCode.OK) -> str:
    """What a command writes to stdout."""
    capsys.readouterr()
    assert main(["grid", *words]) == code
    return capsys.readouterr().out


def test_a_dry_run_lists_the_cells_and_starts_nothing(
    plan: GridPlan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            ["grid", "run", "mine.toml", "--dry-run", "--data", "tiny", "--json", "--workers", "2"]
        )
        == ExitCode.OK
    )
    said = capsys.readouterr()
    rows = json.loads(said.out)["rows"]
    assert said.err.startswith(
        "mine: 3 cells, 3 to do, 2 at once, 1 thread each; nothing measured yet;"
    )
    assert [row["optim.lr"] for row in rows] == ["1e-05", "2e-05", "5e-05"]
    assert not any(row["done"] for row in rows)
    assert not GridFolder.of(plan.place.runs_folder, "mine").path.exists()


def test_a_dry_run_of_one_cell_shows_that_one_and_refuses_what_a_run_would(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "grid",
        "run",
        "mine.toml",
        "--dry-run",
        "--data",
        "tiny",
        "--json",
        "--workers",
        "2",
        "--cell",
    )
    assert main([*words, "2"]) == ExitCode.OK
    said = capsys.readouterr()
    (row,) = json.loads(said.out)["rows"]
    assert (row["cell"], row["run"]) == (2, plan.cell(2).id)
    assert said.err.startswith("mine: 1 of 3 cells, 1 to do, 1 at once,")
    for number in ("9", "0"):
        assert main([*words, number]) == ExitCode.USAGE
        assert capsys.readouterr().err.splitlines()[-2:] == [
            f"embedlab: error: grid 'mine' has no cell {number}",
            "hint: its cells are 1 to 3",
        ]


def test_overrides_seeds_and_threads_change_the_cells(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    def runs(*words: str) -> list[str]:
        return [
            row["run"]
            for row in json.loads(
                answer(capsys, "run", "mine.toml", "--dry-run", "--data", "tiny", "--json", *words)
            )["rows"]
        ]

    assert len(runs("--seeds", "3")) == 9
    assert not set(runs("--set", "optim.epochs=2.0")) & set(runs())
    assert not set(runs("--threads", "2")) & set(runs())


def test_status_shows_every_cell_and_lists_all_grids(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    found = json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))
    assert [row["state"] for row in found["rows"]] == ["done"] * 3
    assert found["notes"] == ["3 done"]
    grids = {
        row["grid"]: row["started"]
        for row in json.loads(answer(capsys, "status", "--data", "tiny", "--json"))["rows"]
    }
    assert grids["mine"] is True
    (listed,) = [
        row
        for row in json.loads(answer(capsys, "status", "--data", "tiny", "--json"))["rows"]
        if row["grid"] == "mine"
    ]
    assert listed["axes"] == "optim.lr (3), encoder.pooling (1)"
    assert listed["summary"] == plan.summary
    assert grids["snli-supcl-lambda"] is False


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "nothing"), ExitCode.USAGE, "no grid named 'nothing'"),
        (("run", "nothing.toml"), ExitCode.USAGE, "no grid file 'nothing.toml'"),
        (("run", "/"), ExitCode.USAGE, "'/' is a folder, not a grid"),
        (("run", __file__), ExitCode.USAGE, "is not a .toml file"),
        (("run", "mine.toml", "--budget", "0.5"), ExitCode.USAGE, "no such option: --budget"),
        (("run", "mine.toml", "--cell", "9"), ExitCode.USAGE, "no cell 9"),
        (("run", "mine.toml", "--set", "optim.lr=1"), ExitCode.USAGE, "'optim.lr' is the axis"),
        (("status", "mine"), ExitCode.USAGE, "no grid 'mine' has been started"),
        (("table", "mine"), ExitCode.USAGE, "no grid 'mine' has been started"),
        (("cancel", "mine"), ExitCode.USAGE, "no grid 'mine' has been started"),
    ],
)
def test_what_is_typed_wrong_is_said_in_two_lines(
    plan: GridPlan,
    words: tuple[str, ...],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["grid", *words, "--data", "tiny"]) == code
    said = capsys.readouterr().err
    assert message in said
    assert "hint: " in said


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            '"optim.lr" =',
            '"optim.lrr" =',
            "axis 'optim.lrr' sets 'optim.lrr', which is not a key of snli-ce",
            "optim.lr",
        ),
        (
            "summary",
            'skip = [{ "optim.lr" = [1e-5, 2e-5, 5e-5] }]\nsummary',
            "leave no cell",
            "remove",
        ),
        ("[axes]", '[axes]\ndata = ["sts12"]', "needs column", "nli"),
    ],
)
def test_what_is_wrong_in_the_grid_file_ends_with_2_before_anything_is_made(
    plan: GridPlan,
    tmp_path: Path,
    old: str,
    new: str,
    message: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    assert main(["grid", "run", "mine.toml", "--data", "tiny"]) == ExitCode.USAGE
    error, said = capsys.readouterr().err.splitlines()[-2:]
    assert message in error
    assert hint in said
    assert not GridFolder.of(plan.place.runs_folder, "mine").path.exists()


def test_a_runs_folder_that_cannot_be_written_ends_with_3(
    plan: GridPlan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    assert (
        main(["grid", "run", "mine.toml", "--data", "tiny", "--workers", "1"]) == ExitCode.MISSING
    )
    assert "cannot write" in capsys.readouterr().err


def test_cells_that_fail_are_reported_with_their_reasons_and_end_the_grid_with_1(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.commands.grid_run.LocalWorkers", partial(LocalWorkers, program=STAND_IN)
    )
    monkeypatch.setenv(
        "FAULTS", json.dumps({plan.cell(1).id: "diverge", plan.cell(3).id: "memory"})
    )
    ended = CliRunner().invoke(
        program(), ["grid", "run", "mine.toml", "--data", "tiny", "--workers", "2", "--json"]
    )
    assert ended.exit_code == ExitCode.FAILED
    table = json.loads(ended.stdout)
    assert {row["cell"]: (row["state"], row["reason"]) for row in table["rows"]} == {
        1: ("failed", "training diverged at step 3: the loss is nan"),
        3: ("failed", "out of memory: MemoryError: cannot allocate 4 TiB"),
    }
    assert table["notes"][0].startswith("1 of 3 cells are done")


def test_a_finished_grid_is_not_running(plan: GridPlan, capsys: pytest.CaptureFixture[str]) -> None:
    run_stand_in(plan)
    assert main(["grid", "cancel", "mine", "--data", "tiny"]) == ExitCode.USAGE
    assert "is not running" in capsys.readouterr().err


def test_a_started_grid_goes_on_by_its_name_without_its_file(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "embedlab.commands.grid_run.LocalWorkers", partial(LocalWorkers, program=STAND_IN)
    )
    prepare_grid(plan, GridFolder.of(plan.place.runs_folder, plan.name))
    Path("mine.toml").unlink()
    notes = json.loads(answer(capsys, "run", "mine", "--data", "tiny", "--json"))["notes"]
    assert notes == ["3 of 3 cells are done; `embedlab grid table mine` shows their scores"]
    assert (
        main(["grid", "run", "mine", "--data", "tiny", "--set", "optim.epochs=2.0"])
        == ExitCode.USAGE
    )
    assert "goes on as it was planned" in capsys.readouterr().err
    for words in (("--threads", "1"), ("--device", "auto")):  # as it was planned
        assert main(["grid", "run", "mine", "--data", "tiny", "--dry-run", *words]) == ExitCode.OK
    capsys.readouterr()
    for words in (("--threads", "2"), ("--device", "cpu"), ("--data", "elsewhere")):
        assert (
            main(["grid", "run", "mine", "--data", "tiny", "--dry-run", *words]) == ExitCode.USAGE
        )
        assert f"not with other {words[0].removeprefix('--')}" in capsys.readouterr().err


def test_a_grid_with_nothing_left_to_do_starts_nothing(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    monkeypatch.setattr(
        "embedlab.commands.grid_run.ray_tasks", lambda *_, **__: pytest.fail("nothing is to do")
    )
    words = ("run", "mine.toml", "--data", "tiny", "--cluster", "127.0.0.1:1")
    assert "3 of 3 cells are done" in answer(capsys, *words, "--json")
    assert answer(capsys, *words).splitlines() == [
        "mine",
        "3 of 3 cells are done; `embedlab grid table mine` shows their scores",
    ]


def test_a_cell_of_a_job_array_is_not_run_under_an_older_plan(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    prepare_grid(plan, folder)
    Path("mine.toml").write_text(
        Path("mine.toml").read_text().replace("[1e-5, 2e-5, 5e-5]", "[1e-5, 3e-5]")
    )
    monkeypatch.setattr("embedlab.commands.grid_run.run_cell", lambda *_: None)
    assert main(["grid", "run", "mine.toml", "--data", "tiny", "--cell", "2"]) == ExitCode.OK
    assert GridPlan.load(folder.plan_file).axes["optim.lr"] == ("1e-05", "3e-05")


def test_a_damaged_plan_costs_its_line_and_not_the_list_of_grids(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    prepare_grid(plan, folder)
    folder.plan_file.write_text("{")
    rows = {
        row["grid"]: row
        for row in json.loads(answer(capsys, "status", "--data", "tiny", "--json"))["rows"]
    }
    assert "plan.json' is damaged" in rows["mine"]["summary"]
    assert rows["snli-supcl-lambda"]["axes"]


def test_dev_scores_alone_are_tabled_and_in_the_status(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    without_evaluations(plan, list(plan.cells))
    dev = [100 * value_of(cell) for cell in plan.cells]
    for words in ((), ("--score", "dev")):
        found = json.loads(answer(capsys, "table", "mine", "--data", "tiny", "--json", *words))
        assert [row["dev"] for row in found["rows"]] == pytest.approx(dev)
        assert found["title"] == "mine: last dev score"
        assert "last dev score" in answer(
            capsys, "table", "mine", "--data", "tiny", "--latex", *words
        )
    found = json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))
    assert [row["dev"] for row in found["rows"]] == pytest.approx(dev)
    assert f"{dev[0]:.2f}" in answer(capsys, "status", "mine", "--data", "tiny")
    assert (
        main(["grid", "table", "mine", "--task", "transfer", "--data", "tiny"]) == ExitCode.FAILED
    )


def test_status_of_a_job_array_is_read_from_its_runs(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    folder.queue_file.unlink()
    shutil.rmtree(plan.run(plan.cell(2)).path)
    found = json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))
    assert [(row["state"], row["reason"]) for row in found["rows"]] == [
        ("done", ""),
        ("waiting", ""),
        ("done", ""),
    ]
    assert not folder.queue_file.exists()
    (plan.run(plan.cell(1)).evaluations / "sts.json").unlink()
    lock = CellLock(plan, plan.cell(1))
    assert lock.acquire()  # as `grid run --cell 1` does, which now evaluates
    assert states_of(capsys) == ["running", "waiting", "done"]
    lock.close()
    assert states_of(capsys) == ["waiting", "waiting", "done"]


def states_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [
        row["state"]
        for row in json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))["rows"]
    ]


def test_status_after_the_workers_died_is_that_of_the_runs(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    shutil.rmtree(plan.run(plan.cell(2)).path)
    folder.queue_file.unlink()
    with Queue(folder.queue_file) as queue:
        queue.fill([(cell.variant.run, cell.seed) for cell in plan.cells], done=())
        for _ in range(2):
            queue.claim("killed", now=0.0)
    assert states_of(capsys) == [
        "done",
        "waiting",
        "done",
    ]  # the third by a job array, as the queue does not know


def test_cancelling_answers_with_an_object_and_hints_at_the_same_grid(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    with started(plan, folder):
        assert json.loads(answer(capsys, "cancel", "mine", "--data", "tiny", "--json")) == {
            "cancelled": "mine"
        }
    assert main(["grid", "cancel", "mine", "--data", "tiny"]) == ExitCode.USAGE
    assert "`embedlab grid status mine`" in capsys.readouterr().err


def test_a_failed_cell_adds_nothing_to_the_remaining_time(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({plan.cell(1).id: "diverge"}))
    run_stand_in(plan)
    assert json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))["notes"] == [
        "2 done, 1 failed"
    ]


def test_the_table_says_how_its_numbers_were_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(tmp_path)
    plan.save(GridFolder.of(plan.place.runs_folder, plan.name).plan_file)
    write_results(plan, list(plan.cells)[:-1])
    for cell in list(plan.cells)[:-1]:
        path = plan.run(cell).evaluations / "sts.json"
        changes = {
            "pooling": cell.variant.labels["encoder.pooling"],
            "marks": ["generated", "overlap"],
            "overlaps": {
                "sts12": {"sentences": 9, "shared_sentences": 2, "pairs": 5, "shared_pairs": 0}
            },
            "notes": ["‡ test sentences that are in its training data: sts12 2 of 9"],
        }
        store_values(path, stored_values(path) | changes)
    both = ("--rows", "optim.lr", "--rows", "encoder.pooling")
    table = json.loads(answer(capsys, "table", "mine", "--data", "tiny", "--json", *both))
    assert table["title"].endswith("[generated] [overlap]")
    assert table["notes"][2:] == [
        "mean ± standard deviation of 1 to 2 seeds",
        "1 cells have no such score yet",
        GENERATED_NOTE,
        "‡ test sentences that are in its training data: sts12 2 of 9",
        "encoder.pooling cls: pooling cls, max tokens 9, precision float32",
        "encoder.pooling mean: pooling mean, max tokens 9, precision float32",
    ]
    usual = json.loads(answer(capsys, "table", "mine", "--data", "tiny", "--json"))
    assert usual["rows"] == table["rows"]  # programs read a row a place, with every score
    seen = answer(capsys, "table", "mine", "--data", "tiny", "--notes")
    assert all(word in seen for word in ("optim.lr", "cls", "mean"))  # one axis is the columns
    assert "shown is sts12-16; --score takes another" in seen.replace("\n  ", " ")
    latex = answer(capsys, "table", "mine", "--data", "tiny", "--latex")
    assert latex.count(r"\begin{tabular}") == 1
    head = latex[latex.index("toprule") : latex.index("midrule")]
    assert all(title in head for title in (r"$\eta$", "pooling = ", " cls", " mean"))
    assert r"\caption{Results of mine by $\eta$ (optim.lr) and pooling (encoder.pooling): " in latex
    averaged = json.loads(
        answer(capsys, "table", "mine", "--data", "tiny", "--json", "--rows", "encoder.pooling")
    )["notes"]
    assert (
        "1 cells have no such score yet: not every mean is over the same values of optim.lr"
        in averaged
    )
    assert {row["sts12.shared_sentences"] for row in table["rows"]} == {2}
    shown = answer(capsys, "table", "mine", "--data", "tiny", "--score", "sts12")
    assert all("‡" in line for line in shown.splitlines()[4:10])
    assert "‡" not in "".join(
        answer(capsys, "table", "mine", "--data", "tiny", "--score", "sts13").splitlines()[:10]
    )


def test_the_table_names_cells_that_were_evaluated_on_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plan_of(tmp_path)
    plan.save(GridFolder.of(plan.place.runs_folder, plan.name).plan_file)
    write_results(plan, list(plan.cells))
    part = {
        "name": "sts13",
        "split": "test",
        "rows": 9,
        "expected_rows": 9,
        "partial": False,
        "revision": None,
        "sha256": {"a": "b"},
    }
    for cell in plan.cells:
        is_short = cell.variant.labels["encoder.pooling"] == "cls"
        short = part | {
            "name": "sts12",
            "expected_rows": 9,
            "rows": 5 if is_short else 9,
            "partial": is_short,
        }
        path = plan.run(cell).evaluations / "sts.json"
        one_cells_own = [part | {"name": "sick-r"}] if cell.number == 1 else []
        store_values(path, stored_values(path) | {"data": [part, short, *one_cells_own]})
    notes = "\n".join(
        json.loads(answer(capsys, "table", "mine", "--data", "tiny", "--json"))["notes"]
    )
    assert "encoder.pooling cls: sts12 is partial: 5 of 9 rows" in notes
    assert "encoder.pooling cls: evaluated on sts12 test with 5 rows" in notes
    assert "encoder.pooling mean: evaluated on sts12 test with 9 rows" in notes
    assert "sts13" not in notes
    assert "sick-r" not in notes  # the others are not evaluated on it, which is not a difference


def test_an_unknown_task_is_refused_by_the_table(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    assert main(["grid", "table", "mine", "--data", "tiny", "--task", "stss"]) == ExitCode.USAGE
    assert "'sts'" in capsys.readouterr().err


def test_a_sparkline_goes_from_low_to_high() -> None:
    assert sparkline([1, 2, 3, 4], width=4) == "▁▃▅█"
    assert sparkline([float("nan"), 5.0]) == "▁"
    assert sparkline([]) == ""
    assert len(sparkline(list(range(1000)), width=24)) == 24


@pytest.mark.slow
def test_a_small_grid_runs_to_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real.toml").write_text(
        'summary = "Real."\nbase = "snli-ce"\nseeds = [1, 2]\n[set]\n"data.rows" = '
        '64\n"optim.lr" = 1e-3\n'
        '[axes]\n"encoder.pooling" = ["cls", "mean"]\n'
    )
    answer(capsys, "run", "real.toml", "--data", "tiny", "--workers", "2")
    rows = json.loads(
        answer(capsys, "table", "real", "--data", "tiny", "--json", "--aggregate", "wmean")
    )["rows"]
    assert [row["sts12-16.seeds"] for row in rows] == [2, 2]
    latex = answer(capsys, "table", "real", "--data", "tiny", "--latex")
    assert sum(line.endswith(r" \\") for line in latex.splitlines()) == 3 * latex.count(
        r"\begin{tabular}"
    )
    assert json.loads(answer(capsys, "run", "real.toml", "--data", "tiny", "--json"))["rows"] == []


def test_status_shows_how_far_done_cells_came(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    rows = json.loads(answer(capsys, "status", "mine", "--data", "tiny", "--json"))["rows"]
    assert [(row["state"], row["step"], row["steps"], row["loss"]) for row in rows] == [
        ("done", 8, 8, 0.125)
    ] * 3


def test_hints_carry_what_was_typed_of_runs_and_data(
    plan: GridPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stand_in(plan)
    place = ("--data", "tiny", "--runs", str(plan.place.runs))
    runs = " ".join(place[2:])
    assert f"`embedlab grid table {runs} mine`" in answer(
        capsys, "run", "mine.toml", *place, "--quiet", "--json"
    )
    assert main(["grid", "cancel", "mine", *place]) == ExitCode.USAGE
    assert f"`embedlab grid status {runs} mine`" in capsys.readouterr().err
    assert Terminal(Settings(), place, ["--data", "my data"]).placed(
        "`embedlab grid run x`, `embedlab grid status x`"
    ) == (
        f"`embedlab grid run {' '.join(place)} --data 'my data' x`, `embedlab grid status "
        f"{' '.join(place)} x`"
    )
