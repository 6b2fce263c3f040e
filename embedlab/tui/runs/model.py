"""Every run and grid of the runs folder, as rows of a list; each look reads only what changed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, floor, isfinite, log10
from pathlib import Path
from statistics import fmean, stdev
from time import time
from typing import Any, Literal, TypeVar

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.printable import first_few
from embedlab.core.schema import read_toml
from embedlab.experiments.cells import is_alive
from embedlab.experiments.plan import GridPlan
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.status import Status, is_being_scored, run_status
from embedlab.runs.store import GRIDS, RunFolder, list_runs

Kind = Literal["run", "grid", "unreadable"]

SIGNS = {
    "running": "▶",
    "scoring": "▷",
    "starting": "◌",
    "silent": "…",
    "failed": "✗",
    "crashed": "✗",
    "unreadable": "?",
    "cancelled": "‖",
    "interrupted": "‖",
    "waiting": "·",
    "finished": "✓",
}  # of several states the first decides
ENDED = frozenset({"finished", "failed", "crashed", "interrupted", "cancelled"})
ACTIVE = frozenset({"running", "scoring", "starting", "silent"})

TRAINING_SHARE = 0.75  # of a run's progress; the tasks have the rest
NO_LOSS = "nothing was learnt"


def counted_states(states: Sequence[str]) -> dict[str, int]:
    """How many of STATES are which, in the order of SIGNS."""
    return {state: states.count(state) for state in SIGNS if state in states}


Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class ScoreSpread:
    """A number of one or more seeds."""

    values: tuple[float, ...]
    # the 95% interval of one seed, where it is known; that of several is not shown
    interval: tuple[float, float] | None = None

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return fmean(self.values)

    @property
    def text(self) -> str:
        """The mean ± the deviation over seeds, or with its [interval]."""
        if len(self.values) > 1:
            return f"{self.mean:z.2f} ± {stdev(self.values):z.2f}"
        if self.interval is not None:
            low, high = self.interval
            return f"{self.mean:z.2f} [{low:z.1f}, {high:z.1f}]"
        return f"{self.mean:z.2f}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """One run as it was read."""

    run: RunFolder
    status: Status
    recipe: Mapping[str, Any] = field(default_factory=dict)  # its table; empty where unreadable
    marks: tuple[str, ...] = ()  # partial data, fewer steps than the recipe has
    scored: int = 0  # tasks with a stored evaluation
    score: StoredScore | None = None  # of its first task: the average, or its dataset
    # of scores by slice, as they are shown; empty until they are computed
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def last_s(self) -> float:
        """The time of the last event, 0 before the first."""
        return self.status.last_s or 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of its score, where it was computed."""
        return self.intervals.get(self.score.slice) if self.score is not None else None

    @property
    def tasks(self) -> Sequence[str]:
        """The tasks that score the finished model."""
        return tuple(self.recipe.get("evaluate", {}).get("tasks", ()))

    @property
    def share(self) -> float:
        """How much of training and scoring is done, 0 to 1."""
        step = self.status.step
        trained = step.step / max(step.steps, 1) if step is not None else 0.0
        if self.status.state == "finished" and not self.status.is_scoring:
            return 1.0
        if not self.tasks:
            return trained
        scored_share = min(self.scored / len(self.tasks), 1.0) if trained >= 1 else 0.0
        return TRAINING_SHARE * trained + (1 - TRAINING_SHARE) * scored_share

    @property
    def flaw(self) -> str:
        """What is wrong with the numbers of the run: nothing was learnt, a value that is none."""
        step, dev = self.status.step, self.status.dev
        if step is not None and not isfinite(step.loss):
            return "the loss is not a number"
        if dev is not None and not isfinite(dev.score):
            return "the dev score is not a number"
        losses = self.status.losses
        if len(losses) > 1 and not any(losses):
            return f"{NO_LOSS}: the loss is 0 at every step"
        return ""

    @property
    def note(self) -> str:
        """What the user should know of the run, the most important first."""
        status = self.status
        is_resumed = status.resumed_at and status.is_alive
        resumed = f"resumed at step {status.resumed_at}" if is_resumed else ""
        flaw_text = "" if NO_LOSS in status.message else self.flaw
        return "; ".join(text for text in (status.message, flaw_text, resumed, *self.marks) if text)


def newest_of(trainings: Iterable[Training]) -> Training | None:
    """The one of TRAININGS that was active last."""
    return max(trainings, key=lambda training: training.last_s, default=None)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row of the list: a run, the seeds of a run, a grid, or a folder that cannot be read."""

    name: str  # unique; of one seed of several with @SEED
    kind: Kind = "run"
    title: str = ""  # of a cell: its labels
    trainings: tuple[Training, ...] = ()
    plan: GridPlan | None = None
    has_worker: bool = False  # a grid has one also between two of its cells
    reason: str = ""  # why a folder cannot be read
    level: int = 0  # 1: a part of the entry above

    @property
    def states(self) -> Mapping[str, int]:
        """How many runs are in each state; cells without a run wait."""
        states = [training.status.shown_state for training in self.trainings]
        if self.plan is not None:
            states += ["waiting"] * (len(self.plan) - len(states))
        return counted_states(states)

    @property
    def state(self) -> str:
        """The state that matters most."""
        if self.has_worker and ACTIVE.isdisjoint(self.states):
            return "starting"
        return next(iter(self.states), "unreadable" if self.kind == "unreadable" else "waiting")

    @property
    def is_active(self) -> bool:
        """Whether a process works on a part of it."""
        return self.has_worker or not ACTIVE.isdisjoint(self.states)

    @property
    def share(self) -> float:
        """How much of its work is done, 0 to 1."""
        cell_count = len(self.plan) if self.plan is not None else len(self.trainings)
        return (
            sum(training.share for training in self.trainings) / cell_count if cell_count else 0.0
        )

    @property
    def losses(self) -> Sequence[float]:
        """The newest losses of the seed that was active last; a grid has none."""
        newest = newest_of(self.trainings) if self.kind == "run" else None
        return newest.status.losses if newest is not None else ()

    @property
    def last_s(self) -> float:
        """The time of the last event."""
        return max((training.last_s for training in self.trainings), default=0.0)

    @property
    def dev(self) -> ScoreSpread | None:
        """The dev score; of a grid the best cell's."""
        return self._spread(
            lambda training: training.status.dev.score if training.status.dev else None
        )

    @property
    def score(self) -> ScoreSpread | None:
        """The final score; of a grid that of the cell with the best dev score."""
        spread = self._spread(
            lambda training: (
                training.score.scale * training.score.value if training.score is not None else None
            )
        )
        interval = next(filter(None, (training.interval for training in self.trainings)), None)
        return replace(spread, interval=interval) if spread and self.kind == "run" else spread

    @property
    def note(self) -> str:
        """What the user should know of it."""
        notes_of_runs = [(training.run.id, training.note) for training in self.trainings]
        notes = {note for _, note in notes_of_runs}
        if len(notes) == 1:
            return notes.pop()
        lines = [f"{run}: {note}" for run, note in notes_of_runs if note]
        return first_few(lines, 3, separator="\n") or self.reason

    def _spread(self, number: Callable[[Training], float | None]) -> ScoreSpread | None:
        numbers = map(number, self.seeds)
        values = tuple(value for value in numbers if value is not None and isfinite(value))
        return ScoreSpread(values=values) if values else None

    @property
    def seeds(self) -> Sequence[Training]:
        """Its runs that differ by their seed alone: of a grid those of its best place by dev."""
        if self.kind != "grid":
            return self.trainings
        devs: dict[str, list[float]] = {}
        for training in self.trainings:
            dev = training.status.dev
            if dev is not None and isfinite(dev.score):
                devs.setdefault(training.run.name, []).append(dev.score)
        best_run = max(devs, key=lambda name: fmean(devs[name]), default="")
        return [
            training for training in self.trainings if training.run.name == best_run
        ] or self.trainings[:1]


SORTS: Mapping[str, Callable[[Entry], Any]] = {
    "newest": lambda entry: (not entry.is_active, -entry.last_s, entry.name),
    "name": lambda entry: entry.name,
    "dev": lambda entry: -(entry.dev.mean if entry.dev else float("-inf")),
    "score": lambda entry: -(entry.score.mean if entry.score else float("-inf")),
}


@dataclass(frozen=True, kw_only=True)
class RunsLook:
    """The runs folder at one moment."""

    trainings: tuple[Training, ...] = ()
    plans: tuple[GridPlan, ...] = ()
    working: frozenset[str] = frozenset()  # grids that a process of this machine works on
    unreadable: tuple[tuple[Path, str], ...] = ()
    error: EmbedlabError | None = None
    time_s: float = 0.0

    def entries(
        self, words: str = "", unfolded: Collection[str] = (), order: str = "newest"
    ) -> list[Entry]:
        """The rows that have all WORDS in name, objective or state, in the ORDER of SORTS. The
        seeds and cells of UNFOLDED entries have rows of their own.
        """
        plans = {variant.run: plan for plan in self.plans for variant in plan.variants}
        groups: dict[str, list[Training]] = {}
        trainings_of_grid: dict[str, list[Training]] = {plan.name: [] for plan in self.plans}
        for training in self.trainings:
            name = training.run.name
            if (plan := plans.get(name)) is not None:
                trainings_of_grid[plan.name].append(training)
            else:
                groups.setdefault(name, []).append(training)
        rows = [
            Entry(
                name=plan.name,
                kind="grid",
                trainings=tuple(trainings_of_grid[plan.name]),
                plan=plan,
                has_worker=plan.name in self.working,
            )
            for plan in self.plans
        ]
        rows += [
            Entry(
                name=name if len(seeds) > 1 or seeds[0].run.seed == 1 else seeds[0].run.id,
                trainings=tuple(seeds),
            )
            for name, seeds in groups.items()
        ]
        rows.sort(key=SORTS[order])
        rows += [
            Entry(name=path.name, kind="unreadable", reason=reason)
            for path, reason in self.unreadable
        ]
        shown_entries = []
        for entry in rows:
            if _has_words(entry, words):
                children = list(_parts(entry, unfolded))
                if order != "newest":
                    children.sort(key=SORTS[order])
                shown_entries += [entry, *children]
        return shown_entries


def _has_words(entry: Entry, words: str) -> bool:
    objectives = {
        stage.get("objective", {}).get("name", "")
        for training in entry.trainings
        for stage in training.recipe.get("stage", ())
    }
    text = " ".join((entry.name, entry.kind, *entry.states, *sorted(objectives), entry.note))
    return all(word in text.casefold() for word in words.casefold().split())


def _parts(entry: Entry, unfolded: Collection[str]) -> Iterator[Entry]:
    if entry.name not in unfolded or (entry.kind == "run" and len(entry.trainings) < 2):
        return
    trainings_of_name: dict[str, list[Training]] = {}
    for training in entry.trainings:
        key = training.run.name if entry.kind == "grid" else training.run.id
        trainings_of_name.setdefault(key, []).append(training)
    variants = entry.plan.variants if entry.plan is not None else ()
    titles = {variant.run: short_labels(variant.labels) for variant in variants}
    for name, trainings in trainings_of_name.items():
        title = titles.get(name) or f"seed {trainings[0].run.seed}"
        yield Entry(name=name, title=title, trainings=tuple(trainings), level=1)


def short_labels(labels: Mapping[str, str]) -> str:
    """The labels of a cell, each axis by the last part of its key."""
    return ", ".join(f"{axis.rpartition('.')[2]} {label}" for axis, label in labels.items())


class RunFollower:
    """Reads a runs folder; runs that did not change are not read again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trainings: dict[Path, tuple[object, Training]] = {}
        self._intervals: dict[tuple[Path, object], Mapping[str, tuple[float, float]]] = {}

    def look(self) -> RunsLook:
        """All runs now; what cannot be read is in the answer."""
        now = time()
        try:
            runs, unreadable = list_runs(self._folder)
            trainings = tuple(self._training(run, now) for run in runs)
            plans = tuple(self._read_plans())
            return RunsLook(
                trainings=trainings,
                plans=plans,
                working=frozenset(plan.name for plan in plans if is_alive(plan.folder)),
                unreadable=tuple(item for item in unreadable if item[0].name != GRIDS),
                time_s=now,
            )
        except EmbedlabError as error:
            return RunsLook(error=error, time_s=now)
        except OSError as error:
            problem = MissingError(
                f"cannot read {str(self._folder)!r}: {error.strerror}",
                hint="choose another with --runs",
            )
            return RunsLook(error=problem, time_s=now)

    def _read_plans(self) -> Iterator[GridPlan]:
        for path in (self._folder / GRIDS).glob("*/plan.json"):
            with suppress(EmbedlabError, OSError):  # its runs are shown one by one
                yield _read_plan(path, _stamp(path))

    def _training(self, run: RunFolder, now: float) -> Training:
        stamp = _stamp(
            run.events_file, run.pid_file, run.log_file, run.recipe_file, run.evaluations
        )
        old_stamp, training = self._trainings.get(run.path, (None, None))
        if (
            training is None
            or stamp != old_stamp
            or training.status.state not in ENDED
            or training.status.is_scoring != is_being_scored(run)
        ):
            training = _read(run, now)
        intervals = self._intervals.get((run.path, _stamp(run.evaluations)), {})
        if intervals != training.intervals:
            training = replace(training, intervals=intervals)
        self._trainings[run.path] = stamp, training
        return training

    def without_intervals(self, runs: RunsLook) -> Training | None:
        """The newest scored training whose intervals were not computed yet."""
        without = (
            training
            for training in runs.trainings
            if training.score is not None
            and (training.run.path, _stamp(training.run.evaluations)) not in self._intervals
        )
        return newest_of(without)

    def keep_intervals(self, run: RunFolder, intervals: Mapping[str, tuple[float, float]]) -> None:
        """Show these INTERVALS beside the scores of RUN from the next look on."""
        self._intervals[run.path, _stamp(run.evaluations)] = intervals


@lru_cache(maxsize=1_000)
def _read_plan(path: Path, stamp: object) -> GridPlan:
    """Read the plan in the file at PATH, which changes with its STAMP."""
    return GridPlan.load(path)


def _read(run: RunFolder, now: float) -> Training:
    status = run_status(run, now)
    recipe: Mapping[str, Any] = {}
    with suppress(EmbedlabError, OSError):
        recipe = read_toml(run.recipe_file)
    paths = sorted(run.evaluations.rglob("*.json"))
    return Training(
        run=run,
        status=status,
        recipe=recipe,
        marks=_marks(run),
        scored=len(paths),
        score=_first_score(paths, tuple(recipe.get("evaluate", {}).get("tasks", ()))),
    )


def _marks(run: RunFolder) -> tuple[str, ...]:
    try:
        environment = run.environment()
    except (EmbedlabError, OSError):  # written when the run begins
        return ()
    shortened = (
        f"shortened to {environment.steps} of {environment.whole_steps} steps"
        if environment.is_shortened
        else ""
    )
    return tuple(mark for mark in (shortened, "partial data" * environment.is_partial) if mark)


def _first_score(paths: Sequence[Path], tasks: Sequence[str]) -> StoredScore | None:
    """Return the score that sums up the first of TASKS: the last average, or the first dataset."""
    for path in sorted(paths, key=lambda path: path.stem not in tasks[:1]):
        with suppress(EmbedlabError, OSError):
            scores = main_scores(Evaluation.load(path))
            averages = [score for score in scores if score.by == "average"]
            if scores:
                return averages[-1] if averages else scores[0]
    return None


def main_scores(evaluation: Evaluation) -> list[StoredScore]:
    """The score of each dataset and average of EVALUATION by one measure: Spearman over all pairs
    where it has that, else what it states first.
    """
    scores = [score for score in evaluation.scores if score.by in {"dataset", "average"}]
    scores = [score for score in scores if score.split != "dev"] or scores
    metric = _usual_or_first("spearman", [score.metric for score in scores])
    scores = [score for score in scores if score.metric == metric]
    setting = _usual_or_first("all", [score.setting for score in scores])
    return [score for score in scores if score.setting == setting]


def _usual_or_first(usual_name: str, names: Sequence[str]) -> str:
    return usual_name if usual_name in names or not names else names[0]


def _stamp(*paths: Path) -> object:
    """A value that changes with files: every event makes the events longer, every start rewrites
    the process id.
    """
    marks_of_files: list[object] = []
    for path in paths:
        try:
            file_status = path.stat()
            marks_of_files.append((file_status.st_size, file_status.st_mtime_ns))
        except OSError as error:
            marks_of_files.append(error.errno)
    return tuple(marks_of_files)


def round_ticks(
    low: float, high: float, most: int, *, is_log: bool = False
) -> list[tuple[float, str]]:
    """At most MOST round values between LOW and HIGH, with their text."""
    rough_step = (high - low) / most
    power = 10.0 ** floor(log10(rough_step))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough_step * 0.999)
    values = [
        index * step for index in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    ]
    digits = max(4, min(ceil(log10(max(abs(low), abs(high)) / step)) + 1, 6))  # neighbours differ
    return [(value, short_number(10**value if is_log else value, digits)) for value in values]


def short_number(value: float, digits: int = 4) -> str:
    """VALUE in at most DIGITS digits."""
    if not isfinite(value):
        return "–"
    if abs(value) >= 10_000:
        return f"{value / 1000:z.0f}k" if abs(value) < 1e6 else f"{value / 1e6:.3g}M"
    return f"{value:.{digits}g}" if abs(value) >= 0.001 or value == 0 else f"{value:.0e}"
