"""Durations in readable form."""


def duration(seconds: float) -> str:
    """Return a duration in its largest unit and the one below, such as "42s", "3m10s", "2h05m" or
    "3d04h"; empty for NaN.
    """
    if seconds != seconds:
        return ""
    whole = max(0, round(seconds))
    for size, unit, smaller, below in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // smaller:02d}{below}"
    return f"{whole}s"
