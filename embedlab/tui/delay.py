"""Calls a function once after a delay, however busy the machine is.

A timer of Textual that repeats never skips what it should have done by now, and so does one that does not repeat: when its task is
held up between two looks at the clock for longer than the delay, it ends without the call.
"""

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from textual.message_pump import MessagePump


def after(delay_s: float, node: MessagePump, callback: Callable[[], object]) -> TimerHandle:
    """Have NODE call CALLBACK in its turn after DELAY_S seconds, unless it has ended by then; `cancel()` of the result takes it back."""
    return get_running_loop().call_later(delay_s, node.call_next, callback)
