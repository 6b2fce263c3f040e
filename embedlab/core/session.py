"""One invocation of a command: its settings, where notes and errors go, and how work reports its
progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from embedlab.core.errors import EmbedlabError
    from embedlab.core.settings import Settings


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


class Session(Protocol):
    """What every command takes besides its options; the command line, notebooks and tests each
    have their own.
    """

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    def note(self, text: str) -> None:
        """Show a note on the result."""

    def warn(self, text: str) -> None:
        """Show what the user should know in any case."""

    def report(self, error: EmbedlabError) -> None:
        """Show an error that does not end the work."""

    def done(self, text: str, **facts: Any) -> None:
        """Report what was done, with its FACTS."""

    def progress(self, label: str) -> AbstractContextManager[ProgressDisplay]:
        """Show the progress of one piece of work."""

    def progresses(self) -> AbstractContextManager[Callable[[str], ProgressDisplay]]:
        """Show the progress of pieces of work that follow each other: yields what makes the
        callback of a label.
        """


@contextmanager
def successive(
    show: Callable[[str], AbstractContextManager[ProgressDisplay]],
) -> Iterator[Callable[[str], ProgressDisplay]]:
    """Yield what makes the callback of a label by SHOW, and ends what showed the label before."""
    with ExitStack() as stack:

        def start(label: str) -> ProgressDisplay:
            stack.close()
            return stack.enter_context(show(label))

        yield start
