"""Texts as terminals draw them. Where the encoding has ASCII alone, every sign of the dashboard is
one ASCII letter, and other letters are escapes that are counted before lines are laid out.
"""

import os
import sys
from collections.abc import Sequence
from typing import TypeVar
from unicodedata import name

from textual.content import Content
from textual.drivers.linux_driver import LinuxDriver

from embedlab.core.printable import one_line

Value = TypeVar("Value")
_SIGNS = dict(
    zip(
        "●■▲◆★✚○□△◇☆✛◌▸›…⏎▏▌·•“”→↑↓▼✓✗±×–⌫╸━╍─│┊▶▷‖▁▂▃▄▅▆▇█",
        '*#^+*+ooooooo>>~<||.."">^vv/x~x-<==~-||>>|_.-~=+*#',  # the last by their ink
        strict=True,
    )
)


def is_plain() -> bool:
    """Whether the terminal takes ASCII alone; a browser takes all."""
    stream = sys.__stderr__
    return (
        "TEXTUAL_DRIVER" not in os.environ
        and stream is not None
        and not (stream.encoding or "utf-8").lower().startswith("utf")
    )


def safe_line(text: str) -> str:
    """TEXT on one line as it can be drawn, so that its width is that of what is seen."""
    line = one_line(text)
    if line.isascii() or not is_plain():
        return line
    return line.encode("ascii", "backslashreplace").decode()


def shorten_middle(text: str, width: int) -> str:
    """TEXT in at most WIDTH letters: of a longer one the middle is left out, since names of one
    family differ at their ends.
    """
    head = max((width - 1) // 2, 0)
    return text if len(text) <= width else f"{text[:head]}…{text[len(text) - width + 1 + head :]}"


def following(values: Sequence[Value], current: Value, step: int = 1) -> Value:
    """The one of VALUES that is STEP behind CURRENT, round and round; the first where it is none
    of them.
    """
    index = values.index(current) + step if current in values else 0
    return values[index % len(values)]


def half_bar(share: float, width: int, letter: str = "━") -> str:
    """A bar of a SHARE of WIDTH cells, from 0 to 1, in halves of a cell."""
    half_cells = round(share * width * 2)
    return letter * (half_cells // 2) + "╸" * (half_cells % 2)


def faint(text: str) -> Content:
    """TEXT that steps back."""
    return Content.styled(text, "$faint")


def ascii_signs(text: str) -> str:
    """TEXT with one ASCII letter for each sign of the dashboard; what is no sign stays."""
    return text if text.isascii() else "".join(map(_ascii_sign, text))


def _ascii_sign(letter: str) -> str:
    if letter.isascii():
        return letter
    if letter in _SIGNS:
        return _SIGNS[letter]
    kind = name(letter, "")
    if kind.startswith("BOX DRAWINGS"):
        return "|" if "VERTICAL" in kind and "HORIZONTAL" not in kind else "+"
    if kind.startswith("BRAILLE"):
        return " " if letter == "\u2800" else "."
    return "#" if "BLOCK" in kind or "SHADE" in kind else letter


class PlainDriver(LinuxDriver):
    """Writes ASCII signs."""

    def write(self, data: str) -> None:
        """Write DATA."""
        super().write(ascii_signs(data))
