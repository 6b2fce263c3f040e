"""Interruptions that nothing discards.

A KeyboardInterrupt that a signal handler raises is lost where it meets a `__del__`, a callback of C
code or a bare `except` of a library. Until the block that waits for it is left it is raised again,
unless it is on its way already.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# Those that request an end: what a user, a terminal, or a batch system sends when time is up.
STOPS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
)


AGAIN_S = 0.2  # between two attempts
AT_ONCE_S = 0.001  # the interpreter itself says that one was discarded


@contextmanager
def interrupts() -> Iterator[Callable[[], NoReturn]]:
    """Yield a function for signal handlers, which are called in the main thread: it interrupts the
    block for certain.
    """
    discarded_before = sys.unraisablehook

    def interrupt() -> NoReturn:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
        raise KeyboardInterrupt

    def again(_number: int, _frame: FrameType | None) -> None:
        if not _is_on_its_way(sys.exception()):
            raise KeyboardInterrupt

    def discarded(hook_arguments: "sys.UnraisableHookArgs") -> None:
        if isinstance(hook_arguments.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, AT_ONCE_S, AGAIN_S)
        else:
            discarded_before(hook_arguments)

    alarm_before = signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = discarded
    try:
        yield interrupt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = discarded_before
        signal.signal(signal.SIGALRM, alarm_before)


def _is_on_its_way(handled: BaseException | None) -> bool:
    """Return whether the exception that is HANDLED now, in an `except`, `finally` or `__exit__`, is
    an interruption or was caused by one.
    """
    while handled is not None and not isinstance(handled, KeyboardInterrupt):
        handled = handled.__context__
    return handled is not None


@contextmanager
def handle_stops(receive: Callable[[int, Callable[[], NoReturn]], None]) -> Iterator[None]:
    """Let RECEIVE handle the signals that request an end until the block ends; it gets a function
    that interrupts the block.

    A signal that is deliberately ignored, as SIGHUP under nohup, stays ignored. Outside the main
    thread no signal is caught.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with interrupts() as interrupt:

        def stop(number: int, _frame: FrameType | None) -> None:
            receive(number, interrupt)

        caught = [number for number in STOPS if signal.getsignal(number) != signal.SIG_IGN]
        previous_handlers = {number: signal.signal(number, stop) for number in caught}
        try:
            yield
        finally:
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)


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
    """Catch the signals that request an end within the block."""
    request = StopRequest()
    with handle_stops(request.receive):
        yield request
