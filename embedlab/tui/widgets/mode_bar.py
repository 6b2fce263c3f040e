"""The first line of every screen: all screens, with the present one highlighted."""

from textual.content import Content
from textual.widgets import Static

from embedlab.tui.command import KeyScope
from embedlab.tui.screens import SCREENS


class ModeBar(Static):
    """The names of the screens with their keys; a click goes there."""

    def __init__(self, scope: KeyScope) -> None:
        super().__init__()
        self._scope = scope

    def on_mount(self) -> None:
        """Write the line once: the mode of a screen never changes."""
        parts = [Content.styled(" embedlab ", "bold")]
        for name, found in SCREENS.items():
            style = "$block-cursor-foreground on $block-cursor-background bold" if name == self._scope else "$text-muted"
            parts.append(Content.from_markup(f"[{style} @click=app.mode('{name}')] {found.entry.key} {found.entry.label} [/]"))
        self.update(Content("").join(parts))
