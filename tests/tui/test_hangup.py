"""What is left of the dashboard when its terminal goes away, as when a connection breaks."""

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

ARGUMENTS = ("-m", "embedlab", "tui", "--data", "tiny", "--device", "cpu", "--threads", "1")


def is_over(pid: int, patience_s: float = 60.0) -> bool:
    ending = time.monotonic() + patience_s
    while time.monotonic() < ending:
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_a_terminal_that_goes_away_takes_the_dashboard_with_it(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, *ARGUMENTS, "--runs", str(tmp_path / "runs")])
    try:
        shown = b""
        while b"Filter" not in shown:  # the keys are drawn
            shown += os.read(terminal, 4096)
        os.close(terminal)  # with a screen of output still unread
        assert is_over(pid)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
