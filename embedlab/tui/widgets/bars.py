"""Horizontal bars: of blocks, an eighth of a cell fine, and thin ones for tables, half a cell fine."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float | None, low: float, high: float, width: int) -> str:
    """A bar from the left for VALUE on the scale LOW…HIGH, at most WIDTH cells; nothing for an absent value."""
    whole, rest = divmod(_parts(value, low, high, width * 8), 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def thin_bar(value: float | None, low: float, high: float, width: int) -> str:
    """The same as a line: bars of many rows stay apart."""
    whole, rest = divmod(_parts(value, low, high, width * 2), 2)
    return "━" * whole + "╸" * rest


def _parts(value: float | None, low: float, high: float, parts: int) -> int:
    """How many of PARTS are filled."""
    if value is None or high <= low or value != value:
        return 0
    return round(min(max((value - low) / (high - low), 0.0), 1.0) * parts)
