"""Dialogs for a confirmation, a line of text and a choice of several; each returns its value, or
None when closed.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from embedlab.core.errors import EmbedlabError
from embedlab.tui.commands import bindings
from embedlab.tui.completion import NamesAndFolders

_ON, _OFF = "[x] ", "[ ] "
FOLDED = "folded:"  # values of lines that hide several others and have no box
DIALOG = "dialog"  # group of the workers that open dialogs: keys wait until their dialog is shown


class Confirm(ModalScreen[bool]):
    """Confirm: enter means no where something is deleted, replaced or stopped, and yes where
    nothing is lost.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("question")

    def __init__(self, question: str, *, is_safe: bool = False) -> None:
        super().__init__()
        self._question, self._is_safe = question, is_safe

    def compose(self) -> ComposeResult:
        """Yield the question and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Static(
                "y enter  yes      n  no" if self._is_safe else "y  yes      n enter  no",
                classes="dialog-hint",
            )

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
        """SUGGESTIONS: names that are completed as they are typed, and then the paths of folders
        too.
        """
        super().__init__()
        self._question, self._value, self._hint, self._check = question, value, hint, check
        self._allow_empty = allow_empty
        self._suggestions = suggestions

    def compose(self) -> ComposeResult:
        """Yield the title, the line to type in, its error and its hint."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Input(
                self._value,
                suggester=NamesAndFolders(self._suggestions)
                if self._suggestions is not None
                else None,
            )
            yield Static("", classes="dialog-error", markup=False)
            yield Static(
                f"{self._hint}  enter  take   esc  close".strip(),
                classes="dialog-hint",
                markup=False,
            )

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
            self.query_one(".dialog-error", Static).update(
                f"this path cannot be used: {error.strerror}"
            )
        else:
            self.dismiss(text)


class Choose(ModalScreen[list[str] | None]):
    """Choose any number of several options."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("dialog"), ("enter", "take", "Take")]

    def __init__(self, question: str, options: Sequence[tuple[str, str, bool]]) -> None:
        """OPTIONS: the label, the value, and whether it is chosen already."""
        super().__init__()
        self.question, self._options = question, options

    def compose(self) -> ComposeResult:
        """Yield the title, the list and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self.question, classes="dialog-title", markup=False)
            yield ChoiceList(self._options)
            yield Static("space  choose   enter  take   esc  close", classes="dialog-hint")

    def action_take(self) -> None:
        """Close and return the chosen values."""
        self.dismiss(self.query_one(ChoiceList).chosen)


class ChoiceList(OptionList):
    """Entries with a box each; enter accepts the choice, as in every dialog, and space chooses."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("choice")

    class Toggled(Message):
        """An entry was chosen, or is not any more; the line of a fold has no box."""

        def __init__(self, value: str) -> None:
            super().__init__()
            self.value = value

    def __init__(self, entries: Sequence[tuple[str, str, bool]] = ()) -> None:
        """ENTRIES: the label, the value, and whether it is chosen."""
        super().__init__(markup=False)
        self._labels: dict[str, str] = {}
        self._chosen: set[str] = set()
        self.show(entries)

    def show(self, entries: Sequence[tuple[str, str, bool]], under: str | None = None) -> None:
        """List ENTRIES with the cursor on the value UNDER it, or else on the first."""
        self._labels = {value: label for label, value, _ in entries}
        self._chosen = {value for _, value, is_chosen in entries if is_chosen}
        self.clear_options()
        self.add_options([Option(self._line(value), id=value) for value in self._labels])
        self.highlighted = (
            list(self._labels).index(under) if under in self._labels else 0 if entries else None
        )

    @property
    def chosen(self) -> list[str]:
        """The values that are chosen, from top to bottom."""
        return [value for value in self._labels if value in self._chosen]

    def action_select(self) -> None:
        """Choose the entry under the cursor, or choose it no more; a click does so too."""
        if (option := self.highlighted_option) is not None and option.id is not None:
            self._toggle(option.id)

    def _toggle(self, value: str) -> None:
        if not value.startswith(FOLDED):
            self._chosen ^= {value}
            self.replace_option_prompt(value, self._line(value))
        self.post_message(self.Toggled(value))

    def _line(self, value: str) -> str:
        sign = (
            " " * len(_OFF) if value.startswith(FOLDED) else _ON if value in self._chosen else _OFF
        )
        return f"{sign}{self._labels[value]}"
