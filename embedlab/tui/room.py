"""What the app asks of each of its three rooms."""

from typing import TYPE_CHECKING, cast

from textual.events import Key
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from embedlab.core.errors import EmbedlabError

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard


BURST_S = 0.02  # keys that follow each other faster were not pressed one by one
DANGEROUS = frozenset({"x", "X", "delete", "q"})


class Working:
    """Reports what a worker raised that was not foreseen: it would be lost."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report the error."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            text = f"unforeseen: {type(error).__name__}: {error}"
            cast("Dashboard", event.worker.node.app).report(EmbedlabError(text))


class Guarded:
    """Does not hear a key that stops, deletes or quits where it came with others in one packet: it
    was pasted, or meant for a field that was not there yet.
    """

    _last_key_s = 0.0

    def on_key(self, event: Key) -> None:
        """Let the key pass if it was pressed alone."""
        is_burst = event.time - self._last_key_s < BURST_S
        self._last_key_s = event.time
        if is_burst and event.key in DANGEROUS:
            event.stop()
            event.prevent_default()


class Room(Working, Widget):
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
