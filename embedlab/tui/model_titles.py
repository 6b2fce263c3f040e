"""A model's name in a few cells: a path is reduced to its last part, and a long name is cut in the middle."""

import re

_FOLDERS = re.compile(r"[^:,()\s]*/")
_ENDING = re.compile(r"\.(?:txt|vec|bin|gz|npy)\b")


def short_name(name: str, width: int) -> str:
    """NAME in at most WIDTH cells; names that differ only at their ends, as in the pooling, remain different."""
    short = _ENDING.sub("", _FOLDERS.sub("", name.rstrip("/")))
    if len(short) > width:
        short = short.removeprefix("word-vectors:")
    if len(short) <= width:
        return short
    tail = (width - 1) // 2
    return f"{short[: width - 1 - tail]}…{short[len(short) - tail :]}"
