"""Runs in a small terminal: a long name hides neither the dev score nor the time left."""

from dataclasses import replace
from pathlib import Path

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, Open, make_run, on_top, until

NAME = "a-recipe-whose-name-has-40-letters-x-yz"


async def test_a_long_name_leaves_the_dev_score_and_the_time_left_in_sight(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    for seed in (1, 2):
        make_run(settings, NAME, seed, Finished(step=20, time=1.7e9))
    make_run(settings, "other", 1, Finished(step=20, time=1.7e9))
    async with opened(settings, size=NARROW) as pilot:
        await pilot.press("3")
        screen = await on_top(pilot, RunsScreen)
        table = screen.query_one(FrameTable)
        await until(pilot, lambda: len(table.rows) > 0)
        header, lines = table.render_line(0).text, [table.render_line(y).text for y in (1, 2, 3)]
        assert [title in header for title in ("state", "progress", "dev", "left")] == [True] * 4
        line = next(line for line in lines if "a-recipe" in line)
        assert "71.50" in line
        assert "…" in line.split()[0]  # cut in the middle: its end is in sight
        await pilot.resize_terminal(140, 45)
        await pilot.press("r")
        await until(pilot, lambda: NAME in table.render_line(1).text + table.render_line(2).text)
