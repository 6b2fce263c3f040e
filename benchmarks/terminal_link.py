"""What the dashboard sends to a terminal: nothing while nothing changes, and no more than a slow
link carries.

The dashboard runs in a pseudo-terminal whose other end reads at a given rate and answers questions
about the cursor, as a terminal does.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

RATE = 20_000  # bytes a second
SIZE = (120, 40)
HELD_S, KEYS_PER_S = 8.0, 30
SETTLE_S, IDLE_S = 12.0, 10.0
QUESTION, ANSWER = b"\x1b[6n", b"\x1b[1;1R"


class Link:
    """The terminal's end of the connection."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._budget, self._filled = 0.0, time.monotonic()

    def send(self, keys: bytes) -> None:
        """Type KEYS."""
        os.write(self._terminal, keys)

    def read(self, rate: float | None = None) -> bytes:
        """What arrives within 5 ms, at most RATE bytes a second."""
        limit = 65_536
        if rate is not None:
            now = time.monotonic()
            self._budget, self._filled = (
                min(self._budget + (now - self._filled) * rate, rate * 0.05),
                now,
            )
            limit = int(self._budget)
        if limit < 200 or not select.select([self._terminal], [], [], 0.005)[0]:
            time.sleep(0.005)
            return b""
        found = os.read(self._terminal, limit)
        self._budget -= len(found)
        os.write(self._terminal, ANSWER * found.count(QUESTION))
        return found

    def read_for(self, seconds: float) -> int:
        """The bytes that arrive in SECONDS."""
        ending, count = time.monotonic() + seconds, 0
        while time.monotonic() < ending:
            count += len(self.read())
        return count


@contextmanager
def dashboard(arguments: Sequence[str], state: Path) -> Iterator[tuple[Link, int]]:
    """A dashboard that shows its pairs, in a process of its own with the state folder STATE, and
    the id of that process.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(XDG_STATE_HOME=str(state), TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(sys.executable, [sys.executable, "-m", "embedlab", "tui", *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    link, shown = Link(terminal), b""
    try:
        while b" pairs" not in shown.replace(b"reading pairs", b""):
            try:
                shown += link.read()
            except OSError as error:  # it has ended
                raise SystemExit(
                    f"the dashboard did not start: {shown.decode(errors='replace').strip()}"
                ) from error
        link.read_for(2.0)
        yield link, pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def seconds_behind(link: Link) -> float:
    """How long output arrives after the last of many `j` over a link of RATE."""
    next_key = last_output = time.monotonic()
    ending = next_key + HELD_S
    while (now := time.monotonic()) < ending + 1.0 or now - last_output < 1.5:
        if next_key <= now < ending:
            link.send(b"j")
            next_key += 1 / KEYS_PER_S
        if link.read(RATE):
            last_output = time.monotonic()
    return max(0.0, last_output - ending)


def idle_bytes(link: Link) -> int:
    """The bytes that Runs sends in IDLE_S when nothing changes."""
    link.send(b"3")
    link.read_for(SETTLE_S)
    return link.read_for(IDLE_S)


if __name__ == "__main__":  # arguments of `embedlab tui`; in a process of its own, for it forks
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="All arguments are those of `embedlab tui`.",
    )
    words = parser.parse_known_args()[1]
    with TemporaryDirectory() as own:
        state_folder = Path(os.environ.get("XDG_STATE_HOME", own))
        with dashboard(words, state_folder) as (link_of_it, _):
            print(
                json.dumps(
                    {"behind_s": seconds_behind(link_of_it), "idle_bytes": idle_bytes(link_of_it)}
                )
            )
