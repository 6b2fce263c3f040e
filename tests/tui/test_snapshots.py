"""Four screens as pictures, two in each size of terminal, compared with the stored ones.

A different picture is written to the folder that the failure names. If it is right, delete the
stored one: the next run writes it again and fails once, to make it noticed. The pictures belong to
the version of Textual below. They leave out the mode bar, which grows with each new screen and has
its own test.
"""

import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.pilot import Pilot

from embedlab.core.settings import Settings
from embedlab.runs.events import Failed, Finished
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.launch.form import choices
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.pairs.pair_detail import REST_S
from embedlab.tui.runs.curve_plot import CurvePlot
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.mode_bar import ModeBar
from tests.tui.driving import NARROW, WIDE, Open, make_run, on_top, until

PICTURES = Path(__file__).parent / "snapshots"
TEXTUAL = "8.2.8"
PATIENCE_S = 5.0
NOW = 1_700_000_000.0

pytestmark = pytest.mark.skipif(
    version("textual") != TEXTUAL, reason=f"the pictures were taken with textual {TEXTUAL}"
)


async def compare_picture(pilot: Pilot[None], name: str, folder: Path) -> None:
    """Fail unless the screen reaches its stored look; a busy machine draws late."""
    pilot.app.screen.query_one(ModeBar).visible = False
    stored = PICTURES / f"{name}.svg"
    ending = time.monotonic() + PATIENCE_S
    while True:
        drawn = await settled_picture(pilot)
        if (
            not stored.exists()
            or drawn == stored.read_text(encoding="utf-8")
            or time.monotonic() > ending
        ):
            break
    if not stored.exists():
        stored.parent.mkdir(exist_ok=True)
        stored.write_text(drawn, encoding="utf-8")
        pytest.fail(f"there was no picture {stored.name}: check the one that was written now")
    if drawn != stored.read_text(encoding="utf-8"):
        (new := folder / stored.name).write_text(drawn, encoding="utf-8")
        pytest.fail(f"{stored.name} looks different now: {new}")


async def settled_picture(pilot: Pilot[None]) -> str:
    """The screen once it no longer changes."""
    drawn, before = pilot.app.export_screenshot(), ""
    while drawn != before:
        await pilot.pause(2 * REST_S)
        drawn, before = pilot.app.export_screenshot(), drawn
    return drawn


@pytest.fixture
def quiet(world: Settings, utc: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Four runs whose last events are always at the same time, under a path that is always the
    same.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("embedlab.tui.runs.board.time", lambda: NOW)
    settings = replace(world, runs=Path("runs"))
    make_run(settings, "near", 1, Finished(step=20, time=NOW - 70), now=NOW)
    make_run(settings, "near", 2, Finished(step=20, time=NOW - 60), now=NOW)
    make_run(settings, "far", 1, Failed(message="loss is nan", time=NOW - 50), now=NOW, lr=1e-3)
    make_run(settings, "lost", 1, now=NOW)
    return settings


async def test_pairs(opened: Open, tmp_path: Path) -> None:
    async with opened(size=WIDE) as pilot:
        await pilot.press("j", "space", "j")
        await compare_picture(pilot, "pairs", tmp_path)


async def test_compare(opened: Open, tmp_path: Path) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("2")
        screen = await on_top(pilot, CompareScreen)
        await until(
            pilot,
            lambda: screen.model.result is not None and not screen.model.is_preview,
            patience_s=60,
        )
        await until(
            pilot, lambda: not any(screen.is_working(group) for group in ("compare", "marks"))
        )  # which may show it once more
        await compare_picture(pilot, "compare", tmp_path)


async def test_runs(opened: Open, quiet: Settings, tmp_path: Path) -> None:
    async with opened(quiet, size=WIDE) as pilot:
        await pilot.press("3", "space", "j", "space")
        screen = await on_top(pilot, RunsScreen)
        await until(pilot, lambda: len(screen.query_one("#loss-curves", CurvePlot).shown) == 2)
        await pilot.press("f")
        await until(pilot, lambda: not screen._is_looking)
        await compare_picture(pilot, "runs", tmp_path)


async def test_launch(
    opened: Open, quiet: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = [
        choice
        for choice in choices()
        if choice.name in {"snli-ce", "snli-supcl", "snli-supcl-lambda"}
    ]  # more may be added
    monkeypatch.setattr("embedlab.tui.launch.model.choices", lambda: named)
    async with opened(quiet, size=NARROW) as pilot:
        await pilot.press("4")
        screen = await on_top(pilot, LaunchScreen)
        await until(pilot, lambda: screen.model.launch is not None)
        await pilot.press("end")
        await until(
            pilot, lambda: screen.model.launch is not None and screen.model.launch.plan is not None
        )
        await compare_picture(pilot, "launch", tmp_path)
