"""No character of a sentence, a name or a message reaches the terminal of the dashboard as a
command.
"""

import io
from pathlib import Path

import polars as pl
from textual.widgets import Static

from embedlab.core.errors import EmbedlabError
from embedlab.tui.pairs.export import write_view
from tests.tui.driving import Open

EVIL = "owned\x1b]0;title\x07\x1b[2J\x9b31m\u202e\x7fend"
OBEYED = {"\x1b", "\x07", "\x9b", "\u202e", "\x7f"}


async def test_what_a_widget_forgot_to_make_plain_is_drawn_without_control_characters(
    opened: Open,
) -> None:
    async with opened() as pilot:
        await pilot.app.screen.mount(label := Static(EVIL, markup=False))
        pilot.app.report(EmbedlabError(EVIL, hint=EVIL))  # type: ignore[attr-defined]
        await pilot.pause()
        label.scroll_visible(animate=False)
        await pilot.pause()
        drawn = [
            segment.text
            for strip in pilot.app.screen._compositor.render_strips()
            for segment in strip
            if not segment.control
        ]
        assert "owned" in "".join(drawn)
        assert not OBEYED & set("".join(drawn))


def test_an_exported_csv_holds_no_formula(tmp_path: Path) -> None:
    view = pl.DataFrame(
        {
            "=name": ["=1+1", "-negated", "-0.5", None],
            "gold": [-1.0, 2.0, 3.0, 4.0],
            "plain": ["a", "b", "c", "d"],
        }
    )
    write_view(view, tmp_path / "view.csv")
    read = pl.read_csv(io.BytesIO((tmp_path / "view.csv").read_bytes()), infer_schema=False)
    assert read.to_dict(as_series=False) == {
        "'=name": ["'=1+1", "'-negated", "-0.5", None],
        "gold": ["-1.0", "2.0", "3.0", "4.0"],
        "plain": ["a", "b", "c", "d"],
    }
