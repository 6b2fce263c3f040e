"""What a served dashboard has in place of a terminal, where input waits outside until earlier input
is handled.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any

from textual.app import App, ScreenStackError
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus, Event
from textual.message_pump import MessagePump

WAITING_EVENTS = 64  # in the queue of any one of those that handle them
LOOK_AGAIN_S = 0.01


def wait_for_browser() -> None:
    """Wait for the server's first packet: the size of the browser that opens this dashboard."""
    stdin = sys.stdin.fileno()  # read by the driver afterwards; a packet is written as one
    if not (head := os.read(stdin, 5)):
        raise SystemExit  # the server has ended
    packet = json.loads(os.read(stdin, int.from_bytes(head[1:], "big")))
    os.environ.update(COLUMNS=str(packet["width"]), ROWS=str(packet["height"]))


class ServedDriver(WebDriver):
    """The driver of a process whose stdin and stdout are a `DashboardServer`."""

    def __init__(self, app: App[object], **options: Any) -> None:
        super().__init__(app, **options)
        self.served = app

    def start_application_mode(self) -> None:
        """Begin with the focus, which the page has before its script could say so."""
        super().start_application_mode()
        self.served.call_later(self.served.post_message, AppFocus())

    def process_message(self, event: Event) -> None:
        """Pass EVENT on once the dashboard keeps up; meanwhile no input is read."""
        self._wait()
        super().process_message(event)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take what the server says, such as a new size, in its turn."""
        self._wait()
        super().on_meta(packet_type, payload)

    def _wait(self) -> None:
        while self._is_behind() and not self.exit_event.wait(LOOK_AGAIN_S):
            pass

    def _is_behind(self) -> bool:
        handlers: list[MessagePump | None] = [self.served]
        with suppress(ScreenStackError):  # a browser says its size before there is a screen
            handlers += [self.served.screen, self.served.focused]
        return any(
            handler is not None and handler.message_queue_size > WAITING_EVENTS
            for handler in handlers
        )
