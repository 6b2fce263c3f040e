"""Events of a run as append-only JSON lines: the log, the progress, the heartbeat, its curves, and
why a process ended, so that no other process reads prose.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from embedlab.core.disk import as_disk_errors, is_intact_line, sealed_line
from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import open_own

# mean cosine; that of a collapsed encoder was .998, of BERT without fine-tuning .82
COLLAPSED = 0.99


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of events.jsonl; `kind` is its name in the file."""

    kind: ClassVar[str] = ""

    time: float = field(default_factory=time.time)  # seconds since 1970


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """A process started the run, from the beginning or from a checkpoint."""

    kind: ClassVar[str] = "started"

    pid: int
    host: str
    steps: int  # of all stages
    step: int = 0  # where it continues; 0 = from the beginning


@dataclass(frozen=True, kw_only=True)
class Step(Event):
    """The state of training after the first step, each N-th one and each change of stage: equal
    runs have equal steps and losses.
    """

    kind: ClassVar[str] = "step"

    stage: int
    epoch: float  # passes over the stage's data so far
    step: int  # over all stages, counted from 1
    steps: int
    loss: float  # mean since the last of these events
    lr: float
    rows_per_s: float
    eta_s: float
    memory_mib: float
    skipped: int = 0  # steps so far whose gradient fp16 could not hold; they changed nothing
    cpu_percent: float = math.nan  # of one core, since the event before; nan where not recorded
    gpu_percent: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """A sign of life between two Step events that are far apart; it depends on the clock and
    belongs to no curve.
    """

    kind: ClassVar[str] = "progress"

    step: int
    steps: int
    eta_s: float
    memory_mib: float = math.nan
    cpu_percent: float = math.nan
    gpu_percent: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Dev(Event):
    """The dev score after a step."""

    kind: ClassVar[str] = "dev"

    step: int
    score: float  # Spearman x 100


@dataclass(frozen=True, kw_only=True)
class VectorSpread(Event):
    """How far apart the vectors of a stage's sentences are after a step, and what the loss would be
    if they were all one.
    """

    kind: ClassVar[str] = "spread"

    step: int
    stage: int
    mean_cosine: float  # of every two of some sentences of the stage, without dropout
    before: float = (
        math.nan
    )  # the same before the stage's first step; not a number where the stage was resumed
    chance: float  # the loss of the step's batch with equal vectors

    @property
    def collapse(self) -> str:
        """What to say of sentences that all have nearly the same vector; empty where they have
        not.
        """
        if self.mean_cosine < COLLAPSED:
            return ""
        when, before_training = "equal vectors", ""
        if math.isfinite(self.before):
            is_older = self.before >= COLLAPSED
            when = "equal vectors from the start" if is_older else "collapsed to equal vectors"
            before_training = f", before training {self.before:.3f}"
        return (
            f"{when}: mean cosine {self.mean_cosine:.3f}{before_training}; equal vectors have loss "
            f"{self.chance:.3f}"
        )


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Event):
    """A checkpoint is complete on disk."""

    kind: ClassVar[str] = "checkpoint"

    step: int


@dataclass(frozen=True, kw_only=True)
class Noted(Event):
    """A remark on the run."""

    kind: ClassVar[str] = "note"

    text: str


@dataclass(frozen=True, kw_only=True)
class Damaged(Noted):
    """Replaces a line of the file that cannot be read; never written."""

    text: str = "a damaged line of events.jsonl is left out"


@dataclass(frozen=True, kw_only=True)
class Finished(Event):
    """The run is complete and its model is saved."""

    kind: ClassVar[str] = "finished"

    step: int
    flaw: str = ""  # why nothing, or the wrong thing, was learnt; `runs.status.flaw_of`


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """A process of the run ended with an error, perhaps before it began the run."""

    kind: ClassVar[str] = "failed"

    message: str
    hint: str = ""
    exit_code: int = 1  # 130: it was interrupted
    cause: str = ""  # core.errors.MEMORY: it ran out


@dataclass(frozen=True, kw_only=True)
class RunInterrupted(Event):
    """The run received a signal to stop and saved a checkpoint."""

    kind: ClassVar[str] = "interrupted"

    step: int


@dataclass(frozen=True, kw_only=True)
class Cancelled(Event):
    """A user cancelled the run; written by the command that cancels, before it sends the signal."""

    kind: ClassVar[str] = "cancelled"


@dataclass(frozen=True, kw_only=True)
class Attempt(Event):
    """A grid worked on a cell, in a file of its own; a run has none."""

    kind: ClassVar[str] = "attempt"

    state: str  # "done", "failed", "cancelled", or "waiting" for another attempt
    reason: str = ""
    errors: int = 0
    kills: int = 0
    seconds: float = 0.0

    @property
    def is_new_chance(self) -> bool:
        """Whether errors and kills before it count no more."""
        return self.state == "waiting" and not self.errors and not self.kills


# `Damaged` is never written
EVENT_KINDS: Mapping[str, type[Event]] = {cls.kind: cls for cls in Event.__subclasses__()}


def to_line(event: Event) -> str:
    """Return the JSON line of an event; numbers that are not finite become null, so that every JSON
    reader accepts the file.
    """
    return json.dumps(_values(event), ensure_ascii=False) + "\n"


def _values(event: Event) -> dict[str, Any]:
    values = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in vars(event).items()
    }
    return {"event": event.kind, **values}


def from_line(line: bytes) -> Event | None:
    """Return the event in a line, `Damaged` where it is not as it was written; None where it is
    empty or of a kind that this version does not know.
    """
    if not line.strip():
        return None
    if not is_intact_line(line):
        return Damaged()
    values = json.loads(line)
    cls = EVENT_KINDS.get(values["event"])
    if cls is None:
        return None
    numbers = {name: math.nan if value is None else value for name, value in values.items()}
    return cls(**{name: numbers[name] for name in numbers if name in cls.__dataclass_fields__})


class EventLog:
    """An events.jsonl opened for appending; each event is one write, so that readers see whole
    lines or none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with as_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open_own(path)
        if _ends_in_half_a_line(path):  # the previous process was killed while writing
            self._write(b"\n")

    def append(self, event: Event) -> None:
        """Add an event, with its checksum; a full disk is a MissingError."""
        self._write(sealed_line(_values(event)).encode())

    def _write(self, line: bytes) -> None:
        with as_disk_errors(self.path):
            self._file.write(line)

    def close(self) -> None:
        """Close the file; nothing is buffered."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def events_after(path: Path, offset: int = 0) -> tuple[list[Event], int]:
    """Return the events after byte OFFSET and the next offset; an incomplete last line is left for
    the next call.

    A file shorter than OFFSET was replaced and is read from its beginning.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        offset = offset if offset <= size else 0
        file.seek(offset)
        content = file.read()
    complete_lines = content[: content.rfind(b"\n") + 1]
    return list(_events(complete_lines.splitlines())), offset + len(complete_lines)


def tail(path: Path, size: int = 65_536) -> list[Event]:
    """Return the last events of a file of any length, from its last SIZE bytes."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, 2) - size)
        file.seek(start)
        lines = file.read().splitlines()
    return list(_events(lines[1:] if start else lines))


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of LINES; a damaged one has the time of the event before, or of the first
    one.
    """
    events = [event for line in lines if (event := from_line(line)) is not None]
    time = next((event.time for event in events if not isinstance(event, Damaged)), 0.0)
    for event in events:
        if isinstance(event, Damaged):
            yield Damaged(time=time)
        else:
            time = event.time
            yield event


def _ends_in_half_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - 1))
        return file.read() not in {b"", b"\n"}


class EndingReport:
    """What FILE says from now on of why a process ended; made at its start."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._offset = 0
        with suppress(OSError):
            self._offset = file.stat().st_size

    def _events(self) -> list[Event]:
        try:
            return events_after(self.file, self._offset)[0]
        except OSError:
            return []

    @property
    def failed(self) -> Failed | None:
        """The first error: of several processes that work together, the first one is the cause."""
        return next((event for event in self._events() if isinstance(event, Failed)), None)

    def write(self, message: str, *, hint: str = "", exit_code: int, cause: str = "") -> None:
        """Append the error to the file, unless that has the end of this process already: a run
        reports its own.
        """
        is_reported = any(isinstance(event, Failed | RunInterrupted) for event in self._events())
        if is_reported or not self.file.parent.is_dir():  # the run was removed meanwhile
            return
        with (
            suppress(MissingError),
            EventLog(self.file) as log,
        ):  # a full disk may refuse this line too
            log.append(Failed(message=message, hint=hint, exit_code=exit_code, cause=cause))


_HEAD_BYTES = 128  # the first events of a run hold its process and start time: they identify it


MOVED = (Progress, Checkpoint, RunInterrupted, Finished)  # say at which step a run is


@dataclass
class Curve:
    """The events of a run so far, without those that a resumed run repeats."""

    loads: list[Step | Progress] = field(default_factory=list)
    devs: list[Dev] = field(default_factory=list)
    process: list[Event] = field(default_factory=list)  # all events of its newest process
    newest: Step | None = None  # of the newest process, moved to where it is since
    offset: int = 0
    _head: bytes = b""

    @classmethod
    def of(cls, recorded: Iterable[Event]) -> Self:
        """Return the curve of these events."""
        curve = cls()
        for event in recorded:
            curve.add(event)
        return curve

    @property
    def started(self) -> Started | None:
        """The start of the newest process."""
        return next((event for event in self.process[:1] if isinstance(event, Started)), None)

    @property
    def finished(self) -> Finished | None:
        """The end of the newest process, if it finished the run."""
        return next((event for event in self.process if isinstance(event, Finished)), None)

    @property
    def steps(self) -> list[Step]:
        """The reports of losses; stages that share a step report one each."""
        return [event for event in self.loads if isinstance(event, Step)]

    @property
    def losses(self) -> dict[int, float]:
        """The loss by step, the mean of stages that share a step."""
        means: dict[int, float] = {}
        counts = Counter[int]()
        for event in self.steps:
            counts[event.step] += 1
            mean = means.get(event.step, 0.0)
            means[event.step] = mean + (event.loss - mean) / counts[event.step]
        return means

    @property
    def dev_scores(self) -> dict[int, float]:
        """The dev scores by step."""
        return {event.step: event.score for event in self.devs}

    @property
    def memory_mib(self) -> dict[int, float]:
        """The memory by step."""
        return {event.step: event.memory_mib for event in self.loads}

    @property
    def cpu_percent(self) -> dict[int, float]:
        """The use of the processor by step."""
        return {event.step: event.cpu_percent for event in self.loads}

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
            self.add(event)

    def add(self, event: Event) -> None:
        """Add the next event."""
        match event:
            case Started(step=step):  # a resumed run repeats the steps after its checkpoint
                self.process, self.newest = [], None
                self.loads = [load for load in self.loads if load.step <= step]
                self.devs = [dev for dev in self.devs if dev.step <= step]
            case Step():
                self.newest = event
                self.loads.append(event)
            case Progress():
                self.loads.append(event)
            case Dev():
                self.devs.append(event)
            case _:
                pass
        self.process.append(event)
        if self.newest is not None and isinstance(event, MOVED):
            self.newest = replace(self.newest, step=event.step)
