"""Loss and dev score of runs over their steps; each update reads only new events."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from embedlab.runs.events import Dev, Started, Step, events_after
from embedlab.runs.store import RunFolder

_LOG_BYTES = 65_536
_LOG_LINES = 400
_HEAD_BYTES = 128  # the first events of a run hold its process and start time: they identify it


@dataclass
class Curve:
    """The events of a run so far."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    dev_steps: list[int] = field(default_factory=list)
    dev_scores: list[float] = field(default_factory=list)
    offset: int = 0
    _head: bytes = b""
    _count: int = 1  # losses averaged in the last point

    def read_on(self, path: Path) -> None:
        """Read the events since the last call; a missing or unreadable file leaves the curve unchanged."""
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
            if not head.startswith(self._head):  # a different run has the name now
                self.__init__()  # type: ignore[misc]
            self._head = head
            found, self.offset = events_after(path, self.offset)
        except OSError:
            return
        for event in found:
            match event:
                case Started(step=step):
                    self._forget_after(step)
                case Step():
                    self._add(event.step, event.loss)
                case Dev():
                    self.dev_steps.append(event.step)
                    self.dev_scores.append(event.score)
                case _:
                    pass

    def _add(self, step: int, loss: float) -> None:
        """Add one point per step: stages that share a step report a loss each, and the point is their mean."""
        if self.steps and self.steps[-1] == step:
            self._count += 1
            self.losses[-1] += (loss - self.losses[-1]) / self._count
        else:
            self._count = 1
            self.steps.append(step)
            self.losses.append(loss)

    def _forget_after(self, step: int) -> None:
        """Remove the points after STEP: a resumed run repeats the steps after its checkpoint."""
        for steps, values in ((self.steps, self.losses), (self.dev_steps, self.dev_scores)):
            while steps and steps[-1] > step:
                steps.pop()
                values.pop()


class Curves:
    """The curves of the requested runs."""

    def __init__(self) -> None:
        self._known: dict[Path, Curve] = {}

    def read(self, runs: Iterable[RunFolder]) -> dict[str, Curve]:
        """The present curves of RUNS by run id."""
        found = {}
        for run in runs:
            curve = self._known.setdefault(run.path, Curve())
            curve.read_on(run.events_file)
            found[run.id] = curve
        return found


def log_tail(run: RunFolder) -> list[str]:
    """The last lines that the run's process printed, or its last events where it printed nothing."""
    for path in (run.log_file, run.events_file):
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - _LOG_BYTES))
                lines = file.read().decode(errors="replace").replace("\r", "\n").splitlines()[-_LOG_LINES:]
        except OSError:
            continue
        if lines:
            return lines
    return []
