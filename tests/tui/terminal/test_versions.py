"""Private parts of Textual are used in one folder, with the versions that it names, and not at all
where they are switched off.
"""

import ast
import inspect
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from packaging.requirements import Requirement
from textual.widgets import Static

import embedlab.tui
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.help_screen import HelpScreen
from embedlab.tui.model_chooser import ChooseModels
from embedlab.tui.pairs.what_if_screen import WhatIfScreen
from embedlab.tui.screens import SCREENS
from embedlab.tui.terminal.versions import ENDING, LOWEST, installed, is_known, is_tuned
from tests.tui.driving import Open, has_compared, on_top, type_text, until

ROOT = Path(__file__).parents[3]
ROOM = "embedlab.tui.terminal"
OF_OTHERS = {
    "_driver",
    "_compositor",
    "_batch_count",
    "_dirty_widgets",
    "_writer_thread",
    "_exception",
    "_parent",
    "_workers",
}  # `app._driver`


def test_the_installed_textual_is_one_that_the_folder_knows() -> None:
    of = " to ".join(".".join(map(str, version)) for version in (LOWEST, ENDING))
    assert is_known(installed()), (
        f"embedlab/tui/terminal was tested with Textual {of} (excluded), and not with {installed()}"
    )


def test_the_project_allows_these_versions_alone() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    bounds = next(
        needed.specifier for text in declared if (needed := Requirement(text)).name == "textual"
    )
    assert {str(bound) for bound in bounds} == {
        f">={LOWEST[0]}.{LOWEST[1]}",
        f"<{ENDING[0]}.{ENDING[1]}",
    }


def test_versions_are_known_by_their_first_two_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [is_known(text) for text in ("7.5.0", "8.0.0", "8.2.99", "8.3.0", "10.0")] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert is_tuned(Settings())
    assert not is_tuned(Settings(textual_tuning="off"))
    monkeypatch.setattr("embedlab.tui.terminal.versions.installed", lambda: "9.1.0")
    assert not is_tuned(Settings())


def names_of(cls: type) -> Iterator[str]:
    """The private names that the source of a class defines or reads of itself."""
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls)))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"self", "super()"}:
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def private(names: Iterator[str]) -> set[str]:
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def of_textual(base: type) -> bool:
    return base.__module__.partition(".")[0] == "textual"


def test_no_other_file_uses_a_private_name_of_textual() -> None:
    """Neither by an import, nor by a name that a class shares with a class of Textual that it is
    derived from.
    """
    known: dict[type, set[str]] = {}
    found = []
    for module in walk_packages(embedlab.tui.__path__, "embedlab.tui."):
        if module.name.startswith(ROOM):
            continue
        loaded = import_module(module.name)
        tree = ast.parse(Path(str(loaded.__file__)).read_text(encoding="utf-8"))
        imported = [
            node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        ]
        found += [
            (module.name, name) for name in imported if name.startswith("textual.") and "._" in name
        ]
        for cls in (
            item
            for item in vars(loaded).values()
            if isinstance(item, type) and item.__module__ == module.name
        ):
            theirs = {
                name
                for base in cls.__mro__
                if of_textual(base)
                for name in known.setdefault(base, private(names_of(base)))
            }
            found += [
                (module.name, f"{cls.__name__}.{name}") for name in private(names_of(cls)) & theirs
            ]
        found += [
            (module.name, node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in OF_OTHERS
        ]
    assert found == []


@pytest.fixture
def without_private_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each use of a private part an error."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a private part of Textual was used")

    for name in (
        "short_frames.ShortFrame",
        "style_sheet.StyleSheet",
        "typed_keys.TypedKeys",
        "pacing.FramePace",
        "pacing._writer",
    ):
        monkeypatch.setattr(f"{ROOM}.{name}", refuse)
    monkeypatch.setattr(f"{ROOM}.app.FramePace", refuse)
    for name in ("enable", "freeze", "set_threshold"):
        monkeypatch.setattr(f"{ROOM}.process_memory.gc.{name}", refuse)


@pytest.mark.usefixtures("without_private_parts")
async def test_the_dashboard_works_without_them(opened: Open, world: Settings) -> None:
    async with opened(replace(world, textual_tuning="off")) as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        for name, screen in reversed(SCREENS.items()):
            await pilot.press(screen.entry.key)
            await until(pilot, lambda name=name: app.current_mode == name and app.screen.is_mounted)  # type: ignore[misc]
            await until(pilot, lambda: has_compared(app))
            await pilot.press("question_mark")
            await on_top(pilot, HelpScreen)
            await pilot.press("escape")
        await pilot.press("slash")
        await type_text(pilot, "gold>4")
        await pilot.press("enter", "j", "space", "s")
        await until(
            pilot, lambda: app.selected.typed == "gold>4" and app.selected.numbers is not None
        )
        before = app.chosen
        await pilot.press("c")
        await on_top(pilot, ChooseModels)
        await pilot.press("space", "enter")
        await until(pilot, lambda: len(app.chosen) == len(before) - 1)
        await pilot.press("i")
        dialog = await on_top(pilot, WhatIfScreen)
        assert dialog.query(Static)
        await pilot.press("escape")
        assert app.crash is None
        assert app.typed_keys is None
        assert app.pace is None
        await pilot.press("q")
    assert app.return_code == 0
