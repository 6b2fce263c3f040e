"""Many names in one line: the first few, and how many more."""

from collections.abc import Iterable

MOST_COLUMNS = 12  # that a message names


def first_few(names: Iterable[object], most: int = MOST_COLUMNS, *, separator: str = ", ") -> str:
    """Return the first MOST of NAMES, and how many more there are."""
    known = [f"{name}" for name in names]
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return f"{separator.join(known[:most])}{more}"
