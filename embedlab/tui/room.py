"""What the app asks of each of its three rooms."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from rich.table import Table
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState, get_current_worker

from embedlab.comparison.comparison import Comparison
from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.tui.header import ROOMS
from embedlab.tui.plain import Value
from embedlab.tui.state import Memory
from embedlab.tui.workbench import ShownItems


class Host(App[None]):
    """What the app offers to its rooms."""

    settings: Settings
    memory: Memory
    shown: ShownItems
    shown_task: str  # the name of a task or a dataset, or the path of a file
    comparison: Comparison | None  # on all items of all shown datasets
    colours: dict[str, str]  # the variables of the theme

    @property
    def room(self) -> "Room":
        """The room that is shown."""
        raise NotImplementedError

    @property
    def why_empty(self) -> str:
        """What to do where no item is shown."""
        raise NotImplementedError

    def report(self, error: EmbedlabError) -> None:
        """Show the two lines that the command line would print."""

    def remember(self, name: str, value: Any, *, everywhere: bool = False) -> None:
        """Remember VALUE; it is written a moment later."""

    def refresh_header(self) -> None:
        """Show where one is, and the models' scores."""

    def take_view(self, view: Any) -> None:
        """Let the other rooms show the items that the Data room shows."""

    def compare_all(self) -> None:
        """Compare the models on all that is shown, once the items are drawn."""

    def action_room(self, name: str) -> None:
        """Go to the room called NAME."""

    def show_items(self, expression: str) -> None:
        """Show the items that EXPRESSION picks in the Data room; without one, all."""

    def compare_models(self, names: Sequence[str]) -> None:
        """Compare the models called NAMES, and score what they lack."""

    def go_to_run(self, name: str, grid: str = "") -> None:
        """Go to the run called NAME, a cell of GRID, in the Runs room."""


ROOM_KEYS = [
    Binding(
        str(key),
        f"room('{name}')",
        name.title(),
        show=False,
        priority=True,
        tooltip="the three rooms",
    )
    for key, name in enumerate(ROOMS, 1)
]
PANE_KEYS = [
    Binding("tab", "pane(1)", "Pane", show=False, tooltip="the next pane"),
    Binding("shift+tab", "pane(-1)", "Pane", show=False),
]
BURST_S = 0.05  # keys that follow each other faster were not pressed one by one
DANGEROUS = frozenset({"x", "X", "delete", "q"})


class Working:
    """Works in threads, and reports what a worker raised that was not foreseen: it would be
    lost.
    """

    @property
    def dashboard(self) -> Host:
        """The app, with what all rooms show."""
        return cast("Host", cast("MessagePump", self).app)

    def hand_over(self, take: Callable[..., object], *values: object) -> None:
        """From a thread: let TAKE have VALUES, unless a newer worker has the thread's place."""
        if not get_current_worker().is_cancelled:
            self.dashboard.call_from_thread(take, *values)

    def say(self, where: str, text: Content | str | Table) -> None:
        """Show TEXT in the part that WHERE selects."""
        cast("Widget", self).query_one(where, Static).update(text)

    async def do(self, work: Callable[[], object], done: str) -> bool:
        """Do WORK in a thread and say that it is DONE, or report why not."""
        try:
            await asyncio.to_thread(work)
        except EmbedlabError as error:
            self.dashboard.report(error)
        except OSError as error:
            self.dashboard.report(EmbedlabError(f"this failed: {error}"))
        else:
            self.dashboard.notify(done, markup=False)
            return True
        return False

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report the error."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            text = f"unforeseen: {type(error).__name__}: {error}"
            self.dashboard.report(EmbedlabError(text))


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


class Panel(Vertical):
    """A titled panel of several parts; it is shown alone as a whole."""

    ALLOW_MAXIMIZE = True


class Lines(OptionList):
    """A list that is walked with the keys of lists."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "first", show=False),
        Binding("G", "last", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter", "select", "Open", tooltip="the items, board or seeds"),
    ]

    class Resized(Message):
        """The lines have another width."""

    _width = 0  # that of the lines that are drawn

    def on_resize(self) -> None:
        """Say so; one that was hidden meanwhile may have the width it had."""
        width, self._width = self._width, self.scrollable_content_region.width
        if self._width != width:
            self.post_message(self.Resized())

    def action_page(self, direction: int) -> None:
        """Go on by a page, also before the lines are drawn, where Textual's own keys end it."""
        target = (self.highlighted or 0) + direction * self.scrollable_content_region.height
        lines = [index for index, line in enumerate(self.options) if not line.disabled]
        self.highlighted = min(lines, key=lambda index: abs(index - target), default=None)

    def under_cursor(self, rows: Sequence[Value]) -> Value | None:
        """The one of ROWS, a line each, under the cursor."""
        index = self.highlighted
        return rows[index] if index is not None and index < len(rows) else None

    def fill(self, lines: Sequence[Content]) -> None:
        """Show LINES; the cursor stays where it was, and those that are as before are not drawn."""
        highlighted = self.highlighted or 0
        if len(lines) != self.option_count or not lines:
            self.set_options(lines)
            self.highlighted = highlighted  # at most the last
        for index, line in enumerate(lines):
            if not line.is_same(cast("Content", self.options[index].prompt)):
                self.replace_option_prompt_at_index(index, line)


class Room(Working, Widget):
    """A part of the dashboard that takes the whole width; its keys act while it has the focus."""

    TITLE = ""

    @property
    def crumbs(self) -> Sequence[str]:
        """Where in the room one is, for the header; the last is where, the others lead there."""
        return ()

    def enter(self) -> None:
        """Take the focus, and show what changed while another room was shown."""

    def show(self) -> None:
        """Show the items and models that the dashboard has now."""

    def action_filter(self) -> None:
        """Go to the field that filters; it must take keys at once."""

    @property
    def panes(self) -> Sequence[Widget]:
        """What tab goes through; the first has the room's keys."""
        return ()

    def action_pane(self, step: int) -> None:
        """Go to the next pane that is shown."""
        panes = [pane for pane in self.panes if pane.display and pane.size.width]
        focused = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        if panes:
            self.screen.set_focus(panes[(focused + step) % len(panes)])

    def action_back(self) -> None:
        """Leave a field, a pane or a mark."""
