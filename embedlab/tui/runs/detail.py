"""What the panes beside the list say of the run under the cursor: facts, results, configuration,
console. Each reads files and belongs into a thread.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import recipe_differences
from embedlab.core.settings import Settings
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import resolve
from embedlab.runs.environment import Environment
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.store import RunFolder
from embedlab.tui.runs.model import Entry, ScoreSpread, Training, main_scores

_LOG_BYTES, _LOG_LINES = 65_536, 400
_FACTS = ("device", "precision", "threads", "host", "commit", "embedlab", "python")


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """The score of one dataset or average, of all seeds that have it."""

    task: str
    score: StoredScore  # of the first seed
    spread: ScoreSpread
    marks: tuple[str, ...]  # "partial", "generated", "overlap": of the first seed's data


def facts(entry: Entry) -> list[tuple[str, str]]:
    """What the run is, a name and a text each; what is not known is left out."""
    if not entry.trainings:
        return []
    training = entry.trainings[0]
    recipe, step = training.recipe, training.status.step
    stages = recipe.get("stage", ())
    data = [stage["data"].get("datasets") or stage["data"].get("files") for stage in stages]
    rows = max((stage["data"].get("rows") or 0 for stage in stages), default=0)
    is_single_run = len(entry.trainings) == 1 and entry.plan is None
    states = ", ".join(f"{count} {state}" for state, count in entry.states.items())
    seeds = entry.plan.seeds if entry.plan else [seed_run.run.seed for seed_run in entry.trainings]
    text_of_name = {
        "state": entry.state if is_single_run else "",
        "trainings": "" if is_single_run else states,
        "step": f"{step.step} of {step.steps}" if step and is_single_run else "",
        "speed": f"{step.rows_per_s:z,.0f} rows/s" if step and step.rows_per_s else "",
        "seeds": ", ".join(dict.fromkeys(map(str, seeds))),
        "objective": " → ".join(stage.get("objective", {}).get("name", "?") for stage in stages),
        "encoder": Path(str(recipe.get("encoder", {}).get("model", ""))).name,
        "data": ", ".join(dict.fromkeys(chain.from_iterable(filter(None, data))))
        + f", {rows:,} rows" * bool(rows),
    }
    return [(name, text) for name, text in text_of_name.items() if text]


def result_rows(entry: Entry) -> list[ResultRow]:
    """The stored scores of ENTRY by one measure a task, averages after their datasets."""
    scores_of_slice: dict[tuple[str, str], list[tuple[Training, StoredScore]]] = {}
    marks: dict[str, tuple[str, ...]] = {}
    for training in entry.seeds:
        folder = training.run.evaluations
        for path in sorted(folder.rglob("*.json")):
            task = str(path.relative_to(folder).with_suffix(""))
            with suppress(EmbedlabError, OSError):
                evaluation = Evaluation.load(path)
                marks.setdefault(task, evaluation.marks)
                for score in main_scores(evaluation):
                    scores_of_slice.setdefault((task, score.slice), []).append((training, score))
    rows = []
    for (task, name), scored in scores_of_slice.items():
        training, first_score = scored[0]
        values = tuple(
            score_found.scale * score_found.value
            for _, score_found in scored
            if isfinite(score_found.value)
        )
        if values:
            interval = training.intervals.get(name) if len(scored) == 1 else None
            spread = ScoreSpread(values=values, interval=interval)
            rows.append(ResultRow(task=task, score=first_score, spread=spread, marks=marks[task]))
    return rows


def score_intervals(run: RunFolder, settings: Settings) -> dict[str, tuple[float, float]]:
    """The 95% intervals of the run's stored scores by slice, as they are shown; empty where the
    answers behind them are not stored or their data is not on this machine.
    """
    from embedlab.scoring.stored_intervals import stored_intervals  # reads data: a slow import

    intervals: dict[str, tuple[float, float]] = {}
    for path in sorted(run.evaluations.rglob("*.json")):
        with suppress(EmbedlabError, OSError):
            evaluation = Evaluation.load(path)
            (member,) = resolve(run.id, settings.runs).members
            stored = stored_intervals(evaluation, ScorePlace.of(member, settings), settings) or {}
            for score in main_scores(evaluation):
                if score in stored:
                    low, high = stored[score]
                    intervals[score.slice] = score.scale * low, score.scale * high
    return intervals


def config_text(run: RunFolder) -> str:
    """The resolved recipe as it was trained, and what it ran on."""
    try:
        lines = run.recipe_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "no recipe was written: it ended before its first step"
    text = "\n".join(line for line in lines if not line.startswith("# checksum"))
    with suppress(EmbedlabError, OSError):
        environment = run.environment()
        lines = [f"{name} = {value}" for name, value in _machine(environment).items() if value]
        text += "\n\n# it ran on\n" + "\n".join(lines)
    return text.strip()


def differences(first: RunFolder, second: RunFolder) -> list[tuple[str, str, str]]:
    """What differs between the recipes, seeds, machines and packages of two runs: key and both
    values; an absent value is "–".
    """
    try:
        changed = recipe_differences(first.recipe(), second.recipe())
        machines = [
            _machine(environment) | dict(environment.packages or {})
            for environment in (first.environment(), second.environment())
        ]
    except EmbedlabError as error:
        return [("error", error.message, "")]
    for key in machines[0] | machines[1]:
        old, new = (machine.get(key) for machine in machines)
        if old != new:
            changed.append((key, old, new))
    if first.seed != second.seed:
        changed.insert(0, ("seed", first.seed, second.seed))
    return [
        (key, "–" if old is None else str(old), "–" if new is None else str(new))
        for key, old, new in changed
        if key != "summary"
    ]


def _machine(environment: Environment) -> dict[str, object]:
    """What a run ran on, by name."""
    return {name: getattr(environment, name) for name in _FACTS}


def log_tail(run: RunFolder) -> list[str]:
    """The last lines that the run's process printed, or its last events where it printed none."""
    for path in (run.log_file, run.events_file):
        with suppress(OSError), path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LOG_BYTES))
            text = file.read().decode(errors="replace").replace("\r", "\n")
            if lines := text.splitlines()[-_LOG_LINES:]:
                return lines
    return []
