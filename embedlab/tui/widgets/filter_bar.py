"""The line of search above a table."""

from dataclasses import dataclass

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input


class FilterBar(Input):
    """An expression of the filter language, told with each key."""

    virtual_size = Reactive(Size(0, 0))  # unlike Input's own: a longer text in a line of fixed width does not arrange the screen anew

    @dataclass
    class Refined(Message):  # not `Changed`: Input already owns that name
        """The expression is another one."""

        query: str

    @dataclass
    class Left(Message):
        """The user goes on to the table."""

    def __init__(self) -> None:
        super().__init__(placeholder="filter: words  /regex/  dice>0.7  gold<2  gap>30  source:headlines", compact=True, id="filter")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell the expression instead of the input's own message."""
        event.stop()
        self.post_message(self.Refined(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the table."""
        event.stop()
        self.post_message(self.Left())

    def on_key(self, event: events.Key) -> None:
        """So does the down arrow."""
        if event.key == "down":
            event.stop()
            self.post_message(self.Left())
