"""The pictures of the dashboard: the five screens over runs that are really trained on generated
world.

`python docs/pictures.py` takes them, with those of commands.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from textual.pilot import Pilot
from textual.widgets import OptionList

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.plots.screen import PlotsScreen
from embedlab.tui.runs.curve_plot import CurvePlot
from embedlab.tui.runs.screen import RunsScreen
from tests.tui.driving import WIDE, type_text, until

MODELS = ("demo-ce", "demo-supcl", "dice")
GRID = """
summary = "Share of the contrastive loss x learning rate, on `--data tiny`"
base = "snli-supcl"
seeds = [1]
tasks = ["sts"]

[axes]
"optim.lr" = [1e-3, 3e-3, 6e-3]
"objective.weight" = [0.1, 0.5, 0.9]
"""
PATIENCE_S = 300.0
Kind = TypeVar("Kind")


def train(folder: Path) -> None:
    """Train the demo's two models and a grid of nine cells in FOLDER, as far as they are not
    there.
    """
    (folder / "weight-lr.toml").write_text(GRID)
    environment = {**os.environ, "EMBEDLAB_CACHE": "cache", "OMP_NUM_THREADS": "1"}
    shared = ["--runs", "runs", "--device", "cpu", "--threads", "1", "--quiet"]
    for words in (
        ["demo", "--data", "tiny"],
        ["grid", "run", "weight-lr.toml", "--data", "tiny", "--set", "optim.epochs=2"],
    ):
        subprocess.run(
            [sys.executable, "-m", "embedlab", *words, *shared],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
        )


async def photograph(into: Path) -> list[Path]:
    """Write the pictures over the runs of the present folder."""
    app = Dashboard(
        Settings(data=TINY_FOLDER, runs=Path("runs"), cache=Path("cache"), device="cpu", threads=1)
    )
    taken: list[Path] = []
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.data is not None, patience_s=PATIENCE_S)
        app.choose_models(MODELS)
        await until(
            pilot,
            lambda: app.data is not None and len(app.data.models) == len(MODELS),
            patience_s=PATIENCE_S,
        )
        for pose in (_pairs, _compare, _runs, _launch, _plots):
            await pose(pilot)
            await pilot.pause(0.5)
            taken.append(into / f"{pose.__name__.removeprefix('_')}.svg")
            taken[-1].write_text(
                without_fonts(app.export_screenshot(title="embedlab tui --data tiny")),
                encoding="utf-8",
            )
    return taken


def without_fonts(svg: str) -> str:
    """Return SVG without the fonts that it would load from the network: letters have their places
    without them.
    """
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


async def _pairs(pilot: Pilot[None]) -> None:
    """Pairs with many shared words that mean different things, the largest disagreement first."""
    await pilot.press("slash")
    await type_text(pilot, "dice>0.6 gold<2")
    await pilot.press("enter", *"lllllls", "g", "j")


async def _compare(pilot: Pilot[None]) -> None:
    await pilot.press("2")
    await _holds(
        pilot,
        CompareScreen,
        lambda screen: screen.model.result is not None and not screen.model.is_preview,
    )


async def _runs(pilot: Pilot[None]) -> None:
    await pilot.press("3", "space", "space")
    await _holds(
        pilot,
        RunsScreen,
        lambda screen: len(screen.query_one("#loss-curves", CurvePlot).shown) == 2,
    )


async def _launch(pilot: Pilot[None]) -> None:
    await pilot.press("4")
    await _holds(pilot, LaunchScreen, lambda screen: screen.model.choices)
    options = pilot.app.screen.query_one(OptionList)
    options.highlighted = options.get_option_index("grid snli-supcl-lambda")
    await _holds(
        pilot,
        LaunchScreen,
        lambda screen: screen.model.launch is not None and screen.model.launch.plan is not None,
    )
    await _holds(pilot, LaunchScreen, lambda screen: screen.query_one("#grid-board").display)


async def _plots(pilot: Pilot[None]) -> None:
    """All pairs by both models, with a box around pairs that one of them alone finds similar."""
    await pilot.press("1", "escape", "5")
    await _holds(pilot, PlotsScreen, lambda screen: screen.plotted is not None)
    await pilot.press("d", "space", "H", "J")


async def _holds(pilot: Pilot[None], kind: type[Kind], fact: Callable[[Kind], object]) -> None:
    def holds() -> bool:
        screen = pilot.app.screen
        return isinstance(screen, kind) and bool(fact(screen))

    await until(pilot, holds, patience_s=PATIENCE_S)
