"""The app below the dashboard: how frames are drawn, keys delivered, styles parsed and errors
ended; untuned, as Textual does it.
"""

from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.worker import WorkerFailed

from embedlab.core.errors import EmbedlabError
from embedlab.tui.terminal import process_memory
from embedlab.tui.terminal.pacing import FramePace

if TYPE_CHECKING:
    from embedlab.tui.terminal.typed_keys import TypedKeys

IDLE_S = 1.0  # without a key
COLLECT_EVERY_S = 1.0


class TerminalApp(App[None]):
    """An app whose frames follow the terminal, and whose keys act one after the other."""

    def __init__(self, *, is_tuned: bool) -> None:
        """Leave all to Textual unless IS_TUNED."""
        super().__init__()
        self.is_tuned = is_tuned
        self.pace: FramePace | None = None
        self.typed_keys: TypedKeys | None = None
        self.last_key_at = 0.0  # seconds of `monotonic`
        if is_tuned:
            self._tune()

    def _tune(self) -> None:
        from embedlab.tui.terminal.style_sheet import StyleSheet
        from embedlab.tui.terminal.typed_keys import TypedKeys

        self.stylesheet = StyleSheet.after(self.stylesheet)  # nothing is parsed yet
        self.pace = FramePace()
        self.typed_keys = TypedKeys(self, is_opening=self.is_opening, report=self.report_dropped)

    def is_opening(self) -> bool:
        """Whether something that a key opens is not there yet: typed keys wait for it."""
        return False

    def report_dropped(self, error: EmbedlabError) -> None:
        """Report that typed keys were dropped."""
        self.notify(str(error), severity="warning", markup=False)

    def on_mount(self) -> None:
        """Collect garbage between keys; without a pause before the start nothing is left to collect
        here.
        """
        self.set_interval(
            COLLECT_EVERY_S,
            lambda: process_memory.collect_old(is_idle=monotonic() - self.last_key_at > IDLE_S),
        )

    @property
    def crash(self) -> Exception | None:
        """The unhandled error that ended the dashboard; the command reports it, once the terminal
        is its own again.

        Untuned it is None: Textual has printed the error then.
        """
        if not self.is_tuned:
            return None
        error = self._exception
        return (
            error.error
            if isinstance(error, WorkerFailed) and isinstance(error.error, Exception)
            else error
        )

    def _fatal_error(self) -> None:
        """End without Textual's traceback, which shows the values of variables."""
        if not self.is_tuned:
            super()._fatal_error()
            return
        self.bell()
        self._close_messages_no_wait()

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Draw a frame in few bytes, and note it for the pace of frames."""
        if self.pace is None:
            super()._display(screen, renderable)
            return
        from embedlab.tui.terminal.short_frames import ShortFrame, is_frame

        drawn: Any = ShortFrame(renderable) if is_frame(renderable) else renderable
        super()._display(screen, drawn)
        if isinstance(drawn, ShortFrame) and drawn.size:
            self.pace.frame_drawn(self._driver, drawn.size)

    def on_cursor_position(self) -> None:
        """Take the answer of a terminal that has drawn a frame."""
        if self.pace is not None:
            self.pace.answered()

    async def action_quit(self) -> None:
        """Leave once the terminal has drawn everything."""
        if self.pace is not None:
            await self.pace.wait_for_answers()
        await super().action_quit()

    async def on_event(self, event: events.Event) -> None:
        """Handle typed keys one at a time."""
        is_typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if is_typed:
            self.last_key_at = monotonic()
        if not (is_typed and self.typed_keys is not None and self.typed_keys.holds(event)):  # type: ignore[arg-type]
            await super().on_event(event)

    def on_typed_keys_passed(self, message: "TypedKeys.Passed") -> None:
        """Report that all before MESSAGE was handled."""
        message.arrived.set()

    async def on_unmount(self) -> None:
        """Drop the keys that wait."""
        if self.typed_keys is not None:
            self.typed_keys.close()
