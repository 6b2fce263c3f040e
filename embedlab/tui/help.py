"""The help of a room on one screen: its keys, and what every sign means."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

Lines = Sequence[tuple[str, str]]  # what stands at the left, empty before headings, and its meaning

LEGEND: Lines = (
    ("", "signs"),
    ("●■▲◆★✚", "a chosen model, ○ another"),
    ("■ □", "clear, not distinguished"),
    ("▲ ▼ =", "above, below, not clear"),
    ("bold word", "not in the other sentence"),
    ("gap", "points of rank apart"),
    ("·", "no number"),
    ("[a, b]", "95% interval"),
    ("± s", "deviation over seeds"),
    ("* =", "the best, maybe as good"),
    ("✓ ✗ ‖", "finished, failed, stopped"),
    ("▶ ▷ ◌ …", "trains, scores, starts, rests"),
    ("50% ⏎", "enter scores the rest"),
)


class TextScreen(ModalScreen[None]):
    """A page of text over the room; esc closes it."""

    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    TextScreen > VerticalScroll { width: 100; max-width: 100%; height: auto; max-height: 100%;
        padding: 0 1; border: round $primary; border-title-style: bold; background: $surface;
        scrollbar-size-vertical: 1; }
    TextScreen Horizontal { height: auto; }
    TextScreen Static { width: 1fr; height: auto; margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,i", "dismiss", "Close"),
    ]

    def __init__(self, title: str, *columns: Lines) -> None:
        super().__init__()
        self._title, self._columns = title, columns

    def compose(self) -> ComposeResult:
        """Yield the columns beside each other."""
        with VerticalScroll() as box:
            box.border_title = self._title
            with Horizontal():
                for column in self._columns:
                    table = Table.grid(padding=(0, 2, 0, 0))
                    for left, right in column:
                        table.add_row(Text(left, "bold"), Text(right, "" if left else "bold"))
                    yield Static(table)


def help_screen(
    title: str,
    room_bindings: Iterable[Binding],
    general: Iterable[Binding],
    display: Callable[[Binding], str],
) -> TextScreen:
    """The help of a room: the keys ROOM_BINDINGS, those of all rooms, and the signs, in two
    columns; DISPLAY writes a key.
    """
    lines = [("", "in this room"), *_lines(room_bindings, display), ("", "")]
    lines += [("", "everywhere"), *_lines(general, display), ("", ""), *LEGEND]
    half = (len(lines) + 1) // 2
    return TextScreen(f"help · {title}", lines[:half], lines[half:])


def _lines(bindings: Iterable[Binding], display: Callable[[Binding], str]) -> Lines:
    """The keys that say what they do; those that say the same are one line."""
    keys: dict[str, list[str]] = {}
    for binding in bindings:
        if binding.tooltip:
            keys.setdefault(binding.tooltip, []).append(display(binding))
    return [(" ".join(dict.fromkeys(key_names)), tooltip) for tooltip, key_names in keys.items()]
