"""How a bug ends the dashboard."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from tests.tui.driving import until


def broken() -> None:
    raise TypeError("not foreseen")


@pytest.mark.parametrize("is_in_thread", [False, True])
def test_the_terminal_gets_no_traceback_and_the_command_the_error(
    is_in_thread: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dashboard = Dashboard(
        Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")
    )

    async def pilot(pilot: Pilot[Any]) -> None:
        if is_in_thread:
            pilot.app.run_worker(broken, thread=True)
        else:
            pilot.app.call_later(broken)
        await until(pilot, lambda: dashboard.crash)

    dashboard.run(headless=True, auto_pilot=pilot)
    assert isinstance(dashboard.crash, TypeError)
    assert dashboard.return_code == 1
    assert "Traceback" not in "".join(capfd.readouterr())
