"""Loss, dev score and load of a run over its steps; each update reads only new events."""

from dataclasses import dataclass, field
from pathlib import Path

from embedlab.runs.events import Dev, Progress, Started, Step, events_after

_HEAD_BYTES = 128  # the first events of a run hold its process and start time: they identify it


@dataclass
class Curve:
    """The events of a run so far."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    dev_steps: list[int] = field(default_factory=list)
    dev_scores: list[float] = field(default_factory=list)
    load_steps: list[int] = field(default_factory=list)
    memory_mib: list[float] = field(default_factory=list)
    cpu_percent: list[float] = field(default_factory=list)
    gpu_percent: list[float] = field(default_factory=list)
    stage_steps: dict[int, int] = field(
        default_factory=dict
    )  # the last reported step of each stage
    offset: int = 0
    _head: bytes = b""
    _count: int = 1  # losses averaged in the last point

    def read_on(self, path: Path) -> None:
        """Read the events since the last call; a missing or unreadable file leaves the curve
        unchanged.
        """
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
            if not head.startswith(self._head):  # a different run has the name now
                self.__init__()  # type: ignore[misc]
            self._head = head
            events, self.offset = events_after(path, self.offset)
        except OSError:
            return
        for event in events:
            if isinstance(event, Step | Progress):
                self.load_steps.append(event.step)
                self.memory_mib.append(event.memory_mib)
                self.cpu_percent.append(event.cpu_percent)
                self.gpu_percent.append(event.gpu_percent)
            match event:
                case Started(step=step):
                    self._forget_after(step)
                case Step():
                    self._add(event.step, event.loss)
                    self.stage_steps[event.stage] = event.step
                case Dev():
                    self.dev_steps.append(event.step)
                    self.dev_scores.append(event.score)
                case _:
                    pass

    def _add(self, step: int, loss: float) -> None:
        """Add one point per step: stages that share a step report a loss each, and the point is
        their mean.
        """
        if self.steps and self.steps[-1] == step:
            self._count += 1
            self.losses[-1] += (loss - self.losses[-1]) / self._count
        else:
            self._count = 1
            self.steps.append(step)
            self.losses.append(loss)

    def _forget_after(self, step: int) -> None:
        """Remove the points after STEP: a resumed run repeats the steps after its checkpoint."""
        loads = [self.memory_mib, self.cpu_percent, self.gpu_percent]
        kinds: list[tuple[list[int], list[list[float]]]] = [
            (self.steps, [self.losses]),
            (self.dev_steps, [self.dev_scores]),
            (self.load_steps, loads),
        ]
        for steps, numbers in kinds:
            count = sum(one <= step for one in steps)
            del steps[count:]
            for values in numbers:
                del values[count:]
