"""The dashboard in a terminal of its own, which sends many keys at once, and which goes away."""

import os
import pty
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from select import select

import psutil
import pytest

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.questions import QUIET_S
from tests.tui.world import make_run

ARGUMENTS = ("-m", "embedlab", "tui", "--data", "tiny", "--device", "cpu", "--threads", "1")


class Terminal:
    """A terminal in which a dashboard shows the runs of FOLDER."""

    def __init__(self, folder: Path) -> None:
        pid, self.end = pty.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, *ARGUMENTS, "--runs", str(folder)])
        self.process = psutil.Process(pid)

    def send(self, text: str) -> None:
        """Send TEXT in one packet."""
        os.write(self.end, text.encode())

    def shows(self, text: str) -> None:
        """Read until TEXT is drawn."""
        drawn = b""
        while text.encode() not in drawn:
            assert select([self.end], [], [], 60)[0], f"it is not shown: {text}"
            drawn += os.read(self.end, 4096)

    def ends(self) -> None:
        """Wait until the dashboard has ended, or fail."""
        self.process.wait(60)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal that shows one finished run."""
    make_run(Settings(runs=tmp_path), "keepme", 1, Finished(step=30))
    opened = Terminal(tmp_path)
    try:
        opened.shows("Filter")  # the keys are drawn
        yield opened
    finally:
        with suppress(psutil.NoSuchProcess):  # it has ended, as it should
            opened.process.kill()
            opened.process.wait()


def test_a_run_is_deleted_by_a_yes_alone_and_the_dashboard_quits(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.send("3")
    terminal.shows("keepme")
    terminal.send("jkXyx" * 500)  # as text that was pasted without brackets
    terminal.send("2")
    terminal.shows("Rows by")
    terminal.send("3")
    terminal.shows("New")
    assert (tmp_path / "keepme" / "seed-1" / "recipe.toml").exists()
    terminal.send("X")
    terminal.shows("Delete keepme@1")
    time.sleep(QUIET_S + 0.1)  # an answer is meant
    terminal.send("y")
    terminal.shows("deleted keepme@1")
    assert not (tmp_path / "keepme").exists()
    terminal.send("q")
    terminal.shows("\x1b[?1049l")  # the screen of before
    terminal.ends()


@pytest.mark.slow
def test_a_terminal_that_goes_away_takes_the_dashboard_with_it(terminal: Terminal) -> None:
    os.close(terminal.end)  # with a screen of output still unread
    terminal.ends()
