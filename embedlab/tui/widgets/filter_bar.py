"""The filter line above a table."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input


class FilterBar(Input):
    """Edits an expression of the filter language and posts it after each key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "leave", "Go to the pairs", show=True, key_display="⏎")
    ]

    virtual_size = Reactive(
        Size(0, 0)
    )  # unlike that of Input: a longer text in a line of fixed width triggers no layout

    @dataclass
    class Refined(Message):  # not `Changed`: Input already owns that name
        """The expression changed."""

        query: str

        def can_replace(self, message: Message) -> bool:
            """Return whether a later expression makes MESSAGE superfluous."""
            return isinstance(message, FilterBar.Refined)

    @dataclass
    class Left(Message):
        """The user goes to the table."""

    def __init__(
        self,
        placeholder: str = "filter: words  /regex/  dice>0.7  gold<2  gap>30  source:headlines",
    ) -> None:
        super().__init__(placeholder=placeholder, compact=True, id="filter")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Post the expression instead of the message of the input."""
        event.stop()
        self.post_message(self.Refined(event.value))

    def action_leave(self) -> None:
        """Go to the table."""
        self.post_message(self.Left())
