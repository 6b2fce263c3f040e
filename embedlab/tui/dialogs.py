"""The small questions of the dashboard: yes or no, a line of text, a choice of several; each gives its answer or None."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, SelectionList, Static
from textual.widgets.selection_list import Selection

from embedlab.core.errors import EmbedlabError


class Confirm(ModalScreen[bool]):
    """A question before something is lost."""

    BINDINGS: ClassVar[list[BindingType]] = [("y", "answer(True)", "Yes"), ("n,escape,q", "answer(False)", "No")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Static("y  yes      n  no", classes="dialog-hint")

    def action_answer(self, answer: bool) -> None:
        """Close with the answer."""
        self.dismiss(answer)


class AskText(ModalScreen[str | None]):
    """One line of text; CHECK refuses what cannot be used and says why."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Close")]

    def __init__(
        self,
        question: str,
        *,
        value: str = "",
        hint: str = "",
        suggestions: Sequence[str] = (),
        check: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__()
        self._question, self._value, self._hint, self._check = question, value, hint, check
        self._suggestions = suggestions

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Input(self._value, suggester=SuggestFromList(self._suggestions, case_sensitive=False) if self._suggestions else None)
            yield Static("", classes="dialog-error", markup=False)
            yield Static(f"{self._hint}  enter  take   esc  close".strip(), classes="dialog-hint", markup=False)

    def on_input_changed(self) -> None:
        """What was wrong is being corrected."""
        self.query_one(".dialog-error", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the text if it can be used."""
        event.stop()
        text = event.value.strip()
        if not text:
            return
        try:
            if self._check is not None:
                self._check(text)
        except EmbedlabError as error:
            self.query_one(".dialog-error", Static).update(f"{error.message}\n{error.hint}".strip())
        except OSError as error:  # what was typed names a file that cannot even be looked for
            self.query_one(".dialog-error", Static).update(f"this cannot be looked for: {error.strerror}")
        else:
            self.dismiss(text)


class Choose(ModalScreen[list[str] | None]):
    """Any number of several things."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss(None)", "Close"), ("enter", "take", "Take")]

    def __init__(self, question: str, options: Sequence[tuple[str, str, bool]]) -> None:
        """OPTIONS: what is shown, what it stands for, whether it is chosen already."""
        super().__init__()
        self._question, self._options = question, options

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield ChoiceList(*(Selection(label, value, chosen) for label, value, chosen in self._options))
            yield Static("space  choose   enter  take   esc  close", classes="dialog-hint")

    def action_take(self) -> None:
        """Close with what is chosen."""
        self.dismiss(list(self.query_one(ChoiceList).selected))


class ChoiceList(SelectionList[str]):
    """A selection list in which enter takes the choice, as it does in every dialog here; space chooses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("enter", "screen.take", "Take"),
        ("space", "select", "Choose"),
        ("j", "cursor_down"),
        ("k", "cursor_up"),
    ]
