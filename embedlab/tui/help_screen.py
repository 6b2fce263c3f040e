"""The help of a screen: its introduction and the table of its keys."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from embedlab.tui.command import KeyScope, command
from embedlab.tui.commands import binding, bindings, commands_of
from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.plain import plain

_TITLES = {
    "everywhere": "Everywhere",
    "table": "In a table",
    "plot": "In a plot",
    "curves": "In curves",
}


class HelpScreen(ModalScreen[None]):
    """The purpose of a screen and its keys, and a search in both."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("dialog"),
        binding(command("help", "Close.", action="dismiss"), "help-screen"),
        binding(
            command(
                "filter",
                "Show the lines that have all these words.",
                action="search",
                label="Search",
            ),
            "help-screen",
        ),
    ]

    AUTO_FOCUS = "VerticalScroll"  # the arrow keys scroll at once

    def __init__(self, screen: str, marks: Sequence[str] = ()) -> None:
        """MARKS: of the pairs and the models that are shown, which have little room in a small
        terminal.
        """
        super().__init__()
        self._screen, self._marks = screen, marks

    def compose(self) -> ComposeResult:
        """Yield the sections of the help and the line to search them."""
        bar = FilterBar("search: words of a key's effect")
        bar.display = False
        with Vertical(classes="dialog"):
            yield bar
            with VerticalScroll():
                yield Static(self._text(""), markup=False, id="help-text")
            yield Static("/  search   esc  close", classes="dialog-hint", markup=False)

    def _text(self, searched: str) -> Content:
        """What has all words of SEARCHED."""
        screen = SCREENS[self._screen]
        scopes = (self._screen, *screen.entry.parts, "everywhere")
        marked = [Content(plain(mark)) for mark in self._marks if _has(mark, searched)]
        marks = (
            [Content("\n").join([Content.styled("What is shown", "bold $text-primary"), *marked])]
            if marked
            else []
        )
        sections = [
            *marks,
            _introduction(screen.help, searched),
            *(help_section(scope, self._screen, searched) for scope in scopes),
        ]
        shown = [section for section in sections if section.plain]
        return Content("\n\n").join(shown) if shown else Content(f"nothing has {searched!r}")

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Search after each key."""
        self.query_one("#help-text", Static).update(self._text(event.query))

    def on_filter_bar_left(self) -> None:
        """Go to what was found."""
        self.query_one(VerticalScroll).focus()

    def action_search(self) -> None:
        """Search the help."""
        bar = self.query_one(FilterBar)
        bar.display = True
        bar.focus()

    async def action_dismiss(self, result: None = None) -> None:
        """Leave the search first."""
        bar = self.query_one(FilterBar)
        if not bar.display:
            await super().action_dismiss(result)
            return
        bar.value, bar.display = "", False
        self.query_one(VerticalScroll).focus()


def help_section(scope: KeyScope, screen: str, searched: str = "") -> Content:
    """The keys of a scope and their effects in two columns, without those that do nothing on SCREEN
    or lack a word of SEARCHED.
    """
    commands = [
        entry
        for entry in commands_of(scope, screen)
        if _has(f"{entry.label} {entry.tooltip} {' '.join(entry.key.shown)}", searched)
    ]
    if not commands:
        return Content("")
    rows = [("  ".join(entry.key.shown), entry.tooltip) for entry in commands]
    width = max(len(keys) for keys, _ in rows)
    lines = [Content.styled(_TITLES.get(scope, "On this screen"), "bold $text-primary")]
    lines += [
        Content.assemble((f"{keys:<{width}}", "$text-accent"), f"   {tooltip}")
        for keys, tooltip in rows
    ]
    return Content("\n").join(lines)


def _introduction(text: str, searched: str) -> Content:
    """The TEXT of a help file with each paragraph on one line, which the widget wraps; of a search
    the paragraphs with its words.
    """
    paragraphs = [paragraph.replace("\n", " ") for paragraph in text.strip().split("\n\n")]
    return Content("\n\n".join(paragraph for paragraph in paragraphs if _has(paragraph, searched)))


def _has(text: str, searched: str) -> bool:
    return all(word in text.casefold() for word in searched.casefold().split())
