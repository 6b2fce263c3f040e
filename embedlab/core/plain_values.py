"""Values that no table may contain, typed or stored: invalid text, integers that are too long,
unlimited nesting.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Key = tuple[str | int, ...]

DEEPEST = 64  # levels of tables and lists; the deepest file of our own has seven
LARGEST = 2**64  # larger integers fit no column, no seed and no C function
LONGEST_QUOTE = 120  # characters of a value in a message


def find_flaw(values: Any) -> tuple[Key, str] | None:
    """Return the key of the first unusable value and the reason, or None; tables of any depth are
    checked.
    """
    waiting: list[tuple[Key, Any]] = [((), values)]
    while waiting:
        key, value = waiting.pop()
        if reason := _flaw(key, value):
            return key, reason
        if len(key) < DEEPEST:
            waiting.extend(reversed([((*key, step), item) for step, item in _items(value)]))
        elif any(True for _ in _items(value)):
            return key[:3], f"nested more than {DEEPEST} deep"
    return None


def shorten(text: str) -> str:
    """Return TEXT, cut where it is too long for a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def quote(value: Any) -> str:
    """Return VALUE as a message shows it: shortened, whatever it contains."""
    try:
        return shorten(
            repr(value[: LONGEST_QUOTE + 1] if isinstance(value, str | bytes) else value)
        )
    except (ValueError, RecursionError):  # an integer of thousands of digits, or lists in lists
        return f"a value of type {type(value).__name__}"


def dotted(key: Key, prefix: str = "") -> str:
    """Return a key as `--set` writes it: "stage.0.optim.lr"."""
    steps = (prefix, *key) if prefix else key
    return ".".join(shorten(str(step)) for step in steps)


def _flaw(key: Key, value: Any) -> str:
    text = value if isinstance(value, str) else key[-1] if key and isinstance(key[-1], str) else ""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "is not valid text: its bytes are not UTF-8"
    if isinstance(value, int) and abs(value) >= LARGEST:
        return f"is an integer of {value.bit_length()} bits: at most 64 fit"
    return ""


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
