"""The whole program in a real terminal (tmux)."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.questions import QUIET_S
from tests.tui.world import make_run

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
PAUSE_S = QUIET_S + 0.1  # an escape is one alone, and an answer is meant


class Terminal:
    """A tmux session with a server of its own, in which a dashboard runs on the starter set."""

    def __init__(self, folder: Path) -> None:
        self._socket = f"embedlab-{uuid.uuid4().hex[:8]}"
        kept = ("XDG_", "HF_", "OMP_", "PATH", "HOME")
        words = ["new-session", "-d", "-x", "140", "-y", "45", "-c", str(folder)]
        for key, value in os.environ.items():
            if key.startswith(kept):
                words += ["-e", f"{key}={value}"]
        flags = ("--data", "starter", "--runs", "runs", "--device", "cpu", "--threads", "1")
        self.tmux(*words, "--", sys.executable, "-m", "embedlab", "tui", *flags)

    def tmux(self, *words: str) -> str:
        """Run a command of tmux and return what it prints."""
        hidden = {"COLUMNS", "LINES", "TMUX", "NO_COLOR"}
        environment = {key: value for key, value in os.environ.items() if key not in hidden}
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        ).stdout

    def send(self, text: str) -> None:
        """Send TEXT in one packet."""
        self.tmux("send-keys", "-l", text)

    def escape(self) -> None:
        """Press escape, and nothing that follows at once."""
        self.tmux("send-keys", "Escape")
        time.sleep(PAUSE_S)

    def until(self, holds: Callable[[str], object], patience_s: float = 120.0) -> None:
        """Wait until the screen HOLDS."""
        ending = time.monotonic() + patience_s
        while not holds(shown := self.tmux("capture-pane", "-p")):
            if time.monotonic() > ending:
                pytest.fail(f"it did not happen; the screen was:\n{shown}")
            time.sleep(0.1)

    def shows(self, text: str) -> None:
        """Wait until the screen shows TEXT."""
        self.until(lambda shown: text in shown)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a folder with one finished run."""
    make_run(Settings(runs=tmp_path / "runs"), "keepme", 1, Finished(step=30))
    opened = Terminal(tmp_path)
    yield opened
    opened.tmux("kill-server")


def test_a_run_is_deleted_by_a_yes_alone_and_the_dashboard_quits(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.shows("1,750 items")
    terminal.send("3")
    terminal.shows("keepme")
    terminal.send("/xXy")
    terminal.shows("· /xXy")
    terminal.escape()
    terminal.send("n")
    terminal.shows("search, or a file path")
    terminal.send("/xXy")  # into the form that is open
    terminal.shows(" /xXy ")
    terminal.escape()
    terminal.send("jkXyx" * 500)  # as text that was pasted without brackets
    terminal.send("2")
    terminal.shows("b Rows by")
    terminal.send("3")
    terminal.shows("n New")
    assert (tmp_path / "runs" / "keepme" / "seed-1" / "recipe.toml").exists()
    terminal.tmux("send-keys", "X")
    terminal.shows("Delete keepme@1")
    time.sleep(PAUSE_S)
    terminal.send("y")
    terminal.until(lambda _: not (tmp_path / "runs" / "keepme").exists())
    terminal.shows("deleted keepme@1")
    terminal.send("q")
    terminal.until(lambda shown: "3 Runs" not in shown)
