"""A model's name in a few cells: a path gives way to its last part, and what is cut is cut in the middle."""

import re

_FOLDERS = re.compile(r"[^:,()\s]*/")
_ENDING = re.compile(r"\.(?:txt|vec|bin|gz|npy)\b")


def short_name(name: str, width: int) -> str:
    """NAME in at most WIDTH cells; models that differ in their endings, as in pooling, still look different."""
    short = _ENDING.sub("", _FOLDERS.sub("", name.rstrip("/")))
    if len(short) > width:
        short = short.removeprefix("word-vectors:")
    if len(short) <= width:
        return short
    tail = (width - 1) // 2
    return f"{short[: width - 1 - tail]}…{short[len(short) - tail :]}"
