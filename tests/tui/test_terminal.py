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


class Terminal:
    """A tmux session with a server of its own, in which a dashboard runs."""

    def __init__(self, folder: Path) -> None:
        self._socket = f"embedlab-{uuid.uuid4().hex[:8]}"
        self._folder = folder

    def tmux(self, *words: str) -> str:
        """Run a command of tmux and return what it prints."""
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in {"COLUMNS", "LINES", "TMUX", "NO_COLOR"}
        }
        return subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    def start(self, width: int = 140, height: int = 45) -> None:
        """Start a dashboard on the starter set."""
        kept = ("XDG_", "HF_", "OMP_", "PATH", "HOME")
        words = [
            word
            for key, value in os.environ.items()
            if key.startswith(kept)
            for word in ("-e", f"{key}={value}")
        ]
        flags = ("--data", "starter", "--runs", "runs", "--device", "cpu", "--threads", "1")
        size = ("-x", str(width), "-y", str(height))
        program = [sys.executable, "-m", "embedlab", "tui", *flags]
        place = ("-c", str(self._folder))
        self.tmux("new-session", "-d", *size, *place, *words, "--", *program)

    def send(self, text: str) -> None:
        """Send TEXT in one packet."""
        self.tmux("send-keys", "-l", text)

    def until(self, holds: Callable[[str], object], patience_s: float = 120.0) -> str:
        """Wait until the screen HOLDS, and return it."""
        ending = time.monotonic() + patience_s
        while not holds(shown := self.tmux("capture-pane", "-p")):
            if time.monotonic() > ending:
                pytest.fail(f"it did not happen; the screen was:\n{shown}")
            time.sleep(0.1)
        return shown


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a folder with one finished run."""
    make_run(Settings(runs=tmp_path / "runs"), "keepme", 1, Finished(step=30))
    opened = Terminal(tmp_path)
    yield opened
    opened.tmux("kill-server")


def test_keys_of_one_packet_filter_and_delete_nothing_in_every_room(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start()
    terminal.until(lambda shown: "1,750 items" in shown)
    for room, key in (("1", "v Vary"), ("2", "b Rows by"), ("3", "n New")):
        terminal.send(room)
        terminal.until(lambda shown, key=key: key in shown)
        terminal.send("/xXy")
        terminal.until(lambda shown: "xXy" in shown)
        terminal.tmux("send-keys", "Escape")
        terminal.until(lambda shown: "xXy" not in shown)
    terminal.send("3")
    terminal.until(lambda shown: "keepme" in shown)
    terminal.send("jkXy" * 500)  # as text that was pasted without brackets
    time.sleep(1)
    assert (tmp_path / "runs" / "keepme" / "seed-1" / "recipe.toml").exists()
    terminal.tmux("send-keys", "X")
    terminal.until(lambda shown: "Delete keepme@1" in shown)
    time.sleep(2 * QUIET_S)
    terminal.send("y")
    terminal.until(lambda _: not (tmp_path / "runs" / "keepme").exists())
    terminal.send("q")
    terminal.until(lambda shown: "3 Runs" not in shown)
