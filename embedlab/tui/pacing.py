"""Frames for a slow terminal: one that is behind gets the present picture when it has drawn the last ones, and none in between.

Textual queues thirty frames, and the buffers of a connection hold more: behind a key that is held over a link of 20 KB/s they take many
seconds. In a burst of frames each ends with a question that every terminal answers, where its cursor is. While an answer is late, no
frame is drawn.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import Screen
from textual.timer import Timer

if TYPE_CHECKING:
    from textual.driver import Driver

QUESTION = "\x1b[6n"
_LATE_S = 0.12  # an answer that takes longer makes frames wait
_LOST_S = 3.0  # an answer that takes longer does not come
_BURST_S = 0.5  # frames further apart than this need no question
_LOOK_AGAIN_S = 0.02

Result = TypeVar("Result")


class FramePace:
    """Knows from the answers of the terminal whether it is behind."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._questions: deque[float] = deque()  # times of the unanswered questions
        self._last = float("-inf")  # frame
        self._answers = True  # until none came

    def frame_drawn(self, driver: "Driver | None") -> None:
        """Write a question behind a frame that follows another closely; a driver without a terminal has no writer."""
        now = self._now()
        if self._answers and now - self._last < _BURST_S and _writer(driver) is not None and driver is not None:
            driver.write(QUESTION)
            self._questions.append(now)
        self._last = now

    def answered(self) -> None:
        """Take an answer of the terminal."""
        if self._questions:
            self._questions.popleft()

    def is_behind(self, driver: "Driver | None") -> bool:
        """Whether the terminal has yet to draw what it was sent."""
        if self._questions and self._now() - self._questions[0] > _LOST_S:
            self._questions.clear()
            self._answers = False
        is_late = bool(self._questions) and self._now() - self._questions[0] > _LATE_S
        writer = _writer(driver)
        return is_late or (writer is not None and writer._queue.qsize() > 0)

    async def wait_for_answers(self, patience_s: float = 1.0) -> None:
        """Wait for the last answers: after the end of the program they would be typed into the shell."""
        self._answers, ending = False, self._now() + patience_s
        while self._questions and self._now() < ending:  # noqa: ASYNC110 - the answers come through the event loop
            await asyncio.sleep(_LOOK_AGAIN_S)


class PacedScreen(Screen[Result]):
    """A screen that draws nothing while its terminal is behind."""

    _later: Timer | None = None

    def _compositor_refresh(self) -> None:
        """Draw what changed, or leave it marked as changed and look again: the next frame holds all of it."""
        if self._later is not None:
            return
        pace: FramePace | None = getattr(self.app, "pace", None)
        if pace is not None and pace.is_behind(self.app._driver):
            self._dirty_widgets.clear()  # the compositor knows their regions
            self._later = self.set_timer(_LOOK_AGAIN_S, self._draw_later)
        else:
            super()._compositor_refresh()

    def _draw_later(self) -> None:
        self._later = None
        self._compositor_refresh()


def _writer(driver: "Driver | None") -> Any:
    """The thread that writes to a terminal."""
    return getattr(driver, "_writer_thread", None)
