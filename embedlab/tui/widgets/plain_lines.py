"""The last filter before the terminal."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from embedlab.tui.widgets.plain import CONTROLS

_NOTHING = dict.fromkeys(CONTROLS)


class Plain(LineFilter):
    """Removes control characters that a widget did not replace.

    Such a character takes no cell, so that the text beside it does not move.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return SEGMENTS without control characters."""
        return (
            segments
            if all(_is_harmless(segment) for segment in segments)
            else [_harmless(segment) for segment in segments]
        )


def _is_harmless(segment: Segment) -> bool:
    return segment.text.isprintable() or bool(segment.control)


def _harmless(segment: Segment) -> Segment:
    return (
        segment
        if _is_harmless(segment)
        else segment._replace(text=segment.text.translate(_NOTHING))
    )
