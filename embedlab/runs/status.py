"""The status of a run, from one cheap read of its folder, and whether it is being scored."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from statistics import fmean
from typing import Literal

from embedlab.core.disk import is_locked, take_lock
from embedlab.core.errors import (
    EmbedlabError,
    ExitCode,
    Hint,
    MissingError,
    NamedOption,
    UsageError,
)
from embedlab.core.foreign_files import open_own, refuse_links
from embedlab.runs import events
from embedlab.runs.store import RunFolder

_FILE = "scoring"


@contextmanager
def mark_being_scored(runs: Iterable[RunFolder]) -> Iterator[None]:
    """Show the models of RUNS as being scored until the block ends; nothing waits for it, and a
    folder that refuses it is scored too.
    """
    with ExitStack() as stack:
        for run in runs:
            with suppress(OSError, MissingError):
                path = run.path / _FILE
                if take_lock(
                    stack.enter_context(open_own(path)).fileno()
                ):  # else another process shows it
                    stack.callback(path.unlink, missing_ok=True)
        yield


def is_being_scored(run: RunFolder) -> bool:
    """Return whether a process scores the model of RUN now."""
    try:
        return is_locked(run.path / _FILE)
    except (OSError, MissingError):
        return False


RunState = Literal[
    "starting",
    "running",
    "silent",
    "finished",
    "failed",
    "interrupted",
    "cancelled",
    "crashed",
    "unreadable",
]

SILENT_AFTER_S = 600.0

ENDINGS: dict[type[events.Event], RunState] = {
    events.Finished: "finished",
    events.Failed: "failed",
    events.RunInterrupted: "interrupted",
    events.Cancelled: "cancelled",
}


@dataclass(frozen=True, kw_only=True)
class Status:
    """The state of a run and its latest facts, None if not yet reported."""

    state: RunState
    step: events.Step | None = None
    dev: events.Dev | None = None
    best_dev: events.Dev | None = None  # among the last few hundred events
    last_s: float | None = None  # time of the last event, seconds since 1970
    # why it failed, crashed or cannot be read, fully or partly, or what is wrong with its training
    message: str = ""
    hint: str = ""  # what to do about a failure
    resumed_at: int = 0  # the step from which its newest process went on; 0 = from the beginning
    is_scoring: bool = False  # a process scores the finished model now

    @property
    def shown_state(self) -> str:
        """The state in a word for people: a finished run may be being scored."""
        return "scoring" if self.is_scoring else self.state

    @property
    def is_alive(self) -> bool:
        """Whether its process is at work."""
        return self.state in {
            "starting",
            "running",
            "silent",
        }  # its training; a model that is scored is complete

    @property
    def is_unfinished(self) -> bool:
        """Whether `--resume` could continue the run: it has ended without finishing."""
        return self.state in {"failed", "interrupted", "cancelled", "crashed"}


def run_status(run: RunFolder, now: float | None = None) -> Status:
    """Return the status of a run; a damaged, deleted or forbidden folder has the state "unreadable"
    and the reason.
    """
    try:
        refuse_links(run.path)
        holder = run.holder()
        if holder is not None and holder.is_starting:
            return Status(state="starting", last_s=run.pid_file.stat().st_mtime)
        recorded = _tail(run.events_file)
        recent = _since_start(recorded)
        if holder is None and not recent and not run.recipe_file.exists():
            if not run.log_file.exists():
                return Status(state="unreadable", message="no recipe.toml")
            return Status(state="crashed", last_s=run.log_file.stat().st_mtime)
    except (OSError, ValueError, TypeError, RecursionError, EmbedlabError) as error:
        return Status(state="unreadable", message=str(error))
    curve = events.Curve.of(recorded)
    state = _state(recent, alive=holder is not None, now=time.time() if now is None else now)
    failed = (
        next((event for event in reversed(recent) if isinstance(event, events.Failed)), None)
        if state == "failed"
        else None
    )
    reason = (
        failed.message if failed is not None else _crash(curve.newest) if state == "crashed" else ""
    )
    return Status(
        state=state,
        step=curve.newest,
        dev=curve.devs[-1] if curve.devs else None,
        best_dev=max(curve.devs, key=lambda event: event.score, default=None),
        last_s=recent[-1].time if recent else None,
        message="; ".join(text for text in (reason, _damage(recent)) if text) or _flaw(recent),
        hint=failed.hint if failed is not None else "",
        resumed_at=recent[0].step if recent and isinstance(recent[0], events.Started) else 0,
        is_scoring=state == "finished" and is_being_scored(run),
    )


def is_trained(run: RunFolder) -> bool:
    """Return whether the newest training process of the run finished and its model exists, whatever
    process holds the run now.
    """
    try:
        finished = (
            isinstance(event, events.Finished) for event in _since_start(_tail(run.events_file))
        )
        return any(finished) and run.model.is_dir()
    except OSError:
        return False


def last_dev(run: RunFolder) -> events.Dev | None:
    """Return the last dev score of a run, searched from the end; None where none was reported, or a
    damaged line comes after it.

    A process that went on from a checkpoint takes over the scores up to it alone, as in
    `run_status`.
    """
    try:
        lines = run.events_file.read_bytes().splitlines()
    except FileNotFoundError:
        return None
    limit = inf  # the last step whose scores are the run's
    for line in reversed(lines):
        event = events.from_line(line)
        if isinstance(event, events.Started):
            limit = min(limit, event.step)
        if isinstance(event, events.Dev) and event.step <= limit:
            return event
        if isinstance(event, events.Damaged):
            return None  # it may be the last dev score
    return None


def collapse_of(spread: events.VectorSpread | None) -> str:
    """Return what to say of vectors that collapsed; empty where they did not, or nothing was
    measured.
    """
    if spread is None or not spread.is_collapsed:
        return ""
    before_training = (
        f", before training {spread.before:.3f}" if isfinite(spread.before) else ""
    )  # a resumed run has not measured it
    measurement = (
        f"mean cosine {spread.mean_cosine:.3f}{before_training}; equal vectors have loss "
        f"{spread.chance:.3f}"
    )
    return (
        f"equal vectors from the start: {measurement}"
        if spread.before >= events.COLLAPSED
        else f"collapsed to equal vectors: {measurement}"
    )


def flaw_of(recorded: Sequence[events.Event], *, keeps_best: bool) -> str:
    """Return what to say of a finished training by all of its events: a loss of 0 throughout, one
    far above the first, no dev score to choose the best model by; empty where it is none of these.
    """
    losses: dict[int, dict[int, float]] = {}  # stage → step → loss: a resumed run repeats steps
    for event in recorded:
        if isinstance(event, events.Step):
            losses.setdefault(event.stage, {})[event.step] = event.loss
    chance = {
        event.stage: event.chance for event in recorded if isinstance(event, events.VectorSpread)
    }
    flaws = []
    for stage, by_step in losses.items():
        series = [by_step[step] for step in sorted(by_step)]
        first_loss, last_loss = series[0], fmean(series[-3:])
        place_text = f" of stage {stage}" if len(losses) > 1 else ""
        if not any(series):
            flaws.append(f"the loss{place_text} was 0 at every step: nothing was learnt")
        elif (
            len(series) > 3
            and last_loss > 2 * max(first_loss, 0)
            and last_loss > chance.get(stage, 0)
        ):
            flaws.append(f"the loss{place_text} rose from {first_loss:.4g} to {last_loss:.4g}")
    scores = events.Curve.of(recorded).dev_scores
    if keeps_best and scores and not any(map(isfinite, scores)):
        flaws.append("no dev score was a number: the model is the last one, not the best")
    return "; ".join(flaws)


def trained_flaw(run: RunFolder) -> str:
    """Return what a reader must know of how the training of RUN ended; empty where it ended
    well.
    """
    try:
        return _flaw(_since_start(_tail(run.events_file)))
    except OSError:
        return ""


def _flaw(recent: list[events.Event]) -> str:
    finished = next((event for event in recent if isinstance(event, events.Finished)), None)
    flaws = (collapse_of(_newest_spread(recent)), finished.flaw if finished is not None else "")
    return "; ".join(filter(None, flaws))


def refuse_begun(run: RunFolder) -> None:
    """Refuse a run that has a model or a checkpoint, which a new training would replace."""
    if run.model.exists():
        raise UsageError(
            f"run {run.id!r} is finished",
            hint=Hint("give this one its own name: ", NamedOption("--name", f"{run.name}-2")),
        )
    if any(run.checkpoints.glob("step-*")):
        raise UsageError(
            f"run {run.id!r} exists already, unfinished",
            hint=Hint(
                "continue it with ",
                NamedOption("--resume"),
                f", or remove it: embedlab runs rm {run.id}",
            ),
        )


def _crash(step: events.Step | None) -> str:
    """Return what is known of a process that ended without a report."""
    moment = f"at step {step.step} of {step.steps}" if step is not None else "before its first step"
    return f"its process ended {moment} without a report: it was killed, or the machine stopped"


def _damage(recent: list[events.Event]) -> str:
    """Return a remark on damaged lines among the newest events, which may hide the run's end."""
    damaged = sum(isinstance(event, events.Damaged) for event in recent)
    return f"damaged lines in events.jsonl: {damaged}" if damaged else ""


def _newest_spread(recent: list[events.Event]) -> events.VectorSpread | None:
    """The last measurement of the stage that was measured last, of several in one step the one with
    the vectors that are closest.
    """
    vector_spreads = [event for event in recent if isinstance(event, events.VectorSpread)]
    return max(
        (event for event in vector_spreads if event.step == vector_spreads[-1].step),
        key=lambda event: event.mean_cosine,
        default=None,
    )


def _tail(path: Path) -> list[events.Event]:
    try:
        return events.tail(path)
    except FileNotFoundError:
        return []


def _since_start(recent: list[events.Event]) -> list[events.Event]:
    """Return the events of the newest process; those of earlier ones about their end are
    outdated.
    """
    starts = [index for index, event in enumerate(recent) if isinstance(event, events.Started)]
    return recent[starts[-1] :] if starts else recent


def _state(recent: list[events.Event], *, alive: bool, now: float) -> RunState:
    if alive:
        return "silent" if recent and now - recent[-1].time > SILENT_AFTER_S else "running"
    endings = [_ending(event) for event in recent if type(event) in ENDINGS]
    if (
        "finished" in endings
    ):  # a request to stop in that instant comes too late, and what fails after it is the evaluation
        return "finished"
    # A cancelled run saves its checkpoint and reports "interrupted"; the cancellation is the better
    # answer.
    return (
        "cancelled"
        if "cancelled" in endings and endings[-1] == "interrupted"
        else endings[-1]
        if endings
        else "crashed"
    )


def _ending(event: events.Event) -> RunState:
    is_stopped = isinstance(event, events.Failed) and event.exit_code == ExitCode.INTERRUPTED
    return "interrupted" if is_stopped else ENDINGS[type(event)]
