"""The name that is nearest to a wrong one, and the error that offers it."""

import difflib
from collections.abc import Iterable

from embedlab.core.errors import UsageError

_LISTED = 12  # names in a hint


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like NAME, preferring the shortest that begins with it;
    None when none is close.
    """
    known = list(known)
    typed = name.lower()
    exact_ignoring_case = [candidate for candidate in known if candidate.lower() == typed]
    longer = sorted(
        (
            candidate
            for candidate in known
            if len(typed) > 1 and candidate.lower().startswith(typed)
        ),
        key=len,
    )
    return next(
        iter(
            exact_ignoring_case or longer or difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        ),
        None,
    )


def nearest_hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the hint that offers the known name nearest to NAME, OTHERWISE where none is close."""
    guess = nearest_name(name, known)
    return f"did you mean {guess!r}?" if guess else otherwise


def unknown(kind: str, name: str, known: Iterable[str], *, listing: str = "") -> UsageError:
    """Return the error for a NAME that no KIND ("recipe", "task" …) has; LISTING says where all of
    them can be seen.
    """
    known = sorted(known)
    guess = nearest_name(name, known)
    if guess:
        return UsageError(
            f"no {kind} named {name!r}", hint=f"did you mean {guess!r}? {listing}".strip()
        )
    some = (
        f"known: {', '.join(known[:_LISTED])}{', …' if len(known) > _LISTED else ''}"
        if known
        else ""
    )
    return UsageError(f"no {kind} named {name!r}", hint="; ".join(filter(None, (some, listing))))
