"""A model's name in a few cells: a path is reduced to its last part, and a long name is cut in the middle."""

import re
from collections.abc import Mapping

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


def short_names(widths: Mapping[str, int]) -> dict[str, str]:
    """Each name in at most so many cells, all different if a cut in the middle, in front or behind makes them so."""
    for cut in (short_name, _end, _beginning):
        titles = {name: cut(name, width) for name, width in widths.items()}
        if len(set(titles.values())) == len(titles):
            return titles
    return {name: short_name(name, width) for name, width in widths.items()}


def _end(name: str, width: int) -> str:
    return name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"


def _beginning(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"
