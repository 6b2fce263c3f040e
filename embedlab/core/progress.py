"""How work reports its progress."""

from collections.abc import Callable
from typing import Protocol

ProgressCallback = Callable[[int, int], None]
"""Receives the number of finished steps and the total."""

StartProgress = Callable[[str], ProgressCallback]
"""Returns the progress callback for a named piece of work."""


def unseen(_: str) -> ProgressCallback:
    """Start the progress of a piece of work without showing it."""
    return lambda _done, _total: None


class ProgressDisplay(Protocol):
    """A progress callback that also shows a text."""

    def __call__(self, done: int, total: int, /, text: str = "") -> None:
        """Show that DONE of TOTAL steps are finished, with TEXT next to it."""
