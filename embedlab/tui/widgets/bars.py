"""Horizontal bars: of blocks in eighths of a cell, and thin ones for tables in halves of a cell."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float | None, low: float, high: float, width: int) -> str:
    """A bar for VALUE on the scale LOW…HIGH, at most WIDTH cells; empty for an absent value."""
    whole, rest = divmod(_parts(value, low, high, width * 8), 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def thin_bar(value: float | None, low: float, high: float, width: int) -> str:
    """The same as a thin line, so that bars of many rows do not touch."""
    whole, rest = divmod(_parts(value, low, high, width * 2), 2)
    return "━" * whole + "╸" * rest


def signed_bar(value: float | None, width: int) -> str:
    """A thin bar of the size of VALUE, from -1 to 1; dashed where it is negative, so that the sign
    needs no colour.
    """
    drawn = thin_bar(None if value is None else abs(value), 0.0, 1.0, width)
    return drawn.replace("━", "╍") if value is not None and value < 0 else drawn


def _parts(value: float | None, low: float, high: float, parts: int) -> int:
    """The number of PARTS to fill."""
    if value is None or high <= low or value != value:
        return 0
    return round(min(max((value - low) / (high - low), 0.0), 1.0) * parts)
