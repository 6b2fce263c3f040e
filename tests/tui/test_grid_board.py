from dataclasses import replace
from pathlib import Path

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.estimate import Cost
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.grid_trainings import expand_grid
from embedlab.experiments.pivot import Spread, apart_over_seeds, marked_best
from embedlab.experiments.plan import GridPlace
from embedlab.experiments.progress import CellProgress, GridProgress
from embedlab.experiments.queue import CellState, QueueEntry
from embedlab.runs.events import EventLog, Failed, Step
from embedlab.tui.launch.grid_board import GridLook, chosen, shown, step_text
from embedlab.tui.launch.heat import Heat
from embedlab.tui.launch.heat_map import draw_heat_map


def test_the_board_shows_cells_that_were_cancelled_and_a_grid_at_rest(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")
    plan = expand_grid(load_grid("sbert-lr"), GridPlace.of(settings))
    entries = [
        QueueEntry(run=cell.variant.run, seed=cell.seed, number=cell.number, state="waiting")
        for cell in plan.cells
    ]
    first = [cell.number for cell in plan.cells if cell.variant == plan.variants[0]]

    def board(*states: CellState) -> GridLook:
        state_of = dict(zip(first, states, strict=False))
        found = tuple(
            replace(entry, state=state_of.get(entry.number, entry.state)) for entry in entries
        )
        return shown(
            GridProgress(
                plan=plan,
                entries=found,
                running=(),
                cost=Cost(cells=18, seconds=None, measured="nothing", disk_bytes=0),
            )
        )

    look = board("running", "cancelled", "waiting")
    assert "‖ 1 cancelled" in look.lines[1]
    assert "1/18" in look.lines[0]
    assert look.heat.states[look.heat.rows[0], look.heat.columns[0]] == "▶"
    assert "no process works on it: embedlab grid run sbert-lr goes on" in look.lines[3]


def test_a_cell_that_is_trained_is_shown_as_being_scored() -> None:
    step = Step(
        stage=0,
        epoch=1.0,
        step=19,
        steps=20,
        loss=0.1,
        lr=1e-5,
        rows_per_s=1.0,
        eta_s=1.0,
        memory_mib=1.0,
    )
    assert "19/20  loss 0.1000" in step_text(step)
    assert "its tasks are being scored" in step_text(replace(step, step=20))


def test_a_killed_cell_that_goes_on_and_a_failed_one_say_why(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")
    plan = expand_grid(load_grid("sbert-lr"), GridPlace.of(settings))
    cells, step = (
        list(plan.cells),
        Step(
            stage=0,
            epoch=1.0,
            step=12,
            steps=20,
            loss=0.1,
            lr=1e-5,
            rows_per_s=1.0,
            eta_s=1.0,
            memory_mib=1.0,
        ),
    )
    entries = [
        QueueEntry(run=cell.variant.run, seed=cell.seed, number=cell.number, state="waiting")
        for cell in cells
    ]
    entries[:2] = [
        replace(entries[0], state="running", kills=1),
        replace(entries[1], state="failed", reason="'snli' is truncated"),
    ]
    with EventLog(plan.run(cells[1]).events_file) as log:
        log.append(Failed(message="'snli' is truncated", hint="get the whole corpus"))
    running = CellProgress(cell=cells[0], entry=entries[0], step=step, resumed_at=10)
    cost = Cost(
        cells=17,
        seconds=26.0,
        measured="other runs",
        disk_bytes=0,
    )
    lines = shown(
        GridProgress(plan=plan, entries=tuple(entries), running=(running,), cost=cost)
    ).lines
    assert lines[2].startswith("left: about 26s, measured on other runs")
    assert lines[3].endswith("goes on from step 10: its process was killed")
    assert lines[4].endswith("'snli' is truncated")
    assert lines[5] == "  hint: get the whole corpus"


def test_the_map_marks_the_best_and_says_how_far_it_is_too_high() -> None:
    spreads = {
        ("a", "1"): Spread(values=(80.0, 81.0)),
        ("a", "2"): Spread(values=(80.4, 81.4)),
        ("b", "1"): Spread(values=(10.0, 10.1)),
    }
    marks, note = chosen(spreads)
    expected = marked_best(spreads, apart_over_seeds)
    assert marks == {("a", "1"): "=", ("a", "2"): "*"}
    assert f"best of 3, about {expected['a', '2'].optimism:.2f} too high" in note
    assert chosen({("a", "1"): Spread(values=(80.0,)), ("a", "2"): Spread(values=(81.0,))})[
        1
    ].endswith("unknown amount: one seed")
    assert chosen({("a", "1"): Spread(values=(80.0,))}) == ({}, "")
    heat = Heat(
        title="dev",
        rows=["a"],
        columns=["1", "2"],
        values={("a", "1"): 80.5, ("a", "2"): 80.9},
        states={},
        marks=marks,
        note=note,
    )
    lines = draw_heat_map(heat).plain.splitlines()
    assert "80.50=" in lines[2]
    assert "80.90*" in lines[2]
    assert lines[-1] == note
