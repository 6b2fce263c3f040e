"""Options behind a name, `NAME@key=value@key=value`: one grammar for models and for datasets of the
hub.

`NAME?key=value&key=value` is the same, and must be quoted in a shell.
"""

import re
from collections.abc import Sequence

from embedlab.core.errors import UsageError


def outside_quotes(text: str, sign: str) -> list[str]:
    """Split TEXT at each SIGN that is not between double quotes."""
    parts, start, is_quoted = [], 0, False
    for index, character in enumerate(text):
        is_quoted ^= character == '"'
        if character == sign and not is_quoted:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def with_question_marks(text: str, keys: Sequence[str], switches: Sequence[str] = ()) -> str:
    """Return TEXT with a "?" in the place of each "@" before an option; any other "@" stays."""
    option = re.compile(rf"(?:{'|'.join(keys)})=|(?:{'|'.join(switches) or '$^'})(?=[@?&]|$)")
    first, *rest = outside_quotes(text, "@")
    return first + "".join(f"{'?' if option.match(part) else '@'}{part}" for part in rest)


def split_name(text: str, keys: Sequence[str], switches: Sequence[str] = ()) -> list[str]:
    """Return a name and, behind it, what is said of it with "?" or with "@" before a known key."""
    return outside_quotes(with_question_marks(text, keys, switches), "?")


def option_values(
    text: str, parts: Sequence[str], keys: Sequence[str], switches: Sequence[str] = ()
) -> dict[str, str]:
    """Return the values in PARTS, what is between the "?" of a name, by key; a switch has none. An
    error quotes the whole TEXT.
    """
    values: dict[str, str] = {}
    for option in (option for part in parts for option in outside_quotes(part, "&")):
        key, _, value = option.partition("=")
        if option not in switches and (key not in keys or not value):
            known = ", ".join([*(f"@{key}=" for key in keys), *(f"@{name}" for name in switches)])
            raise UsageError(f"{text!r}: no option {option!r}", hint=f"known: {known}")
        if key in values:
            raise UsageError(f"{text!r}: {key} is given twice", hint="keep one of them")
        values[key] = value.removeprefix('"').removesuffix('"')
    return values
