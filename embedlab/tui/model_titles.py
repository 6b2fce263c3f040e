"""A model's name in a few cells: a path is reduced to its last part, and a long name is cut in the
middle.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

_FOLDERS = re.compile(r"[^:,()\s]*/")
_ENDING = re.compile(r"\.(?:txt|vec|bin|gz|npy)\b")


def short_name(name: str, width: int) -> str:
    """NAME in at most WIDTH cells; names that differ only at their ends, as in the pooling, remain
    different.
    """
    short = _ENDING.sub("", _FOLDERS.sub("", name.rstrip("/")))
    if len(short) > width:
        short = short.removeprefix("word-vectors:")
    if len(short) <= width:
        return short
    tail = (width - 1) // 2
    return f"{short[: width - 1 - tail]}…{short[len(short) - tail :]}"


def short_names(widths: Mapping[str, int]) -> dict[str, str]:
    """Each name in at most so many cells, different also in the fewest of them if some cut makes
    them so.
    """
    least = min(widths.values(), default=0)
    for cut in (short_name, _difference(widths, least), _end, _beginning):
        if len({cut(name, least) for name in widths}) == len(widths):
            return {name: cut(name, width) for name, width in widths.items()}
    return {name: short_name(name, width) for name, width in widths.items()}


def _difference(names: Collection[str], width: int) -> Callable[[str, int], str]:
    """A cut that shows in what the names differ that a cut in the middle to WIDTH cells makes
    equal: "…ce-4000", "…supcl…".
    """
    equal = defaultdict(list)
    for name in names:
        equal[short_name(name, width)].append(name.split("-"))
    differing: dict[
        str, tuple[str, str]
    ] = {}  # of a name what is its own, and that with what follows
    for members in equal.values():
        front = _shared_parts(members)
        behind = _shared_parts([parts[:front:-1] for parts in members])
        for parts in members if front else ():
            differing["-".join(parts)] = (
                "-".join(parts[front : len(parts) - behind]),
                "-".join(parts[front:]),
            )

    def cut(name: str, room: int) -> str:
        middle, rest = differing.get(name, ("", ""))
        if not middle or len(name) <= room:
            return short_name(name, room)
        return f"…{rest}" if len(rest) < room else _beginning(f"…{middle}…", room)

    return cut


def _shared_parts(names: Sequence[Sequence[str]]) -> int:
    """How many parts all NAMES have in common at their start; none of a name alone."""
    same = [len(set(parts)) == 1 for parts in zip(*names, strict=False)]
    return [*same, False].index(False) if len(names) > 1 else 0


def _end(name: str, width: int) -> str:
    return name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"


def _beginning(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"
