import re
import sys

import pytest

from embedlab.cli.app import main
from tests.tui.driving import NARROW, Open

EXPORTERS_OWN = "c5c8c6"  # the colour of text without any


async def test_no_color_leaves_nothing_but_greys_and_the_cursor_in_sight(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(size=NARROW) as pilot:
        picture = pilot.app.export_screenshot()
    styles = (
        "".join(re.findall(r"-r\d+ \{[^}]*\}", picture))
        + picture[picture.index('clip-path="url') :]
    )
    fills = set(re.findall(r"#([0-9a-f]{6})", styles)) - {EXPORTERS_OWN}
    assert all(fill[:2] == fill[2:4] == fill[4:] for fill in fills)
    assert len(fills) > 4


def test_a_terminal_that_can_draw_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(["tui", "--data", "tiny"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the terminal 'dumb' cannot show a dashboard" in captured.err
