"""Dialogs for a confirmation, a line of text and a choice of several; each returns its value, or None when closed."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, OptionList, SelectionList, Static
from textual.widgets.selection_list import Selection

from embedlab.core.errors import EmbedlabError
from embedlab.tui.commands import bindings
from embedlab.tui.completion import NamesAndFolders

_ON, _OFF = "[x] ", "[ ] "
FOLDED = "folded:"  # values of lines that hide several others and have no box
DIALOG = "dialog"  # group of the workers that open dialogs: keys wait until their dialog is shown


class Confirm(ModalScreen[bool]):
    """Confirm: enter means no where something is deleted, replaced or stopped, and yes where nothing is lost."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("question")

    def __init__(self, question: str, *, is_safe: bool = False) -> None:
        super().__init__()
        self._question, self._is_safe = question, is_safe

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Static("y enter  yes      n  no" if self._is_safe else "y  yes      n enter  no", classes="dialog-hint")

    def action_answer_safely(self) -> None:
        """Close with the answer by which nothing is lost."""
        self.dismiss(self._is_safe)

    def action_answer(self, answer: bool) -> None:
        """Close and return the answer."""
        self.dismiss(answer)


class TextDialog(ModalScreen[str | None]):
    """Enter one line of text; CHECK raises an error for text that cannot be used."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Close")]

    def __init__(
        self,
        question: str,
        *,
        value: str = "",
        hint: str = "",
        suggestions: Sequence[str] | None = None,
        check: Callable[[str], object] | None = None,
        allow_empty: bool = False,
    ) -> None:
        """SUGGESTIONS: names that are completed as they are typed, and then the paths of folders too."""
        super().__init__()
        self._question, self._value, self._hint, self._check = question, value, hint, check
        self._allow_empty = allow_empty
        self._suggestions = suggestions

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Input(self._value, suggester=NamesAndFolders(self._suggestions) if self._suggestions is not None else None)
            yield Static("", classes="dialog-error", markup=False)
            yield Static(f"{self._hint}  enter  take   esc  close".strip(), classes="dialog-hint", markup=False)

    def on_input_changed(self) -> None:
        """Clear the error: the text is being corrected."""
        self.query_one(".dialog-error", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and return the text if it can be used."""
        event.stop()
        text = event.value.strip()
        if not text and not self._allow_empty:
            return
        try:
            if self._check is not None:
                self._check(text)
        except EmbedlabError as error:
            self.query_one(".dialog-error", Static).update(f"{error.message}\n{error.hint}".strip())
        except OSError as error:  # no file can have this name
            self.query_one(".dialog-error", Static).update(f"this path cannot be used: {error.strerror}")
        else:
            self.dismiss(text)


class Choose(ModalScreen[list[str] | None]):
    """Choose any number of several options."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog"), ("enter", "take", "Take")]

    def __init__(self, question: str, options: Sequence[tuple[str, str, bool]]) -> None:
        """OPTIONS: the label, the value, and whether it is chosen already."""
        super().__init__()
        self._question, self._options = question, options

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield ChoiceList(*(Selection(label, value, chosen) for label, value, chosen in self._options))
            yield Static("space  choose   enter  take   esc  close", classes="dialog-hint")

    def action_take(self) -> None:
        """Close and return the chosen values."""
        self.dismiss(list(self.query_one(ChoiceList).selected))


class ChoiceList(SelectionList[str]):
    """A selection list with boxes of plain signs, in which enter accepts the choice, as in every dialog, and space chooses."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("choice")

    def _get_left_gutter_width(self) -> int:
        return len(_OFF)

    def render_line(self, y: int) -> Strip:
        """A box and the label: Textual draws the same sign for both states, in two shades."""
        line = OptionList.render_line(self, y)
        index = self.scroll_offset.y + y
        if index >= self.option_count:
            return line
        style = next(iter(line)).style or self.rich_style
        value = self.get_option_at_index(index).value
        sign = " " * len(_OFF) if value.startswith(FOLDED) else _ON if value in self.selected else _OFF
        return Strip([Segment(sign, style), *line])
