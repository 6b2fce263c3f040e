"""The whole program in a real terminal (tmux) on the sample world."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedlab.grids.grid_file import grid_names
from embedlab.runs.status import status
from embedlab.runs.store import find_runs

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A tmux session of 140 x 45 cells with a server of its own."""

    def __init__(self, folder: Path) -> None:
        self._socket = f"embedlab-{uuid.uuid4().hex[:8]}"
        self._folder = folder

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        # The size is the terminal's own: what the other tests set would be believed.
        environment = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES", "TMUX"}}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def start(self, *arguments: str) -> None:
        environment = {key: value for key, value in os.environ.items() if key.startswith(("XDG_", "HF_", "OMP_", "PATH", "HOME"))}
        words = [word for key, value in environment.items() for word in ("-e", f"{key}={value}")]
        program = [sys.executable, "-m", "embedlab", "tui", "--sample", "--runs", "runs", "--device", "cpu", "--threads", "1", *arguments]
        self.tmux("new-session", "-d", "-x", "140", "-y", "45", "-c", str(self._folder), *words, "--", *program)

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.tmux("send-keys", key)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, holds: Callable[[str], object], patience_s: float = 60.0) -> str:
        ending = time.monotonic() + patience_s
        while time.monotonic() < ending:
            if holds(text := self.screen()):
                return text
            time.sleep(0.1)
        pytest.fail(f"it did not happen; the screen was:\n{self.screen()}")

    def close(self) -> None:
        self.tmux("kill-server")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(tmp_path)
    yield found
    found.close()


def test_filter_sort_and_open_a_pair_in_a_real_terminal(terminal: Terminal) -> None:
    terminal.start()
    terminal.until(lambda text: "5,400 pairs" in text)
    terminal.keys("/")
    terminal.until(lambda text: "s Sort" not in text)
    terminal.keys("gold>4.5")
    terminal.until(lambda text: "of 5,400 pairs" in text)
    terminal.keys("Enter")
    terminal.until(lambda text: "s Sort" in text)
    terminal.keys("l", "l", "s")
    text = terminal.until(lambda text: "of 5,400 pairs" in text and "gold▼" in text)
    assert "5.00" in text.splitlines()[3]
    terminal.keys("q")
    terminal.until(lambda text: "Pairs" not in text)


@pytest.mark.slow
def test_a_grid_goes_on_while_nobody_looks_and_is_there_when_one_comes_back(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start()
    terminal.until(lambda text: "5,400 pairs" in text)
    terminal.keys("4")
    terminal.until(lambda text: "sbert-lr" in text)
    names = grid_names()
    terminal.keys("End", *["Up"] * (len(names) - 1 - names.index("sbert-lr")))
    terminal.until(lambda text: "grid sbert-lr" in text and "cells:" in text)
    terminal.keys("Enter", "C-a", "C-k")
    terminal.keys("[1]", "Enter", "C-a", "C-k", "[1e-4, 2e-4]", "Enter", 'data.rows=200 data.datasets=["snli"] evaluate.every=1.0')
    terminal.until(lambda text: "2 cells: 2 variants x 1 seeds" in text)
    terminal.keys("C-s")
    terminal.until(lambda text: "Start sbert-lr with 2 cells?" in text)
    terminal.keys("y")
    terminal.until(lambda text: "▶ 1 running" in text, 120)
    terminal.keys("Escape", "q")
    terminal.until(lambda text: "Launch" not in text)
    runs = tmp_path / "runs-sample"
    ending = time.monotonic() + 300
    while time.monotonic() < ending and [status(run).state for run in find_runs(runs)] != ["finished", "finished"]:
        time.sleep(0.5)
    terminal.start()
    terminal.until(lambda text: "2/2" in text and "✓ 2 done" in text, 180)
