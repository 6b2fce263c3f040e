"""The list of runs from the files that runs leave."""

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.settings import Settings
from embedlab.experiments.cells import show_alive
from embedlab.runs.events import (
    Curve,
    Failed,
    Finished,
    Progress,
    Started,
)
from embedlab.tui.runs.curves import RunCurve, drawn_curves
from embedlab.tui.runs.detail import config_text, differences, facts, log_tail
from embedlab.tui.runs.model import (
    Entry,
    RunFollower,
    ScoreSpread,
    main_scores,
    round_ticks,
    short_number,
)
from tests.stored_scores import evaluation, say, score
from tests.tui.world import make_grid, make_run


def entries(settings: Settings, words: str = "", unfolded: tuple[str, ...] = ()) -> list[Entry]:
    return RunFollower(settings.runs).look().entries(words, unfolded)


def test_seeds_are_one_row_that_unfolds(settings: Settings) -> None:
    for seed in (1, 2, 3):
        make_run(settings, "sbert", seed, Finished(step=30), dev=70.0 + seed)
    (row,) = entries(settings)
    assert (row.name, row.dev and row.dev.text, row.states) == (
        "sbert",
        "72.00 ± 1.00",
        {"finished": 3},
    )
    assert row.last_s == max(training.status.last_s or 0.0 for training in row.trainings)
    names = [entry.name for entry in entries(settings, unfolded=("sbert",))]
    assert names == ["sbert", "sbert@1", "sbert@2", "sbert@3"]


@pytest.mark.parametrize(
    ("losses", "dev", "said"),
    [
        ((0.0, 0.0, 0.0), 50.0, "nothing was learnt"),
        ((0.0,), 50.0, ""),  # one step says nothing
        ((1.0, math.nan, math.nan), 50.0, "the loss is not a number"),
        ((1.0, 0.5, 0.2), math.nan, "the dev score is not a number"),
        ((1.0, 0.5, 0.2), 50.0, ""),
    ],
)
def test_what_is_wrong_with_the_numbers_is_said(
    settings: Settings, losses: tuple[float, ...], dev: float, said: str
) -> None:
    make_run(settings, "one", 1, Finished(step=30), losses=losses, dev=dev)
    (row,) = entries(settings)
    assert row.note.startswith(said)
    assert bool(row.note) == bool(said)


def test_words_search_name_state_and_objective(settings: Settings) -> None:
    make_run(settings, "alpha", 1, Finished(step=30))
    make_run(settings, "beta", 1, Failed(message="x"))
    assert [entry.name for entry in entries(settings, "failed")] == ["beta"]
    assert [entry.name for entry in entries(settings, "fin alp")] == ["alpha"]
    assert entries(settings, "nowhere") == []


def test_an_unreadable_runs_folder_is_an_error_and_an_absent_one_is_empty(tmp_path: Path) -> None:
    assert RunFollower(tmp_path / "absent").look().entries() == []
    file = tmp_path / "file"
    file.write_text("")
    assert RunFollower(file).look().error is not None


def test_a_grid_is_at_work_while_a_worker_is_between_two_cells(settings: Settings) -> None:
    plan = make_grid(settings)
    shutil.rmtree(settings.runs / plan.variants[0].run)
    with show_alive(plan.folder):
        (grid,) = entries(settings)
        assert (grid.is_active, grid.state) == (True, "starting")
    (grid,) = entries(settings)
    assert (grid.is_active, grid.state) == (False, "waiting")


def test_progress_counts_scoring(settings: Settings) -> None:
    make_run(settings, "one", 1, Finished(step=30))
    (training,) = RunFollower(settings.runs).look().trainings
    assert training.share == 1.0
    scoring = replace(training, status=replace(training.status, is_scoring=True))
    shares = [replace(scoring, scored=scored).share for scored in range(len(scoring.tasks) + 1)]
    assert shares[0] == 0.75
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_run_shows_test_scores_by_one_measure_and_one_setting() -> None:
    test = score("mr", 0.7, "accuracy", setting="exact", split="test")
    shown = evaluation("transfer", replace(test, split="dev"), test, replace(test, by="source"))
    assert main_scores(shown) == [test]
    spearman = score("sts12", 0.5)
    others = [replace(spearman, metric="pearson"), replace(spearman, setting="mean")]
    assert main_scores(evaluation("sts", *others, spearman)) == [spearman]


def test_a_spread_says_deviation_or_interval() -> None:
    assert ScoreSpread(values=(1.0, 3.0)).text == "2.00 ± 1.41"
    assert ScoreSpread(values=(2.0,), interval=(1.5, 2.5)).text == "2.00 [1.5, 2.5]"
    assert ScoreSpread(values=(2.0,)).text == "2.00"


def test_curves_hold_the_load_and_forget_what_a_resumed_run_repeats(settings: Settings) -> None:
    run = make_run(settings, "one", 1)
    curve = Curve()
    curve.read_on(run.events_file)
    assert [*curve.cpu_percent.values()] == [99.0, 99.0, 99.0]
    progress = Progress(step=15, steps=30, eta_s=1.0, memory_mib=5.0)
    say(run, Started(pid=1, host="h", steps=30, step=10), progress)
    curve.read_on(run.events_file)
    assert curve.memory_mib == {10: 700.0, 15: 5.0}
    assert math.isnan(curve.cpu_percent[15])
    assert [*curve.losses] == [10]


def test_details_name_recipe_log_and_differences(settings: Settings) -> None:
    first = make_run(settings, "one", 1, Finished(step=30))
    second = make_run(settings, "one", 2, Finished(step=30))
    first.log_file.write_text("a line\rthe last line\n")
    (row,) = entries(settings)
    assert dict(facts(row))["seeds"] == "1, 2"
    assert "[encoder]" in config_text(first)
    assert "checksum" not in config_text(first)
    assert log_tail(first) == ["a line", "the last line"]
    assert differences(first, second) == [("seed", "1", "2")]


def test_curves_are_drawn_between_their_ends() -> None:
    long = RunCurve(x=range(100), y=[n / 10 for n in range(100)], colour="x")
    lines = drawn_curves([long], 60, 10)
    assert len(lines) == 10
    assert {len("".join(text for text, _ in line)) for line in lines} == {60}
    for row in (0, 8):
        assert "".join(text for text, colour in lines[row] if colour == "x")
    assert drawn_curves([RunCurve(x=[1], y=[2.0], colour="x")], 60, 10)
    assert drawn_curves([RunCurve(x=[1], y=[math.nan], colour="x")], 60, 10) == []
    assert [drawn_curves([long], width, 10) for width in (0, 8, 9)] == [[], [], []]  # no room


def test_small_pictures_of_numbers() -> None:
    assert [short_number(v) for v in (12345, 0.5, 2e6, math.inf)] == ["12k", "0.5", "2M", "–"]
    assert [text for _, text in round_ticks(36.979, 36.982, 3)][:2] == ["36.979", "36.98"]
