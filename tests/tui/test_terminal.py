"""The whole program in a real terminal (tmux) on `--data tiny`."""

import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.grid_file import grid_names
from embedlab.runs.events import Finished
from embedlab.runs.status import run_status
from embedlab.runs.store import find_runs
from tests.tui.driving import make_run

PAIRS, SOME_PAIRS = (
    re.compile(r"\d,\d{3} pairs"),
    re.compile(r"\d of \d,\d{3} pairs"),
)  # however many `--data tiny` has

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


WITHOUT_ROOTS_PRIVILEGE = (
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
)


class Terminal:
    """A tmux session with a server of its own."""

    def __init__(self, folder: Path) -> None:
        self._socket = f"embedlab-{uuid.uuid4().hex[:8]}"
        self._folder = folder

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        # The size is the terminal's own: what the other tests set would be believed.
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in {"COLUMNS", "LINES", "TMUX"}
        }
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        ).stdout

    def start(self, *, size: tuple[int, int] = (140, 45), prefix: Sequence[str] = ()) -> None:
        environment = {
            key: value
            for key, value in os.environ.items()
            if key.startswith(("XDG_", "HF_", "OMP_", "PATH", "HOME", "NO_"))
        }
        words = [word for key, value in environment.items() for word in ("-e", f"{key}={value}")]
        flags = ("--data", "tiny", "--runs", "runs", "--device", "cpu", "--threads", "1")
        program = [*prefix, sys.executable, "-m", "embedlab", "tui", *flags]
        self.tmux(
            "new-session",
            "-d",
            "-x",
            str(size[0]),
            "-y",
            str(size[1]),
            "-c",
            str(self._folder),
            *words,
            "--",
            *program,
        )

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.tmux("send-keys", key)

    def next_line(self) -> None:
        """Enter, and the moment that a busy machine takes to move the cursor: nothing on the screen
        shows it.
        """
        self.keys("Enter")
        time.sleep(3)

    def screen(self, *options: str) -> str:
        return self.tmux("capture-pane", "-p", *options)

    def until(self, holds: Callable[[str], object], patience_s: float = 180.0) -> str:
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
    terminal.until(lambda text: PAIRS.search(text))
    terminal.keys("/")
    terminal.until(lambda text: "s Sort" not in text)
    terminal.keys("gold>4.5")
    terminal.until(lambda text: SOME_PAIRS.search(text))
    terminal.keys("Enter")
    terminal.until(lambda text: "s Sort" in text)
    terminal.keys("l", "l", "s")
    text = terminal.until(lambda text: SOME_PAIRS.search(text) and "gold▼" in text)
    assert "5.00" in text.splitlines()[4]  # below mode bar, selection, filter and header
    terminal.keys("q")
    terminal.until(lambda text: "Pairs" not in text)


@pytest.mark.slow
def test_a_small_terminal_without_colours_shows_the_pairs_and_opens_one(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.start(size=(80, 24))
    terminal.until(lambda text: PAIRS.search(text))
    terminal.keys("j", "Enter")
    terminal.until(lambda text: "pair 1" in text and "s Sort" not in text)
    coloured = re.findall(r"\x1b\[[\d;]*[34]8;2;(\d+);(\d+);(\d+)", terminal.screen("-e"))
    assert all(len(set(colour)) == 1 for colour in coloured)
    terminal.keys("C-q")
    terminal.until(lambda text: "Pairs" not in text)


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads every folder"
)
def test_a_run_folder_without_permission_is_reported_and_the_others_are_shown(
    terminal: Terminal, tmp_path: Path
) -> None:
    settings = Settings(data=TINY_FOLDER, runs=tmp_path / "runs")
    make_run(settings, "open", 1, Finished(step=20))
    closed = make_run(settings, "closed", 1, Finished(step=20)).path
    closed.chmod(0)
    try:
        terminal.start(prefix=WITHOUT_ROOTS_PRIVILEGE if os.geteuid() == 0 else ())
        terminal.until(lambda text: PAIRS.search(text) and "cannot read the run 'closed@1'" in text)
        terminal.keys("3")
        terminal.until(lambda text: "open@1" in text and "? unreadable" in text)
    finally:
        closed.chmod(0o755)


@pytest.mark.slow
def test_a_grid_goes_on_without_a_terminal_and_is_there_when_one_comes_back(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start()
    terminal.until(lambda text: PAIRS.search(text))
    terminal.keys("4")
    terminal.until(lambda text: "sbert-lr" in text)
    names = grid_names()
    terminal.keys("End", *["Up"] * (len(names) - 1 - names.index("sbert-lr")))
    terminal.until(lambda text: "grid sbert-lr" in text and "cells:" in text)
    terminal.keys("Enter", "C-a", "C-k")
    terminal.until(lambda text: "a list" in text and "seeds is ''" in text)
    terminal.keys("[1]")
    terminal.until(lambda text: "6 cells: 6 variants x 1 seeds" in text)
    terminal.next_line()
    terminal.keys("C-a", "C-k")
    terminal.until(lambda text: "axis optim.lr is ''" in text)
    terminal.keys("[1e-4, 2e-4]")
    terminal.until(lambda text: "2 cells: 2 variants x 1 seeds" in text)
    terminal.next_line()
    terminal.keys('data.rows=200 data.datasets=["snli"] evaluate.every=1.0')
    terminal.until(lambda text: "--set evaluate.every=1.0" in text)
    terminal.until(lambda text: "2 cells: 2 variants x 1 seeds" in text)
    terminal.keys("C-s")
    terminal.until(lambda text: "Start sbert-lr with 2 cells?" in text)
    terminal.keys("y")
    terminal.until(lambda text: "▶ 1 running" in text, 300)
    terminal.keys("C-q")
    terminal.until(lambda text: "Launch" not in text)
    runs = tmp_path / "runs"
    ending = time.monotonic() + 600
    while time.monotonic() < ending and [run_status(run).state for run in find_runs(runs)] != [
        "finished",
        "finished",
    ]:
        time.sleep(0.5)
    terminal.start()
    terminal.until(lambda text: "2/2" in text and "✓ 2 done" in text)
