"""A screen is one folder, and a plot one file: the dashboard shows a new one without another
edit.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from embedlab.tui.plots import kinds
from embedlab.tui.plots.model import VIEWS, find_views
from embedlab.tui.screens import SCREENS

KEYS = """
from embedlab.tui.command import ScreenEntry, command
ENTRY = ScreenEntry(key="9", label="Notes", tooltip="Read notes.", commands=(command("write", "Write a note.", keys="ctrl+w"),))
"""
SCREEN = """
from textual.widgets import Static
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.commands import bindings

class NotesScreen(DashboardScreen):
    SCOPE = "notes"
    BINDINGS = bindings("notes")
    def compose_body(self):
        yield Static("none", id="notes")
    def action_write(self):
        self.query_one("#notes").update("written")
"""
PROGRAM = """
import asyncio, sys
from pathlib import Path
import embedlab.tui
embedlab.tui.__path__.append(sys.argv[1])
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.help_screen import HelpScreen
from embedlab.tui.widgets.mode_bar import ModeBar
from textual.widgets import Static

async def until(holds):
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.02)

async def drive():
    app = Dashboard(Settings(cache=Path("cache"), runs=Path("runs")))
    async with app.run_test(size=(80, 24)) as pilot:
        print(app.screen.query_one(ModeBar).content)
        await pilot.press("9", "ctrl+w")
        await until(lambda: app.current_mode == "notes" and str(app.screen.query_one("#notes").content) == "written")
        notes = app.screen.query_one("#notes")
        print(app.current_mode, notes.content, notes.styles.width)
        await pilot.press("question_mark")
        await until(lambda: isinstance(app.screen, HelpScreen) and len(app.screen.query(Static)) > 1)
        print(*(part.content for part in app.screen.query(Static)))

asyncio.run(drive())
"""


def test_a_folder_with_a_screen_is_shown_with_its_keys_styles_and_help(tmp_path: Path) -> None:
    folder = tmp_path / "screens" / "notes"
    folder.mkdir(parents=True)
    files = {
        "__init__.py": "",
        "keys.py": KEYS,
        "screen.py": SCREEN,
        "help.md": "Notes on pairs.",
        "styles.tcss": "#notes { width: 17; }",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    words = [sys.executable, "-c", PROGRAM, str(folder.parent)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "5 Plots  6 Why  9 Notes" in done.stdout
    assert "notes written 17" in done.stdout
    assert "Notes on pairs." in done.stdout
    assert "Write a note." in done.stdout


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_has_its_help_and_its_state_in_files_of_their_own(name: str) -> None:
    folder = SCREENS[name].folder
    assert {"screen.py", "model.py", "help.md", "keys.py"} <= {
        path.name for path in folder.iterdir()
    }
    bases = [
        ast.unparse(base)
        for base in classes(folder / "screen.py")[f"{name.capitalize()}Screen"].bases
    ]
    assert bases == ["DashboardScreen"], (
        "a screen that is cut into classes has private state that each of them writes"
    )


def classes(path: Path) -> dict[str, ast.ClassDef]:
    return {
        node.name: node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }


def test_the_state_of_the_screens_is_there_without_textual() -> None:
    program = (
        "import importlib, sys\nfor name in sys.argv[1:]:\n    "
        "importlib.import_module(f'embedlab.tui.{name}.model')\n"
    )
    program += "print([name for name in sys.modules if name.partition('.')[0] == 'textual'])"
    done = subprocess.run(
        [sys.executable, "-c", program, *SCREENS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


PLOT = """
from embedlab.tui.plots.plotting import PlotView
from embedlab.tui.widgets.picture import Picture
def draw(pairs):
    raise NotImplementedError
PLOT = PlotView(title="MODEL by day", draw=draw, place=2)
"""


def test_a_plot_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "days.py").write_text(PLOT, encoding="utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    names = list(find_views(kinds.__path__))
    assert [name for name in names if name != "days"] == list(VIEWS)
    assert names.index("days") in {1, 2}
    assert set(VIEWS) == {path.stem for path in Path(str(kinds.__file__)).parent.glob("[!_]*.py")}


ARRAYS = re.compile(r"\b(DataFrame|Series|NDArray|Values|RowNumbers|Floats|Places|Dots)\b")


def test_what_holds_arrays_or_frames_is_not_compared_by_their_values() -> None:
    """The comparison would be an error wherever two of them are not the same object."""
    for path in sorted(Path(str(SCREENS["pairs"].folder)).parent.rglob("*.py")):
        for node in classes(path).values():
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if not any(
                text.startswith("dataclass(frozen") and "eq=False" not in text
                for text in decorators
            ):
                continue
            fields = [
                ast.unparse(field)
                for field in node.body
                if isinstance(field, ast.AnnAssign) and "compare=False" not in ast.unparse(field)
            ]
            assert not [text for text in fields if ARRAYS.search(text)], f"{path.name}: {node.name}"
