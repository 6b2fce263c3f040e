"""Frames for a slow terminal: one that is behind gets the present picture when it has drawn the
last ones, and none in between.

Textual queues thirty frames, and the buffers of a connection hold more: behind a key that is held
over a link of 20 KB/s they take many seconds. A frame ends with a question that every terminal
answers, where its cursor is, unless it is small and follows after a pause. No frame is drawn while
more is unanswered than the connection carries in a moment, which the answers before have shown.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import Screen

from embedlab.tui.terminal.delay import after

if TYPE_CHECKING:
    from textual.driver import Driver

QUESTION = "\x1b[6n"
# a frame is late that is drawn later than this after the way of its answer, which a frame without
# contents takes too
LATE_S = 0.1
_LONGEST_WAY_S = 0.3  # of an answer
_LOST_S = 3.0  # an answer that takes longer does not come
_BURST_S = 0.5  # small frames further apart than this need no question
_SMALL, _MOST = 1_000, 65_536  # characters
_LOOK_AGAIN_S = 0.02

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class _Unanswered:
    """A frame whose answer is under way."""

    at: float
    size: int


class FramePace:
    """Knows from the answers of the terminal whether it is behind."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._unanswered: deque[_Unanswered] = deque()
        self._last = float("-inf")  # frame
        self._answers = True  # until the first one did not come
        self._has_answered = False
        self._way_s = _LONGEST_WAY_S  # the shortest time that an answer took
        self._room = _SMALL  # characters that may be unanswered before another frame is drawn

    def frame_drawn(self, driver: "Driver | None", size: int) -> None:
        """Write a question behind a frame of SIZE characters; a driver without a terminal has no
        writer.
        """
        now = self._now()
        needs_one = size > _SMALL or now - self._last < _BURST_S
        if self._answers and needs_one and _writer(driver) is not None and driver is not None:
            driver.write(QUESTION)
            self._unanswered.append(_Unanswered(at=now, size=size))
        self._last = now

    def answered(self) -> None:
        """Take an answer of the terminal: one in time doubles the room, a late one closes it."""
        self._has_answered = True
        if self._unanswered:
            took_s = self._now() - self._unanswered.popleft().at
            self._way_s = min(self._way_s, took_s)
            self._room = (
                0 if took_s > self._way_s + LATE_S else min(2 * max(self._room, _SMALL), _MOST)
            )

    def is_behind(self, driver: "Driver | None") -> bool:
        """Whether the terminal has yet to draw what it was sent."""
        if self._unanswered and self._now() - self._unanswered[0].at > _LOST_S:
            self._unanswered.clear()
            self._answers, self._room = (
                self._has_answered,
                0,
            )  # on a busy machine an answer waits behind many keys
        unanswered = sum(unanswered.size for unanswered in self._unanswered)
        is_late = bool(self._unanswered) and (
            unanswered > self._room or self._now() - self._unanswered[0].at > self._way_s + LATE_S
        )
        writer = _writer(driver)
        return is_late or (writer is not None and writer._queue.qsize() > 0)

    async def wait_for_answers(self, patience_s: float = 1.0) -> None:
        """Wait for the last answers: after the end of the program they would be typed into the
        shell.
        """
        self._answers, ending = False, self._now() + patience_s
        while self._unanswered and self._now() < ending:  # noqa: ASYNC110 - the answers come through the event loop
            await asyncio.sleep(_LOOK_AGAIN_S)


class PacedScreen(Screen[Result]):
    """A screen that draws nothing while its terminal is behind, or while several changes are drawn
    as one.

    Textual computes a frame during a batch too, marks its regions as drawn, and discards it: what
    was below remains on the terminal.
    """

    _later: asyncio.TimerHandle | None = None

    def _compositor_refresh(self) -> None:
        """Draw what changed, or leave it marked as changed and look again: the next frame holds all
        of it.
        """
        pace: FramePace | None = getattr(self.app, "pace", None)
        if pace is None:  # untuned
            super()._compositor_refresh()
        elif self._later is not None:
            return
        elif self.app._batch_count or pace.is_behind(self.app._driver):
            self._dirty_widgets.clear()  # the compositor knows their regions
            self._later = after(_LOOK_AGAIN_S, self, self._draw_later)
        else:
            super()._compositor_refresh()

    def _draw_later(self) -> None:
        self._later = None
        self._compositor_refresh()


def _writer(driver: "Driver | None") -> Any:
    """The thread that writes to a terminal."""
    return getattr(driver, "_writer_thread", None)
