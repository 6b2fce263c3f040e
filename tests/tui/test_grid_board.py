"""Launching a grid, and its board: what each place scored, and which of them dev chooses."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.schema import read_toml
from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.runs.store import RunFolder
from embedlab.tui.runs.curves import CurvePlot
from embedlab.tui.runs.detail import result_rows
from embedlab.tui.runs.grid_model import build_board, read_scores, spread_text
from embedlab.tui.runs.grid_screen import _number
from embedlab.tui.runs.model import RunFollower
from embedlab.tui.runs.room import results_text
from embedlab.tui.runs.run_list import line_of
from tests.stored_scores import say
from tests.tui.world import (
    Open,
    at_once,
    launch_sheet,
    make_grid,
    make_run,
    rooms_alone,
    screen_text,
    shows,
    step_of,
    until,
)


async def test_the_board_of_a_grid_follows_its_cells_without_a_key(opened: Open) -> None:
    async with opened((200, 60)) as (app, pilot):
        plan = make_grid(app.settings)

        await pilot.press("3")
        await shows(
            pilot,
            "sts  spearman · items",
            "trainings 8 finished   speed 800 rows/s   seeds 1, 2\n",
            "8 cells   61.50 ± 0.71 spearman ",
        )
        await pilot.press("enter")
        await shows(
            pilot,
            "1 Data  2 Compare  3 Runs    mine",
            "81.50 ± 0.71 *",
            "✓   seed 1   finished   loss 0.25   dev 51.00   sts12 91.00",
            "╭─ dev score ─",
        )
        run = RunFolder.of(app.settings.runs, plan.variants[0].run, 1)
        say(run, step_of(40, 50, loss=6.5))  # as of a cell that was resumed elsewhere
        await shows(pilot, "step 40 of 50   loss 6.5")
        plot = app.screen.query_one("#loss-curve", CurvePlot)
        await until(pilot, lambda: any(6.5 in one.y for one in plot._series))
        await pilot.press("c")
        assert app.focused is app.screen.query_one("#places")
        await pilot.press("2")  # the keys of the rooms lead there
        await until(pilot, lambda: app.screen is app.main and app.room.id == "compare")


async def test_the_panes_of_a_grid_that_waits_show_no_other_run(opened: Open) -> None:
    async with opened((200, 60)) as (app, pilot):
        plan = make_grid(app.settings)
        make_run(app.settings, "before", 1, Finished(step=30))
        for variant in plan.variants:
            shutil.rmtree(app.settings.runs / variant.run)
        app.go_to_run("before")
        await shows(pilot, "nli_softmax", "╭─ loss ─", "0.25 ─╯")
        app.go_to_run(plan.name)
        await shows(pilot, "nothing recorded")
        assert "nli_softmax" not in screen_text(app)
        await pilot.press("enter")
        await shows(pilot, "0 of 8 cells done")
        shutil.rmtree(plan.folder.path)
        await rooms_alone(pilot)


async def test_a_grid_is_launched_and_its_board_opened_in_twelve_keys_and_its_values(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Sequence[str]] = []

    async def start(choice: object, words: Sequence[str], settings: Settings) -> None:
        started.append(words)

    async def tried(words: Sequence[str]) -> str:
        return "2 cells"

    monkeypatch.setattr("embedlab.tui.runs.launch_sheet.start_choice", start)
    monkeypatch.setattr("embedlab.tui.runs.launch_sheet.dry_run", tried)
    async with opened() as (app, pilot):
        make_grid(app.settings)

        async def value(field: str, text: str) -> None:
            await until(pilot, lambda: getattr(app.focused, "name", None) == field)
            at_once(pilot, text)

        await pilot.press("3", "n")
        await launch_sheet(pilot)
        await value("words", "tau")
        await pilot.press("enter")
        await value("name", "mine")
        assert "all other values (TOML); [axes] adds axes" in screen_text(app)
        await pilot.press("tab")
        await value("axis objective.temperature", "[0.5]")
        await pilot.press("tab", "tab", "tab")
        await value("rows", "64")
        await pilot.press("tab")
        await value("seeds", "2")
        await pilot.press("ctrl+s")  # the ninth key
        await rooms_alone(pilot)
        words = started[0]
        assert tuple(words[:2]) == ("grid", "run")
        assert read_toml(Path(words[2]))["axes"] == {"objective.temperature": [0.5]}
        assert "stages.data.rows=64" in words
        assert words[words.index("--seeds") + 1] == "2"
        await until(pilot, lambda: app.room.crumbs == ("mine",))
        await pilot.press("enter")
        await shows(pilot, "81.50 ± 0.71 *")


def test_a_grid_whose_best_place_is_not_scored_shows_no_score_of_another(
    settings: Settings,
) -> None:
    plan = make_grid(settings)
    for seed in plan.seeds:
        best = RunFolder.of(settings.runs, plan.variants[-1].run, seed)
        shutil.rmtree(best.evaluations)
    (entry,) = RunFollower(settings.runs).look().entries()
    assert (entry.dev.text, entry.score) == ("81.50 ± 0.71", None)
    assert "not scored" in line_of(entry, 120, 0.0, None).plain


def test_scores_of_a_grid_say_how_their_setting_was_chosen(settings: Settings) -> None:
    make_grid(settings)
    (entry,) = RunFollower(settings.runs).look().entries()
    without_dev = tuple(
        replace(training, status=replace(training.status, dev=None)) for training in entry.trainings
    )
    for grid, said in (
        (entry, "the best setting by dev, "),
        (replace(entry, trainings=without_dev), "the first setting, as none has a dev score, "),
    ):
        text = results_text(result_rows(grid), grid).plain
        assert text.startswith(f"{said}{grid.seeds[0].run.name}\n")


def test_places_of_two_axes_have_their_own_scores_and_dev_chooses(settings: Settings) -> None:
    plan = make_grid(settings)
    (entry,) = RunFollower(settings.runs).look().entries()
    scores = read_scores(plan, settings)
    found = build_board(entry, scores)
    assert found.columns == ("dev", "sts12")
    texts = [[spread_text(row.numbers[column]) for column in found.columns] for row in found.rows]
    assert texts == [
        [f"{51.5 + 10 * n:.2f} ± 0.71", f"{91.5 - 10 * n:.2f} ± 0.71"] for n in range(4)
    ]
    assert [row.numbers["dev"].is_best for row in found.rows] == [False, False, False, True]
    assert found.verdict.startswith("dev chooses lr 2e-05, pooling mean with 81.50 ± 0.71; sts12")
    flawed = {key: replace(own, is_flawed=not own.is_best) for key, own in scores.spreads.items()}
    verdict = build_board(entry, replace(scores, spreads=flawed)).verdict
    assert "; no other setting learnt anything" in verdict


def test_places_with_the_same_best_number_are_named_and_flawed_ones_are_no_best(
    settings: Settings,
) -> None:
    plan = make_grid(settings, devs=(50, 60, 80, 80))
    (entry,) = RunFollower(settings.runs).look().entries()
    scores = read_scores(plan, settings)
    flawed = {
        key: replace(own, is_flawed=True, is_best=False) for key, own in scores.spreads.items()
    }
    board = build_board(entry, replace(scores, spreads=flawed))
    assert board.verdict == "none can be the best: no training learnt anything"
    assert _number("dev", board.rows[0]).plain == "51.50 ± 0.71 ✗"
    assert build_board(entry, scores).verdict == (
        "none is the best: lr 2e-05, pooling cls; lr 2e-05, pooling mean have the same dev"
    )
