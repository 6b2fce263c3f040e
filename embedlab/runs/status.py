"""The status of a run, from one cheap read of its folder, and whether it is being scored."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import inf, isfinite
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
    losses: tuple[float, ...] = ()  # the newest, of that process
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
        curve = _newest_events(run)
        if holder is None and not curve.process and not run.recipe_file.exists():
            if not run.log_file.exists():
                return Status(state="unreadable", message="no recipe.toml")
            return Status(state="crashed", last_s=run.log_file.stat().st_mtime)
    except (OSError, ValueError, TypeError, RecursionError, EmbedlabError) as error:
        return Status(state="unreadable", message=str(error))
    state = _ended_state(curve.process)
    last_s = curve.process[-1].time if curve.process else None
    if holder is not None:
        now = time.time() if now is None else now
        state = "silent" if now - (last_s or now) > SILENT_AFTER_S else "running"
    reason, hint = "", ""
    if state == "failed":
        failed = [event for event in curve.process if isinstance(event, events.Failed)][-1]
        reason, hint = failed.message, failed.hint
    if state == "crashed":
        reason = _crash(curve.newest)
    damaged = sum(isinstance(event, events.Damaged) for event in curve.process)
    damage = f"damaged lines in events.jsonl: {damaged}" if damaged else ""
    return Status(
        state=state,
        step=curve.newest,
        dev=curve.devs[-1] if curve.devs else None,
        best_dev=max(curve.devs, key=lambda event: event.score, default=None),
        last_s=last_s,
        message="; ".join(filter(None, (reason, damage))) or _flaw(curve),
        hint=hint,
        resumed_at=curve.started.step if curve.started is not None else 0,
        losses=tuple(event.loss for event in curve.process if isinstance(event, events.Step)),
        is_scoring=state == "finished" and is_being_scored(run),
    )


def _newest_events(run: RunFolder) -> events.Curve:
    """Return what the last few hundred events of a run say."""
    try:
        return events.Curve.of(events.tail(run.events_file))
    except FileNotFoundError:
        return events.Curve()


def is_trained(run: RunFolder) -> bool:
    """Return whether the newest training process of the run finished and its model exists, whatever
    process holds the run now.
    """
    try:
        return _newest_events(run).finished is not None and run.model.is_dir()
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


def flaw_of(recorded: Sequence[events.Event], *, keeps_best: bool) -> str:
    """Return what to say of a finished training by all of its events: a loss or a learning rate of
    0 throughout, a loss far above the first, no dev score to choose the best model by; empty where
    it is none of these.
    """
    curve = events.Curve.of(recorded)
    chance = {
        event.stage: event.chance for event in recorded if isinstance(event, events.VectorSpread)
    }
    flaws = []
    stages = dict.fromkeys(step.stage for step in curve.steps)
    for stage in stages:
        steps = [step for step in curve.steps if step.stage == stage]
        losses = [step.loss for step in steps]
        first_loss, last_loss = losses[0], fmean(losses[-3:])
        place_text = f" of stage {stage}" if len(stages) > 1 else ""
        is_risen = last_loss > 2 * max(first_loss, 0) and last_loss > chance.get(stage, 0)
        if not any(losses):
            flaws.append(f"the loss{place_text} was 0 at every step: nothing was learnt")
        elif not any(step.lr for step in steps):  # a warm-up begins at 0, and is all of one step
            flaws.append(f"the learning rate{place_text} was 0 at every step: nothing was learnt")
        elif len(losses) > 3 and is_risen:
            flaws.append(f"the loss{place_text} rose from {first_loss:.4g} to {last_loss:.4g}")
    if keeps_best and curve.devs and not any(isfinite(dev.score) for dev in curve.devs):
        flaws.append("no dev score was a number: the model is the last one, not the best")
    return "; ".join(flaws)


def trained_flaw(run: RunFolder) -> str:
    """Return what a reader must know of how the training of RUN ended; empty where it ended
    well.
    """
    try:
        return _flaw(_newest_events(run))
    except OSError:
        return ""


def _flaw(curve: events.Curve) -> str:
    """Return what is wrong with a training: its vectors collapsed, or what its end says.

    Of the stage that was measured last, of several in one step the one with the vectors that are
    closest.
    """
    spreads = [event for event in curve.process if isinstance(event, events.VectorSpread)]
    newest = [spread for spread in spreads if spread.step == spreads[-1].step]
    closest = max(newest, key=lambda spread: spread.mean_cosine, default=None)
    collapse = closest.collapse if closest is not None else ""
    finished_flaw = curve.finished.flaw if curve.finished is not None else ""
    return "; ".join(filter(None, (collapse, finished_flaw)))


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


def _ended_state(process: Sequence[events.Event]) -> RunState:
    """Return the state of a run without a process, by all events of its newest one."""
    endings: list[RunState] = []
    for event in process:
        if isinstance(event, events.Failed) and event.exit_code == ExitCode.INTERRUPTED:
            endings.append("interrupted")
        elif type(event) in ENDINGS:
            endings.append(ENDINGS[type(event)])
    # A request to stop in the instant of the end comes too late, and what fails after it is the
    # evaluation.
    if "finished" in endings:
        return "finished"
    # A cancelled run saves its checkpoint and reports "interrupted"; the cancellation is the better
    # answer.
    if "cancelled" in endings and endings[-1] == "interrupted":
        return "cancelled"
    return endings[-1] if endings else "crashed"
