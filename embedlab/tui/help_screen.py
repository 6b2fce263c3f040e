"""The help of a screen: its introduction and the table of its keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from embedlab.tui.command import Command, KeyScope
from embedlab.tui.commands import COMMANDS
from embedlab.tui.screens import SCREENS

_TITLES = {"everywhere": "Everywhere", "table": "In a table", "plot": "In a plot", "curves": "In curves"}


class HelpScreen(ModalScreen[None]):
    """The purpose of a screen and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1", "dismiss", "Close")]

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._screen = screen

    def compose(self) -> ComposeResult:
        found = SCREENS[self._screen]
        with VerticalScroll(classes="dialog"):
            yield Static(_introduction(found.help), markup=False)
            for scope in (self._screen, *found.entry.parts, "everywhere"):
                yield Static(help_section(scope, self._screen))

    def on_mount(self) -> None:
        """Let the arrow keys scroll at once."""
        self.query_one(VerticalScroll).focus()


def help_section(scope: KeyScope, screen: str) -> Content:
    """The keys of a scope and their effects in two columns, without the keys that SCREEN uses for something else."""
    taken = {key for command in COMMANDS[screen] for key in _keys(command)} if scope == "table" else set()
    rows = [("  ".join(key for key in _keys(command) if key not in taken), command.tooltip) for command in COMMANDS[scope]]
    width = max(len(keys) for keys, _ in rows)
    lines = [Content.styled(_TITLES.get(scope, "On this screen"), "bold $text-primary")]
    lines += [Content.assemble((f"{keys:<{width}}", "$text-accent"), f"   {tooltip}") for keys, tooltip in rows]
    return Content("\n").join(lines)


def _introduction(text: str) -> str:
    """The TEXT of a help file with each paragraph on one line: the widget wraps it."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


def _keys(command: Command) -> list[str]:
    return command.shown_keys.split() if command.shown_keys else command.keys.split(",")
