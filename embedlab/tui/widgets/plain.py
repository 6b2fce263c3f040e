"""Text from outside made safe to draw: a sentence may hold anything, and a terminal obeys control characters."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

# Control characters, line and paragraph separators, and the marks that turn the direction of the text after them.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
_BLANKS = dict.fromkeys(_CONTROLS, " ")
_NOTHING = dict.fromkeys(_CONTROLS)


def plain(text: str) -> str:
    """TEXT on one line, each character that a terminal would act on replaced by a blank."""
    return text if text.isascii() and text.isprintable() else text.translate(_BLANKS)


class Plain(LineFilter):
    """The last door before the terminal: whatever a widget forgot to make plain is drawn without what a terminal would act on.

    Such a character takes no cell, so that what is beside it stays where it is.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return segments if all(_is_harmless(segment) for segment in segments) else [_harmless(segment) for segment in segments]


def _is_harmless(segment: Segment) -> bool:
    return segment.text.isprintable() or bool(segment.control)


def _harmless(segment: Segment) -> Segment:
    return segment if _is_harmless(segment) else segment._replace(text=segment.text.translate(_NOTHING))
