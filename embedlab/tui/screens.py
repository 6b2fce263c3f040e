"""The screens of the dashboard: each folder beside this file that holds screen.py, keys.py and
help.md, and styles.tcss if it has any.

keys.py states the ENTRY of the screen; screen.py defines its class, `PairsScreen` for the folder
`pairs`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from textual.screen import Screen

import embedlab.tui as package
from embedlab.tui.command import ScreenEntry


@dataclass(frozen=True, kw_only=True)
class FoundScreen:
    """A screen by its folder; its module is not loaded before the screen is shown."""

    name: str
    folder: Path
    entry: ScreenEntry

    def open(self) -> Screen[Any]:
        """Load the screen: the first paint does not wait for the others."""
        class_name = "".join(word.capitalize() for word in self.name.split("_")) + "Screen"
        screen: Screen[Any] = getattr(
            import_module(f"{package.__name__}.{self.name}.screen"), class_name
        )()
        return screen

    @property
    def help(self) -> str:
        """The text of its help file."""
        return (self.folder / "help.md").read_text(encoding="utf-8")


def find_screens(folders: Iterable[str]) -> Mapping[str, FoundScreen]:
    """The screens in these FOLDERS by name, in the order of their keys."""
    paths = [path.parent for folder in folders for path in Path(folder).glob("*/screen.py")]
    screens = [
        FoundScreen(
            name=path.name,
            folder=path,
            entry=import_module(f"{package.__name__}.{path.name}.keys").ENTRY,
        )
        for path in paths
    ]
    return MappingProxyType(
        {
            screen.name: screen
            for screen in sorted(screens, key=lambda found_screen: found_screen.entry.key)
        }
    )


SCREENS = find_screens(package.__path__)


def style_sheets(base: Path) -> list[str | PurePath]:
    """BASE, then the styles of each screen."""
    return [
        base,
        *(path for screen in SCREENS.values() if (path := screen.folder / "styles.tcss").is_file()),
    ]
