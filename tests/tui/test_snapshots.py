"""Each screen as a picture, compared with the one beside this file.

A picture that differs is written to the folder that the failure names. Where the new one is right, delete the old one: the next run
writes it, fails once so that nobody overlooks it, and passes from then on. They were taken with the version of Textual named below.
"""

import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.pilot import Pilot

from embedlab.core.settings import Settings
from embedlab.runs.events import Failed, Finished
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.help_screen import HelpScreen
from embedlab.tui.launch.form import choices
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.pairs.screen import REST_S, PairsScreen
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.curve_plot import CurvePlot
from tests.tui.driving import NARROW, WIDE, Open, make_run, on_top, until

PICTURES = Path(__file__).parent / "snapshots"
TEXTUAL = "8.2.8"
PATIENCE_S = 5.0
NOW = 1_700_000_000.0
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "140x45"])

pytestmark = pytest.mark.skipif(version("textual") != TEXTUAL, reason=f"the pictures were taken with textual {TEXTUAL}")


async def compare_picture(pilot: Pilot[None], name: str, folder: Path) -> None:
    """Fail unless the screen comes to look as it did; a busy machine draws late."""
    kept = PICTURES / f"{name}.svg"
    ending = time.monotonic() + PATIENCE_S
    while True:
        drawn = await settled_picture(pilot)
        if not kept.exists() or drawn == kept.read_text(encoding="utf-8") or time.monotonic() > ending:
            break
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(drawn, encoding="utf-8")
        pytest.fail(f"there was no picture {kept.name}: look at the one that is there now")
    if drawn != kept.read_text(encoding="utf-8"):
        (new := folder / kept.name).write_text(drawn, encoding="utf-8")
        pytest.fail(f"{kept.name} looks otherwise now: {new}")


async def settled_picture(pilot: Pilot[None]) -> str:
    """The screen once it stays as it is."""
    drawn, before = pilot.app.export_screenshot(), ""
    while drawn != before:
        await pilot.pause(2 * REST_S)
        drawn, before = pilot.app.export_screenshot(), drawn
    return drawn


@pytest.fixture
def quiet(world: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Four runs whose last words are always equally old, under a path that is always the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("embedlab.tui.runs.board.time", lambda: NOW)
    settings = replace(world, runs=Path("runs"))
    make_run(settings, "near", 1, Finished(step=20, time=NOW - 70), now=NOW)
    make_run(settings, "near", 2, Finished(step=20, time=NOW - 60), now=NOW)
    make_run(settings, "far", 1, Failed(message="loss is nan", time=NOW - 50), now=NOW, lr=1e-3)
    make_run(settings, "lost", 1, now=NOW)
    return settings


@SIZES
async def test_pairs(opened: Open, size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(size=size) as pilot:
        await pilot.press("j", "space", "j")
        await compare_picture(pilot, f"pairs-{size[0]}x{size[1]}", tmp_path)


@SIZES
async def test_compare(opened: Open, size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(size=size) as pilot:
        await pilot.press("2")
        screen = await on_top(pilot, CompareScreen)
        await until(pilot, lambda: screen.result is not None, patience_s=60)
        await compare_picture(pilot, f"compare-{size[0]}x{size[1]}", tmp_path)


@SIZES
async def test_runs(opened: Open, quiet: Settings, size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(quiet, size=size) as pilot:
        await pilot.press("3", "space", "j", "space")
        screen = await on_top(pilot, RunsScreen)
        await until(pilot, lambda: len(screen.query_one("#loss-curves", CurvePlot).shown) == 2)
        await pilot.press("f")
        await until(pilot, lambda: not screen._is_looking)
        await compare_picture(pilot, f"runs-{size[0]}x{size[1]}", tmp_path)


@SIZES
async def test_launch(opened: Open, quiet: Settings, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = [choice for choice in choices() if choice.name in {"snli-ce", "snli-supcl", "snli-supcl-lambda"}]  # more may be added
    monkeypatch.setattr("embedlab.tui.launch.screen.choices", lambda: named)
    async with opened(quiet, size=size) as pilot:
        await pilot.press("4")
        screen = await on_top(pilot, LaunchScreen)
        await until(pilot, lambda: screen.launch is not None)
        await pilot.press("end")
        await until(pilot, lambda: screen.launch is not None and screen.launch.plan is not None)
        await compare_picture(pilot, f"launch-{size[0]}x{size[1]}", tmp_path)


async def test_help(opened: Open, tmp_path: Path) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("question_mark")
        await on_top(pilot, HelpScreen)
        await compare_picture(pilot, "help", tmp_path)


async def test_nothing_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = Dashboard(Settings(cache=Path("cache"), runs=Path("runs")))
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PairsScreen) and app.screen.query_one("#no-pairs").display)
        await compare_picture(pilot, "nothing-at-hand", tmp_path)
