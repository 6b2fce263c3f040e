"""The dialog that chooses what is shown: the pairs of all STS datasets, or the items of another
task.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from embedlab.tui.commands import bindings

PAIRS = "pairs of all STS datasets"


class TaskList(OptionList):
    """The tasks, in which the keys of tables move."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")


class ChooseTask(ModalScreen[str | None]):
    """Choose one task; returns its name, an empty one for the pairs, or None when closed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")

    def __init__(self, tasks: Sequence[tuple[str, int]], shown: str) -> None:
        """TASKS: each with the number of models that did it; SHOWN: the present one."""
        super().__init__()
        self._tasks, self._shown = list(tasks), shown

    def compose(self) -> ComposeResult:
        """Yield the title, the list of tasks and its keys."""
        with Vertical(classes="dialog"):
            yield Static("Show the pairs or items of", classes="dialog-title")
            yield TaskList(
                Option(PAIRS), *(Option(_line(name, models)) for name, models in self._tasks)
            )
            hint = (
                ""
                if self._tasks
                else "`embedlab evaluate MODEL --task TASK` stores the answers of a model to "
                "items.  "
            )
            yield Static(f"{hint}enter  show   esc  close", classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Begin at what is shown."""
        names = ["", *(name for name, _ in self._tasks)]
        self.query_one(TaskList).highlighted = (
            names.index(self._shown) if self._shown in names else 0
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the task under the cursor."""
        self.dismiss("" if event.option_index == 0 else self._tasks[event.option_index - 1][0])


def _line(name: str, models: int) -> Content:
    return Content.assemble(
        f"items of {name}  ", (f"{models} model{'s' if models > 1 else ''}", "$text-faint")
    )
