"""Delivers typed keys one at a time, so that keys that arrive in one packet act as if they were
typed slowly.

Textual forwards a key to the widget with the focus when it reads it. Over a slow line many keys are
read at once: those behind a key that opens a field would act on the table that had the focus
before.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widgets import Input

from embedlab.core.errors import EmbedlabError
from embedlab.tui.commands import COMMANDS
from embedlab.tui.widgets.frame_table import FrameTable

PATIENCE_S = 10.0  # for what a key opens, such as a dialog that reads a slow disk first
MOST_HELD = 1_000  # nobody types so far ahead
_LOOK_AGAIN_S = 0.01
_QUIET_ROUNDS = 2  # a handler may post one more message to a widget that was idle
_ROUNDS = 100  # a widget that never rests must not hold the keys
MOVES = frozenset(
    key
    for command in COMMANDS["table"]
    if command.action.startswith("move_")
    for key in command.key.keys
)

TypedEvent = events.Key | events.Paste


class TypedKeys:
    """Holds each key until the effects of the key before it are complete and what that key opened
    has the focus.
    """

    class Passed(Message):
        """A message that follows a key through the queues of the widgets up to the app."""

        def __init__(self) -> None:
            super().__init__()
            self.arrived = asyncio.Event()

    def __init__(
        self,
        app: App[None],
        *,
        is_opening: Callable[[], bool],
        report: Callable[[EmbedlabError], None],
    ) -> None:
        """IS_OPENING: whether something that a key opens is not there yet. REPORT shows that keys
        were dropped.
        """
        self._app, self._is_opening, self._report = app, is_opening, report
        self._held: deque[TypedEvent] = deque()
        self._released: deque[TypedEvent] = deque()  # posted to the app in their turn
        self._delivery: asyncio.Task[None] | None = None
        self._has_given_up = False  # what is opening now took too long: keys wait for it no longer

    def holds(self, event: TypedEvent) -> bool:
        """Whether EVENT waits for the keys before it; it is posted to the app again in its turn."""
        if self._released and event is self._released[0]:
            self._released.popleft()
            return False
        # One that was in the queue of the app already when those before it were posted to the end
        # of that queue must not overtake them.
        if self._released or self._delivery is not None or self._is_awaited():
            if len(self._held) == MOST_HELD:
                self._drop()
            self._held.append(event)
            self._delivery = self._delivery or asyncio.create_task(self._deliver())
            return True
        if not self._stays(event):
            self._delivery = asyncio.create_task(self._deliver())
        return False

    def _is_awaited(self) -> bool:
        """Whether something is opening, by a click for example, that keys wait for."""
        is_opening = self._is_opening()
        self._has_given_up = self._has_given_up and is_opening
        return is_opening and not self._has_given_up

    def close(self) -> None:
        """Drop the held keys: the app ends."""
        self._held.clear()
        if self._delivery is not None:
            self._delivery.cancel()

    async def _deliver(self) -> None:
        try:
            await self._settle()
            while self._held:
                event = self._held.popleft()
                is_quick = self._stays(event)
                self._released.append(event)
                self._app.post_message(event)
                if not is_quick:
                    await self._settle()
        except (
            Exception
        ) as error:  # nothing awaits this task: its error would be lost, and the held keys with it
            self._app._handle_exception(error)
        finally:
            self._delivery = None

    def _stays(self, event: TypedEvent) -> bool:
        """Whether EVENT only edits text or moves a cursor: the next key need not wait for the
        screen to be drawn.
        """
        target = self._target()
        if isinstance(target, Input):
            return isinstance(event, events.Paste) or event.is_printable
        return (
            isinstance(target, FrameTable) and isinstance(event, events.Key) and event.key in MOVES
        )

    async def _settle(self) -> None:
        """Wait until the widgets have handled the last key; drop the held keys if what it opens
        does not appear.
        """
        ending, quiet, rounds = monotonic() + PATIENCE_S, 0, 0
        while quiet < _QUIET_ROUNDS and rounds < _ROUNDS:
            await self._pass_through(self._app)
            target = self._target()
            await self._pass_through(target)
            quiet, rounds = (
                quiet + 1 if target is self._target() and _is_idle(target) else 0,
                rounds + 1,
            )
            if self._is_opening():
                quiet = rounds = 0
                await asyncio.sleep(_LOOK_AGAIN_S)
                if monotonic() > ending:
                    self._drop()
                    return

    async def _pass_through(self, pump: MessagePump) -> None:
        """Wait until all that is in the queues from PUMP up to the app was handled; a widget that
        ends meanwhile passes nothing on.
        """
        passed = self.Passed()
        if pump.post_message(passed):
            try:
                await asyncio.wait_for(passed.arrived.wait(), timeout=1.0)
            except TimeoutError:
                return

    def _target(self) -> MessagePump:
        """What the next key would be sent to; while the app ends it has no screen any more."""
        return (self._app.focused or self._app.screen) if self._app.screen_stack else self._app

    def _drop(self) -> None:
        self._has_given_up = True
        if self._held:
            count = len(self._held)
            self._held.clear()
            error = EmbedlabError(
                f"{count} typed keys were dropped",
                hint="what the key before them opens took too long; type them again",
            )
            self._report(error)


def _is_idle(pump: MessagePump) -> bool:
    """Whether neither PUMP nor anything above it has an unhandled message."""
    node: MessagePump | None = pump
    while node is not None:
        if node.message_queue_size:
            return False
        node = node._parent
    return True
