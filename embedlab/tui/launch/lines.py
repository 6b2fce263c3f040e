"""The form of the Launch screen: a line for each key, with what was typed."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Input, Label

from embedlab.tui.launch.form import Field


class FieldInput(Input):
    """The value of one key; the keys that move between lines act as in a list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,tab,down", "app.focus_next", "Next line", show=False),
        Binding("shift+tab,up", "app.focus_previous", "Line before", show=False),
    ]

    def __init__(self, field: Field, value: str) -> None:
        super().__init__(value, placeholder=field.hint, compact=True, select_on_focus=False)
        self.field = field

    def on_unmount(self) -> None:
        """End the subscription of an Input to its screen, which would otherwise hold each line that
        was ever shown.
        """
        self.screen.text_selection_started_signal.unsubscribe(self)

    @property
    def is_changed(self) -> bool:
        """Whether the line differs from the recipe or the grid."""
        return self.value != self.field.value


class FormLines(VerticalScroll, can_focus=False):
    """All lines of one form; a line that differs from the recipe or the grid is highlighted."""

    class Edited(Message):
        """A line says something else."""

    @property
    def lines(self) -> list[FieldInput]:
        """The lines from top to bottom."""
        return list(self.query(FieldInput))

    @property
    def values(self) -> dict[str, str]:
        """What the form says, by key."""
        return {line.field.key: line.value for line in self.lines}

    @property
    def typed(self) -> dict[str, str]:
        """What it says in the lines that differ from the recipe or the grid."""
        return {line.field.key: line.value for line in self.lines if line.is_changed}

    @property
    def is_in_use(self) -> bool:
        """Whether something was typed, or the next key would be."""
        return bool(self.typed) or any(line.has_focus for line in self.lines)

    async def show(self, fields: Sequence[Field], typed: Mapping[str, str]) -> None:
        """Show these FIELDS, with what was TYPED in some."""
        lines = [FieldInput(field, typed.get(field.key, field.value)) for field in fields]
        rows = [
            Horizontal(Label(line.field.key, markup=False), line, classes="form-row")
            for line in lines
        ]
        for row, line in zip(rows, lines, strict=True):
            row.set_class(line.is_changed, "-changed")
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all(rows)

    def reset(self) -> None:
        """Take the values of the recipe or the grid in all lines."""
        for line in self.lines:
            line.value = line.field.value

    def on_input_changed(self, event: Input.Changed) -> None:
        """Highlight a line that differs."""
        event.stop()
        if isinstance(event.input, FieldInput) and event.input.parent is not None:
            event.input.parent.set_class(event.input.is_changed, "-changed")
        self.post_message(self.Edited())
