"""The help of a screen, made from the table of its keys."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from embedlab.tui.commands import COMMANDS, Command, Place

_FOLDER = Path(__file__).parent
_TITLES = {"everywhere": "Everywhere", "table": "In a table"}


class HelpScreen(ModalScreen[None]):
    """What a screen is for, and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1", "dismiss", "Close")]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place: Place = place

    def compose(self) -> ComposeResult:
        places: tuple[Place, ...] = (self._place, "everywhere") if self._place == "launch" else (self._place, "table", "everywhere")
        with VerticalScroll(classes="dialog"):
            yield Static(_introduction(self._place), markup=False)
            for place in places:
                yield Static(help_section(place, self._place))

    def on_mount(self) -> None:
        """The arrow keys scroll at once."""
        self.query_one(VerticalScroll).focus()


def help_section(place: Place, screen: Place) -> Content:
    """The keys of a place and what they do, two columns; a key that SCREEN has for something else is left out."""
    taken = {key for command in COMMANDS[screen] for key in _keys(command)} if place == "table" else set()
    rows = [("  ".join(key for key in _keys(command) if key not in taken), command.tooltip) for command in COMMANDS[place]]
    width = max(len(keys) for keys, _ in rows)
    lines = [Content.styled(_TITLES.get(place, "On this screen"), "bold $text-primary")]
    lines += [Content.assemble((f"{keys:<{width}}", "$text-accent"), f"   {tooltip}") for keys, tooltip in rows]
    return Content("\n").join(lines)


def _introduction(place: Place) -> str:
    """The words of a screen's help file, each paragraph on one line: the widget wraps it."""
    paragraphs = (_FOLDER / place / "help.md").read_text(encoding="utf-8").strip().split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


def _keys(command: Command) -> list[str]:
    return command.shown_keys.split() if command.shown_keys else command.keys.split(",")
