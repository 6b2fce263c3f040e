"""The help of a room on one screen: its keys, and what every sign means."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

LEGEND: Sequence[tuple[str, str]] = (
    ("●■▲◆★✚", "a chosen model, by its place; ○ not chosen"),
    ("■ □", "in plots: clear; not told from the reference"),
    ("▲ ▼ =", "above the reference, below it, not told from it"),
    ("underlined", "a word that the other sentence lacks"),
    ("gap", "points of rank between the models"),
    ("·", "no number"),
    ("[a, b]", "95% interval"),
    ("± s", "standard deviation over seeds"),
    ("* =", "the best of a grid, and what cannot be told from it"),
    ("✓ ✗ ‖", "finished, failed, stopped"),
    ("▶ ▷ ◌ …", "training, scoring, starting, silent"),
    ("i 3 notes", "what limits the numbers: i opens them"),
    ("⏎", "enter scores what is missing"),
)


class TextScreen(ModalScreen[None]):
    """A page of text over the room; esc closes it."""

    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    TextScreen > VerticalScroll { width: 100; max-width: 96%; height: auto; max-height: 90%;
        padding: 1 2; border: round $primary; background: $surface; }
    TextScreen Horizontal { height: auto; }
    TextScreen Horizontal Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,i", "dismiss", "Close"),
    ]

    def __init__(self, title: str, *columns: Content) -> None:
        super().__init__()
        self._title, self._columns = title, columns

    def compose(self) -> ComposeResult:
        """Yield the columns beside each other."""
        with VerticalScroll() as box:
            box.border_title = self._title
            with Horizontal():
                for column in self._columns:
                    yield Static(column, markup=False)


def help_screen(title: str, bindings: Iterable[Binding]) -> TextScreen:
    """The help of a room with these BINDINGS."""
    keys: dict[str, tuple[str, str]] = {}
    for binding in bindings:
        if said := binding.tooltip:  # Textual's own keys have none
            keys.setdefault(said, (shown_key(binding.key), said))
    lines = [
        Content.assemble((f"{key:>9}  ", "bold $text-primary"), said) for key, said in keys.values()
    ]
    legend = [Content.assemble((f"{sign:>10}  ", "bold"), said) for sign, said in LEGEND]
    return TextScreen(
        f"help · {title}",
        Content("\n").join([Content.styled("keys", "bold"), *lines]),
        Content("\n").join([Content.styled("signs", "bold"), *legend]),
    )


_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "number_sign": "#",
    "tilde": "~",
    "vertical_line": "|",
    "escape": "esc",
    "delete": "del",
}


def shown_key(key: str) -> str:
    """A key as people write it."""
    return " ".join(_NAMES.get(one, one) for one in key.split(","))
