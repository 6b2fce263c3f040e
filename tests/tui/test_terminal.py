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
from embedlab.runs.events import EventLog, Finished, Started
from embedlab.runs.store import RunFolder
from embedlab.tui.questions import QUIET_S
from tests.tui.test_grid_board import make_grid
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

    def shows(self, text: str) -> None:
        """Wait until the screen shows TEXT."""
        self.until(lambda shown: text in shown)


HELD = """
import sys, time
from pathlib import Path
from embedlab.runs.store import RunFolder
with RunFolder.of(Path(sys.argv[1]), sys.argv[2], 1).lock():
    print("held", flush=True)
    time.sleep(900)
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a folder with one finished run."""
    make_run(Settings(runs=tmp_path / "runs"), "keepme", 1, Finished(step=30))
    opened = Terminal(tmp_path)
    yield opened
    opened.tmux("kill-server")


@pytest.fixture
def cell(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """The process of a cell that trains, in a grid whose other cells have ended."""
    plan = make_grid(Settings(runs=tmp_path / "runs", cache=tmp_path / "cache"))
    run = RunFolder.of(tmp_path / "runs", plan.variants[0].run, 1)
    with EventLog(run.events_file) as log:
        log.append(Started(pid=1, host="here", steps=30))
    words = [sys.executable, "-c", HELD, str(tmp_path / "runs"), run.name]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


PACKET = "/xXy"
PAUSE_S = QUIET_S + 0.1  # an escape is one alone, and an answer is meant


def test_keys_of_one_packet_stop_and_delete_nothing_wherever_they_come(
    terminal: Terminal, tmp_path: Path, cell: "subprocess.Popen[str]"
) -> None:
    terminal.start()
    terminal.shows("1,750 items")

    openings = (
        [("c", "Score/Reference")],
        [("n", "words, or a path")],
        [("n", "words, or a path"), ("Enter", "ctrl+s starts it")],
        [("?", "the three rooms")],
        [("C-o", "Open a CSV")],
        [("C-p", "Search for commands")],
        [("G", "› keepme"), ("E", "New name of")],
        [("Tab", "┏━ loss")],
        [("g", "› mine"), ("Enter", "7 of 8 cells done")],
        [("G", "› keepme"), ("X", "Delete keepme@1")],
    )

    def to_runs() -> None:
        """Leave what is open, key by key, for the list of runs."""
        opened = [seen for opening in openings for _, seen in opening if "›" not in seen]
        terminal.tmux("send-keys", "Escape")
        time.sleep(PAUSE_S)
        while any(seen in terminal.until(len) for seen in opened):
            terminal.tmux("send-keys", "Escape")
            time.sleep(PAUSE_S)
        terminal.send("3")
        terminal.until(lambda shown: "┏━ runs" in shown and "▶ mine" in shown)

    for room, key in (("1", "v Vary"), ("2", "b Rows by"), ("3", "n New")):
        for zoom in ("", "z"):
            terminal.send(room)
            terminal.shows(key)
            if zoom:
                terminal.send(zoom)
                time.sleep(PAUSE_S)
            terminal.send(PACKET)
            terminal.shows("xXy")
            terminal.tmux("send-keys", "Escape")
            terminal.until(lambda shown: "xXy" not in shown)
    for opening in openings:
        to_runs()
        for key, seen in opening:
            terminal.tmux("send-keys", key)
            terminal.shows(seen)
        time.sleep(PAUSE_S)
        terminal.send(PACKET)
        time.sleep(PAUSE_S)
    assert cell.poll() is None
    assert (tmp_path / "runs" / "keepme" / "seed-1" / "recipe.toml").exists()
    to_runs()
    terminal.send("jkXyx" * 500)  # as text that was pasted without brackets
    time.sleep(PAUSE_S)
    assert cell.poll() is None
    assert (tmp_path / "runs" / "keepme" / "seed-1" / "recipe.toml").exists()


def test_a_run_is_deleted_after_a_yes_and_the_dashboard_quits(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start()
    terminal.shows("1,750 items")
    terminal.send("3")
    terminal.shows("keepme")
    terminal.tmux("send-keys", "X")
    terminal.shows("Delete keepme@1")
    time.sleep(PAUSE_S)
    terminal.send("y")
    terminal.until(lambda _: not (tmp_path / "runs" / "keepme").exists())
    terminal.send("q")
    terminal.until(lambda shown: "3 Runs" not in shown)
