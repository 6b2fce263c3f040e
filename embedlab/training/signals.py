"""Stop requests: a signal is stored, and the training loop checks it between two steps."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from embedlab.core.interrupts import interrupts, stops_given_to


class StopRequest:
    """Whether a signal requested the process to stop."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    def receive(self, number: int, interrupt: Callable[[], NoReturn]) -> None:
        """Store the signal; a second Ctrl-C does not wait for the end of the step, and INTERRUPTs
        it.
        """
        if number == signal.SIGINT and self.signal is signal.SIGINT:
            interrupt()
        self.signal = signal.Signals(number)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Catch the signals that request an end within the block; outside the main thread none is
    caught.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    with interrupts() as interrupt:

        def receive(number: int, _frame: FrameType | None) -> None:
            request.receive(number, interrupt)

        with stops_given_to(receive):
            yield request
