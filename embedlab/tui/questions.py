"""A question before deletion, and one for a text."""

from math import inf
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key, Mount
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

_STYLE = """
{name} {{ align: center middle; }}
{name} > Vertical {{ width: 70; max-width: 90%; height: auto; padding: 1 2; border: round $primary;
    background: $surface; }}
"""


QUIET_S = 0.3  # without a key before a yes and after it: one that came with others was not meant


class Confirm(ModalScreen[bool]):
    """Yes or no: a yes that was pasted, or typed before the question was there, is not heard, and
    any other key is a no.
    """

    DEFAULT_CSS = _STYLE.format(name="Confirm")
    _opened_s = inf
    _yes: Timer | None = None

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = f"{question}\n"

    def on_mount(self, event: Mount) -> None:
        """Begin to hear."""
        self._opened_s = event.time

    def on_key(self, event: Key) -> None:
        """Hear the answer."""
        event.stop()
        if self._yes is not None or event.key != "y":
            if self._yes is not None:
                self._yes.stop()
            if self.is_current:
                self.dismiss(False)
        elif event.time - self._opened_s > QUIET_S:
            self._yes = self.set_timer(QUIET_S, self._answer_yes)

    def _answer_yes(self) -> None:
        self.dismiss(True)  # not returned: a screen must not wait for its own end

    def compose(self) -> ComposeResult:
        """Yield the question and its answers."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Static("[b]y[/b] yes   [b]n[/b] no")


class Ask(ModalScreen[str | None]):
    """One line of text."""

    DEFAULT_CSS = _STYLE.format(name="Ask")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self._question, self._value = question, value

    def compose(self) -> ComposeResult:
        """Yield the question and the field."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._value, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what was typed."""
        self.dismiss(event.value.strip())
