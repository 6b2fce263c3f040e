"""Make foreign text safe to draw: a sentence may hold any character, and a terminal obeys control characters."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

# Control characters, line and paragraph separators, and the marks that change the direction of the following text.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
_BLANKS = dict.fromkeys(_CONTROLS, " ")
_NOTHING = dict.fromkeys(_CONTROLS)


def plain(text: str) -> str:
    """TEXT on one line, with a blank for each character that a terminal would obey."""
    return text if text.isascii() and text.isprintable() else text.translate(_BLANKS)


class Plain(LineFilter):
    """The last filter before the terminal: removes control characters that a widget did not replace.

    Such a character takes no cell, so that the text beside it does not move.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return segments if all(_is_harmless(segment) for segment in segments) else [_harmless(segment) for segment in segments]


def _is_harmless(segment: Segment) -> bool:
    return segment.text.isprintable() or bool(segment.control)


def _harmless(segment: Segment) -> Segment:
    return segment if _is_harmless(segment) else segment._replace(text=segment.text.translate(_NOTHING))
