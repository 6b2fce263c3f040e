"""The help of a screen: its introduction and the table of its keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from embedlab.tui.command import KeyScope, command
from embedlab.tui.commands import binding, bindings, commands_of
from embedlab.tui.screens import SCREENS

_TITLES = {"everywhere": "Everywhere", "table": "In a table", "plot": "In a plot", "curves": "In curves"}


class HelpScreen(ModalScreen[None]):
    """The purpose of a screen and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog"), binding(command("help", "Close.", action="dismiss"), "help-screen")]

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
    """The keys of a scope and their effects in two columns, without those that do nothing on SCREEN."""
    rows = [("  ".join(command.key.shown), command.tooltip) for command in commands_of(scope, screen)]
    width = max(len(keys) for keys, _ in rows)
    lines = [Content.styled(_TITLES.get(scope, "On this screen"), "bold $text-primary")]
    lines += [Content.assemble((f"{keys:<{width}}", "$text-accent"), f"   {tooltip}") for keys, tooltip in rows]
    return Content("\n").join(lines)


def _introduction(text: str) -> str:
    """The TEXT of a help file with each paragraph on one line: the widget wraps it."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
