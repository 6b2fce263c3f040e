"""Frames in fewer bytes: of the style of each piece only what differs from the piece before it.

Textual writes the whole style before each piece of text and a reset behind it, which is two thirds
of the bytes of a table.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from rich.console import Console
from textual._compositor import CompositorUpdate

_STYLE = re.compile("\x1b\\[([0-9;]*)m")
_MOVES = re.compile("(?:\x1b\\[[0-9;]*H|[\r\n])*")
_SEEN_ON_BLANKS = {"4", "7", "9", "21", "53"}  # underline, reverse, strike, overline
_DEFAULT = {"front": "39", "back": "49"}


@dataclass(frozen=True, kw_only=True)
class _Look:
    """A style of the terminal, in its codes."""

    flags: frozenset[str] = frozenset()
    front: str = ""
    back: str = ""

    @property
    def shows_on_blanks(self) -> bool:
        """Whether more than the background is visible behind a blank."""
        return not self.flags.isdisjoint(_SEEN_ON_BLANKS)


_PLAIN = _Look()


class ShortFrame(CompositorUpdate):
    """A frame that is written with few bytes."""

    def __init__(self, frame: CompositorUpdate) -> None:
        self._frame = frame
        self.size = 0  # characters, once it is written

    def render_segments(self, console: Console) -> str:
        """Write the frame."""
        text = shortened(self._frame.render_segments(console))
        self.size = len(text)
        return text


def is_frame(renderable: object) -> bool:
    """Return whether RENDERABLE is a frame or a part of one, and not what Textual draws by Rich."""
    return isinstance(renderable, CompositorUpdate)


def shortened(text: str) -> str:
    """TEXT with the same look on a terminal, in fewer bytes; it begins and ends without a style."""
    pieces = _STYLE.split(text)  # text, codes, text, …
    shown, wanted = _PLAIN, _PLAIN
    out: list[str] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            wanted = _changed(wanted, piece)
            continue
        needed = _needed(piece, shown, wanted)
        if needed != shown:
            out.append(_change(shown, needed))
            shown = needed
        out.append(piece)
    if shown != _PLAIN:
        out.append("\x1b[0m")
    return "".join(out)


def _needed(piece: str, shown: _Look, wanted: _Look) -> _Look:
    """The style in which PIECE looks as WANTED: any for a movement of the cursor, and of blanks
    only the background is visible.
    """
    if _MOVES.fullmatch(piece):
        return shown
    if piece.isspace() and not shown.shows_on_blanks and not wanted.shows_on_blanks:
        return replace(shown, back=wanted.back)
    return wanted


@lru_cache(4096)
def _changed(look: _Look, codes: str) -> _Look:
    """LOOK after a sequence of CODES."""
    left = codes.split(";")
    while left:
        code = left.pop(0)
        if code in {"", "0"}:
            look = _PLAIN
        elif code in {"38", "48"}:
            count = 4 if left[:1] == ["2"] else 2
            colour, left = ";".join([code, *left[:count]]), left[count:]
            look = replace(look, front=colour) if code == "38" else replace(look, back=colour)
        elif code == "39" or code[:-1] in {"3", "9"}:
            look = replace(look, front="" if code == "39" else code)
        elif code == "49" or code[:-1] in {"4", "10"}:
            look = replace(look, back="" if code == "49" else code)
        else:
            look = replace(look, flags=look.flags | {code})
    return look


@lru_cache(4096)
def _change(shown: _Look, wanted: _Look) -> str:
    """The shortest sequence from one style to another."""
    whole = ";".join(["0", *sorted(wanted.flags), *filter(None, (wanted.front, wanted.back))])
    if not shown.flags <= wanted.flags:
        return f"\x1b[{whole}m"
    colours = [
        getattr(wanted, side) or default
        for side, default in _DEFAULT.items()
        if getattr(wanted, side) != getattr(shown, side)
    ]
    return f"\x1b[{min(';'.join([*sorted(wanted.flags - shown.flags), *colours]), whole, key=len)}m"
