"""The pictures of the dashboard over the starter set and the runs of the demo.

`python docs/pictures.py` takes them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from textual.widgets import Static

from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from tests.tui.world import until

MODELS = ("minilm", "demo-supcl", "dice")
SIZE = (140, 45)
POSES = {
    "pairs": ("1", "s"),
    "compare": ("2", "w"),
    "runs": ("3",),
}  # the keys to what a picture shows
PATIENCE_S = 300.0


def train(folder: Path) -> None:
    """Train the demo's two models in FOLDER, as far as they are not there."""
    environment = {**os.environ, "EMBEDLAB_CACHE": "cache", "OMP_NUM_THREADS": "1"}
    shared = ["--runs", "runs", "--device", "cpu", "--threads", "1", "--quiet"]
    command = [sys.executable, "-m", "embedlab", "demo", *shared]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


async def photograph(into: Path) -> list[Path]:
    """Write the pictures over the runs of the present folder."""
    settings = Settings(data=STARTER_FOLDER, runs=Path("runs"), cache=Path("cache"), device="cpu")
    app = Dashboard(settings)
    app.begin_with(MODELS, "starter")
    taken: list[Path] = []
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.view and app.comparison, PATIENCE_S)
        why = app.query_one("#why Static", Static)
        for name, pressed in POSES.items():
            for key in pressed:
                await pilot.press(key)
                await pilot.pause(2)
            if name == "compare":
                await until(pilot, lambda: "alone is right" in str(why.render()), PATIENCE_S)
            taken.append(into / f"{name}.svg")
            svg = without_fonts(app.export_screenshot(title="embedlab tui"))
            taken[-1].write_text(svg, encoding="utf-8")
            if len(app.screen_stack) > 1:
                app.pop_screen()
    return taken


def without_fonts(svg: str) -> str:
    """Return SVG without the fonts that it would load from the network: letters have their places
    without them.
    """
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
