"""Being asked to stop: a signal is remembered, and the training loop looks at it between two steps."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether somebody asked the process to stop."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal; a second Ctrl-C does not wait for the step to end."""
        if number == signal.SIGINT and self.signal is signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Catch SIGINT, SIGTERM and SIGHUP until the block ends; outside the main thread nothing is caught."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    # What is ignored on purpose, as SIGHUP is under nohup, stays so.
    caught = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, request.receive) for number in caught}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
