"""The dialog of selections with a name: it names what is selected, and lists those that the command
line reads as @NAME too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from embedlab.analysis.expressions import refuse_unnamable
from embedlab.analysis.named_selections import named_selections
from embedlab.core.errors import EmbedlabError
from embedlab.tui.command import command
from embedlab.tui.commands import binding, bindings
from embedlab.tui.dialogs import Confirm
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.numbers import BY_RESULTS
from embedlab.tui.pair_table.view import PairSelection, PairView
from embedlab.tui.widgets.plain import plain


@dataclass(frozen=True, kw_only=True)
class NamedSelection:
    """A selection with a name, and what it picks of the pairs that are shown."""

    name: str
    expression: str
    said: str  # how many pairs, or why none can be picked


def list_selections(view: PairView) -> list[NamedSelection]:
    """Return every selection with a name, counted on the pairs of VIEW; a file that cannot be read
    is an EmbedlabError.
    """
    return [
        NamedSelection(name=name, expression=expression, said=_counted(view, expression))
        for name, expression in named_selections().items()
    ]


def _counted(view: PairView, expression: str) -> str:
    alone = PairView(data=view.data)
    try:
        alone.select(PairSelection(expression=expression))
    except EmbedlabError as error:
        return error.reason.splitlines()[0]
    return f"{int(alone.holds.sum()):,} pairs" + (f", {BY_RESULTS}" if alone.is_by_results else "")


class SelectionList(OptionList):
    """The selections, in which the keys of tables move."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list"),
        binding(
            command("delete", "Remove the name under the cursor.", action="screen.remove"),
            "selection-list",
        ),
    ]


class NamedSelections(ModalScreen[str | None]):
    """Give what is selected a name, take one of those that have one, or remove it; returns the name
    that was taken or given.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding(command("back", "Close.", action="dismiss(None)"), "selections")
    ]

    def __init__(
        self,
        known: Sequence[NamedSelection],
        title: str,
        expression: str | None,
        *,
        change: Callable[[str, str], object],
        is_naming: bool = False,
    ) -> None:
        """TITLE and EXPRESSION of what is selected; CHANGE stores an expression under a name, an
        empty one removes the name.
        """
        super().__init__()
        self._known, self._title, self._expression, self._change = (
            list(known),
            title,
            expression,
            change,
        )
        self._is_naming = is_naming

    def compose(self) -> ComposeResult:
        """Yield what is selected, the line for its name, and the list of all names."""
        with Vertical(classes="dialog"):
            yield Static(
                "Selections with a name, here and on the command line: @NAME",
                classes="dialog-title",
                markup=False,
            )
            yield Static(self._what, markup=False)
            yield Input(placeholder="a name for it", compact=True, disabled=not self._expression)
            yield Static("", classes="dialog-error", markup=False)
            yield SelectionList(*self._options())
            yield Static(
                f"enter  take, or name   tab  name or list   {shown_key('delete')}  remove   "
                f"esc  close",
                classes="dialog-hint",
            )

    def on_mount(self) -> None:
        """Begin in the list, where there is one."""
        is_listing = (self._known and not self._is_naming) or not self._expression
        self.set_focus(self.query_one(SelectionList) if is_listing else self.query_one(Input))

    @property
    def _what(self) -> str:
        if self._expression:
            return f"selected: {self._expression if len(self._expression) < 400 else self._title}"
        return (
            "all pairs are selected: there is nothing to name"
            if not self._title
            else f"{self._title}: no expression picks these pairs"
        )

    def _options(self) -> list[Option]:
        return [
            Option(
                Content.assemble(
                    (f"@{selection.name}", "$text-accent bold"),
                    f"  {plain(selection.said)}  ",
                    (plain(selection.expression), "$text-faint"),
                )
            )
            for selection in self._known
        ]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the selection under the cursor."""
        self.dismiss(self._known[event.option_index].name)

    def on_input_changed(self) -> None:
        """Clear the error: the name is being corrected."""
        self.query_one(".dialog-error", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Name what is selected."""
        event.stop()
        name = event.value.strip().removeprefix("@")
        if not name or self._expression is None:
            return
        try:
            refuse_unnamable(name, self._expression)
            self._change(name, self._expression)
        except EmbedlabError as error:
            self.query_one(".dialog-error", Static).update(f"{error.message}\n{error.hint}".strip())
        else:
            self.dismiss(name)

    def action_remove(self) -> None:
        """Remove the name under the cursor, once confirmed."""
        highlighted = self.query_one(SelectionList).highlighted
        if highlighted is None:
            return
        name = self._known[highlighted].name

        def remove(is_sure: bool | None) -> None:
            if not is_sure:
                return
            try:
                self._change(name, "")
            except EmbedlabError as error:
                self.query_one(".dialog-error", Static).update(
                    f"{error.message}\n{error.hint}".strip()
                )
                return
            self._known = [selection for selection in self._known if selection.name != name]
            choices = self.query_one(SelectionList)
            choices.clear_options()
            choices.add_options(self._options())

        self.app.push_screen(
            Confirm(f"Remove the name @{name}? Filters that read it stop working."), remove
        )
