"""Horizontal bars of block characters, an eighth of a cell fine."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float | None, low: float, high: float, width: int) -> str:
    """A bar from the left for VALUE on the scale LOW…HIGH, at most WIDTH cells; nothing for an absent value."""
    if value is None or high <= low or value != value:
        return ""
    eighths = round(min(max((value - low) / (high - low), 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
