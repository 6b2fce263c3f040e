"""One line above the footer while detached processes score models; hidden otherwise."""

from embedlab.tui.widgets.text import SteadyText


class ActivityLine(SteadyText):
    """The progress of work outside the dashboard."""

    def on_mount(self) -> None:
        """Hide the line at first."""
        self.display = False

    def update(self, content: object = "", *, layout: bool = True) -> None:
        """Show a line of text, or hide the line if it is empty."""
        if (
            content or self.display
        ):  # an empty update each second must not trigger a layout each second
            self.display = bool(content)
            super().update(str(content), layout=layout)
