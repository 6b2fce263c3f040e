"""How a piece of work reports how far it is."""

from collections.abc import Callable
from typing import Protocol

ProgressCallback = Callable[[int, int], None]
"""Receives the number of finished steps and of all steps."""

StartProgress = Callable[[str], ProgressCallback]
"""Gives the progress callback of a piece of work by its name."""


class ProgressDisplay(Protocol):
    """A progress callback that also shows a text."""

    def __call__(self, done: int, total: int, /, text: str = "") -> None:
        """Show that DONE of TOTAL steps are done, with TEXT next to it."""
