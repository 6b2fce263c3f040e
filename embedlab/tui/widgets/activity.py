"""One line above the footer while a detached process scores a model; gone when nothing does."""

from textual.widgets import Static


class ActivityLine(Static):
    """What is being worked on outside the dashboard."""

    def on_mount(self) -> None:
        """Nothing is under way at first."""
        self.display = False

    def update(self, content: object = "", *, layout: bool = True) -> None:
        """Show a line of text, or disappear when it is empty."""
        if content or self.display:  # nothing told again each second would arrange the screen each second
            self.display = bool(content)
            super().update(str(content), layout=layout)
