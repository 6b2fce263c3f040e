"""The name that is nearest to a wrong one, and the error that offers it."""

import difflib
from collections.abc import Iterable

from embedlab.core.errors import UsageError

_LISTED = 12  # names in a hint


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that looks most like NAME, preferring the shortest that begins with it;
    None when none is close.
    """
    names, lowered = list(names), name.lower()
    exact = [candidate for candidate in names if candidate.lower() == lowered]
    prefixed = [
        candidate
        for candidate in names
        if len(lowered) > 1 and candidate.lower().startswith(lowered)
    ]
    candidates = exact or sorted(prefixed, key=len) or difflib.get_close_matches(name, names, n=1)
    return candidates[0] if candidates else None


def nearest_hint(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return the hint that offers the known name nearest to NAME, OTHERWISE where none is close."""
    guess = nearest_name(name, names)
    return f"did you mean {guess!r}?" if guess else otherwise


def unknown_name_error(
    kind: str, name: str, names: Iterable[str], *, listing: str = ""
) -> UsageError:
    """Return the error for a NAME that no KIND ("recipe", "task" …) has; the first NAMES are its
    examples, and LISTING says where all of them can be seen.
    """
    names = list(dict.fromkeys(names))
    examples = f"known: {', '.join(names[:_LISTED])}{', …' * (len(names) > _LISTED)}" * bool(names)
    hint = nearest_hint(name, names, "")
    hint = f"{hint} {listing}".strip() if hint else "; ".join(filter(None, (examples, listing)))
    return UsageError(f"no {kind} named {name!r}", hint=hint)
