"""What the app asks of each of its three rooms."""

from typing import TYPE_CHECKING, cast

from textual.widget import Widget

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard


class Room(Widget):
    """A part of the dashboard that takes the whole width; its keys act while it has the focus."""

    TITLE = ""

    @property
    def dashboard(self) -> "Dashboard":
        """The app, with what all rooms show."""
        return cast("Dashboard", self.app)

    @property
    def crumbs(self) -> str:
        """Where in the room one is, for the header."""
        return ""

    def enter(self) -> None:
        """Take the focus, and show what changed while another room was shown."""

    def show(self) -> None:
        """Show the items and models that the dashboard has now."""

    def action_filter(self) -> None:
        """Go to the field that filters; it must take keys at once."""

    def action_back(self) -> None:
        """Leave a field, a pane or a mark."""
