"""Loss and dev score of runs over their steps; each update reads only new events."""

from collections.abc import Iterable
from pathlib import Path

from embedlab.runs.curves import Curve
from embedlab.runs.store import RunFolder

_LOG_BYTES = 65_536
_LOG_LINES = 400


class Curves:
    """The curves of the requested runs."""

    def __init__(self) -> None:
        self._known: dict[Path, Curve] = {}

    def read(self, runs: Iterable[RunFolder]) -> dict[str, Curve]:
        """The present curves of RUNS by run id."""
        curves = {}
        for run in runs:
            curve = self._known.setdefault(run.path, Curve())
            curve.read_on(run.events_file)
            curves[run.id] = curve
        return curves


def log_tail(run: RunFolder) -> list[str]:
    """The last lines that the run's process printed, or its last events where it printed
    nothing.
    """
    for path in (run.log_file, run.events_file):
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - _LOG_BYTES))
                lines = (
                    file.read()
                    .decode(errors="replace")
                    .replace("\r", "\n")
                    .splitlines()[-_LOG_LINES:]
                )
        except OSError:
            continue
        if lines:
            return lines
    return []
