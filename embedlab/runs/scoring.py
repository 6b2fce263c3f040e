"""Which runs are being scored: a lock in the folder of a run, which ends with the process that
holds it.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from embedlab.core.disk import is_locked, take_lock
from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import open_own
from embedlab.runs.store import RunFolder

_FILE = "scoring"


@contextmanager
def being_scored(runs: Iterable[RunFolder]) -> Iterator[None]:
    """Show the models of RUNS as being scored until the block ends; nothing waits for it, and a
    folder that refuses it is scored too.
    """
    with ExitStack() as held:
        for run in runs:
            with suppress(OSError, MissingError):
                path = run.path / _FILE
                if take_lock(
                    held.enter_context(open_own(path)).fileno()
                ):  # else another process shows it
                    held.callback(path.unlink, missing_ok=True)
        yield


def is_being_scored(run: RunFolder) -> bool:
    """Return whether a process scores the model of RUN now."""
    try:
        return is_locked(run.path / _FILE)
    except (OSError, MissingError):
        return False
