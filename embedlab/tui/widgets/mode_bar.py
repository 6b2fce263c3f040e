"""The first line of every screen: which of the four this is."""

from textual.content import Content
from textual.widgets import Static

from embedlab.tui.commands import COMMANDS, Place


class ModeBar(Static):
    """The names of the four screens with their keys; a click goes there."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def on_mount(self) -> None:
        """Write the line once: the mode of a screen never changes."""
        modes = [command for command in COMMANDS["everywhere"] if command.action.startswith("mode")]
        parts = [Content.styled(" embedlab ", "bold")]
        for command in modes:
            style = "$block-cursor-foreground on $block-cursor-background bold" if self._place in command.action else "$text-muted"
            parts.append(Content.from_markup(f"[{style} @click=app.{command.action}] {command.keys} {command.label} [/]"))
        self.update(Content("").join(parts))
