"""A frame in fewer bytes looks as Textual's own does."""

import re

import pytest
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from embedlab.tui.terminal.short_frames import ShortFrame, shortened

SEQUENCE = re.compile("\x1b\\[([0-9;]*)([A-Za-z])|(.)", re.DOTALL)
INVISIBLE = re.compile("^(1|2|3|38;.*|3[0-7]|9[0-7])$")  # on a blank


def cells(text: str) -> dict[tuple[int, int], tuple[str, tuple[str, ...]]]:
    """What a terminal shows: the sign and the style of each cell, those on a blank only as far as
    they are visible.
    """
    shown, style, row, column = {}, dict[str, str](), 1, 1
    for codes, kind, sign in SEQUENCE.findall(text):
        if kind == "H":
            row, column = map(int, codes.split(";"))
        elif kind == "m":
            for code in re.findall("[34]8;2(?:;[0-9]+){3}|[34]8;5;[0-9]+|[0-9]+", codes) or ["0"]:
                part = (
                    code[:2]
                    if code[2:3] == ";"
                    else "38"
                    if re.fullmatch("[39][0-79]", code)
                    else "48"
                    if code[:-1] in {"4", "10"} and code != "4"
                    else code
                )
                style = {} if code == "0" else {**style, part: code}
                if code in {"39", "49"}:
                    del style[part]
        elif sign == "\n":
            row, column = row + 1, 1
        elif sign:
            shown[row, column] = (
                sign,
                tuple(
                    sorted(
                        code for code in style.values() if sign != " " or not INVISIBLE.match(code)
                    )
                ),
            )
            column += 1
    return shown


@pytest.fixture
def frame() -> LayoutUpdate:
    """Lines with text and blanks in many styles, one right after another and with gaps."""
    red, blue, ash = (
        Color.from_rgb(200, 0, 0),
        Color.from_rgb(0, 0, 200),
        Color.parse("bright_black"),
    )
    styles = [
        Style(color=red, bgcolor=blue),
        Style(color=ash, bgcolor=blue),
        Style(color=red, bgcolor=blue, bold=True),
        Style(bgcolor=blue, underline=True),
        Style(color=red),
        Style(reverse=True, bgcolor=ash),
        Style(),
        Style(color=Color.parse("color(200)"), bgcolor=red, italic=True, strike=True),
    ]
    pieces = [
        Segment(text, style)
        for one in styles
        for text, style in (("  ", one), ("ab", one), ("  ", styles[0]), (" c", one))
    ]
    lines = [Strip(pieces[start:] + pieces[:start]) for start in range(len(pieces))]
    return LayoutUpdate([[line] for line in lines], Region(3, 2, 64, len(lines)))


def test_a_short_frame_shows_the_same_cells_in_fewer_bytes(frame: LayoutUpdate) -> None:
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    whole, short = frame.render_segments(console), ShortFrame(frame)
    text = short.render_segments(console)
    assert cells(text) == cells(whole)
    assert short.size == len(text) < 0.7 * len(whole)
    assert text.endswith("\x1b[0m")


def test_a_frame_without_styles_is_sent_as_it_is() -> None:
    assert shortened("\x1b[3;4Hplain\n text") == "\x1b[3;4Hplain\n text"
    assert shortened("") == ""
