"""What the dashboard remembers is never trusted: a file of any shape gives way to the defaults."""

import pytest

from embedlab.core.paths import state_folder
from embedlab.tui.state import DashboardState, Memory


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf",
        b"[" * 100_000,
        b"9" * 5000,
        b'{"schema": 1, "theme": "\\ud800"}',
        b'{"schema": 1, "mode": "a\\u0000"}',
        b"[]",
    ],
)
def test_a_state_of_any_shape_gives_way_to_the_defaults(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert state_folder().is_relative_to(tmp_path_factory.getbasetemp())
    state_folder().mkdir(parents=True)
    (state_folder() / "dashboard.json").write_bytes(content)
    memory = Memory.load()
    assert memory.state == DashboardState()
    assert memory.trouble is not None
    assert "unusable" in memory.trouble.message
