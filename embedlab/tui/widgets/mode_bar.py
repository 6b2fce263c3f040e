"""The first line of every screen: all screens, with the present one highlighted."""

from textual import events
from textual.content import Content
from textual.widgets import Static

from embedlab.tui.command import KeyScope
from embedlab.tui.screens import SCREENS, FoundScreen

_PROGRAM = " embedlab "


class ModeBar(Static):
    """The names of the screens with their keys; a click goes there."""

    def __init__(self, scope: KeyScope) -> None:
        super().__init__()
        self._scope = scope

    def on_mount(self) -> None:
        """Write the line once: the mode of a screen never changes."""
        parts = [Content.styled(_PROGRAM, "bold")]
        for name, screen in SCREENS.items():
            style = (
                "$block-cursor-foreground on $block-cursor-background bold"
                if name == self._scope
                else "$text-faint"
            )
            parts.append(Content.styled(_title(screen), style))
        self.update(Content("").join(parts))

    def on_click(self, event: events.Click) -> None:
        """Go to the screen at this place. A link in the text would have the colour of links, also
        on the highlighted name.
        """
        end = len(_PROGRAM)
        for name, screen in SCREENS.items():
            start, end = end, end + len(_title(screen))
            if start <= event.x < end:
                self.app.call_later(self.app.run_action, f"mode('{name}')")


def _title(screen: FoundScreen) -> str:
    return f" {screen.entry.key} {screen.entry.label} "
