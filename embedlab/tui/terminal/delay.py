"""Calls a function once after a delay, however busy the machine is.

A timer of Textual that repeats makes up for what it missed; one that runs once does not: when its
task is held up between two looks at the clock for longer than the delay, it ends without the call.
"""

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from textual.message_pump import MessagePump


def after(delay_s: float, node: MessagePump, callback: Callable[[], object]) -> TimerHandle:
    """Have NODE, a widget or a screen, call CALLBACK in its turn after DELAY_S seconds, unless it
    is removed by then, or the app ends.

    `cancel()` of the result takes it back.
    """

    def call() -> object:
        is_removed = getattr(
            node, "_pruning", False
        )  # what is in it is removed before it is, and CALLBACK would not find it
        return callback() if node.is_attached and not is_removed else None

    return get_running_loop().call_later(delay_s, node.call_next, call)
