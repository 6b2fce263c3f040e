"""The list of recipes and grids, the lines of a form, and the notes below it."""

import shlex
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList

from embedlab.tui.launch.form import Field, Launch


class LaunchList(OptionList):
    """Recipes and grids, walked with the keys of a table."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("g", "first", "Top", show=False),
        Binding("G", "last", "Bottom", show=False),
        Binding("ctrl+d", "page_down", "Page down", show=False),
        Binding("ctrl+u", "page_up", "Page up", show=False),
    ]


class FieldInput(Input):
    """The value of one key; the keys that move between lines act as in a list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,tab,down", "app.focus_next", "Next line", show=False),
        Binding("shift+tab,up", "app.focus_previous", "Line before", show=False),
    ]

    def __init__(self, field: Field, value: str) -> None:
        super().__init__(value, placeholder=field.hint, compact=True, select_on_focus=False)
        self.field = field

    @property
    def is_changed(self) -> bool:
        """Whether the line differs from the recipe or the grid."""
        return self.value != self.field.value


def start_notes(found: Launch) -> Content:
    """What is missing for a start, what is known of it, and the command."""
    lacks = [Content.styled(f"! {line}", "$text-warning") for line in found.missing]
    known = [*found.notes, f"$ embedlab {shlex.join(found.arguments)}", "ctrl+s starts it"]
    return Content("\n").join([*lacks, *map(Content, known)])
