"""The tables of `embedlab runs`, and a run's events in words."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from embedlab.core.errors import EmbedlabError
from embedlab.core.printable import one_line
from embedlab.reports.tables import Column, Table, Value
from embedlab.runs.events import Event
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder

_COLUMNS = (
    Column(key="run", title="run"),
    Column(key="state", title="state"),
    Column(key="step", title="step"),
    Column(key="steps", title="of"),
    Column(key="loss", title="loss", digits=4),
    Column(key="dev", title="dev", digits=2),
    Column(key="last", title="last event"),
    Column(key="note", title="note"),
)


def runs_table(folder: Path, runs: Sequence[RunFolder], unreadable: Sequence[tuple[Path, str]]) -> Table:
    """Return the RUNS of a runs folder with their state, and the folders in it that cannot be listed."""
    rows: list[dict[str, Value]] = [_status_row(run) for run in runs]
    rows += [{"run": path.name, "state": "unreadable", "note": reason} for path, reason in unreadable]
    notes = () if rows else (f"no runs in {str(folder)!r}; start one with `embedlab train RECIPE`",)
    return Table(title=f"Runs in {folder}", columns=_COLUMNS, rows=rows, notes=notes)


def run_table(run: RunFolder) -> Table:
    """Return what a run is, what it ran on and how far it is."""
    facts: dict[str, Value] = {**_status_row(run), **_circumstances(run), "folder": str(run.path)}
    rows: list[dict[str, Value]] = [{"fact": key, "value": value} for key, value in facts.items() if value not in {None, ""}]
    return Table(title=run.id, columns=(Column(key="fact", title="fact"), Column(key="value", title="value")), rows=rows)


def event_line(event: Event) -> str:
    """Return an event as one line for people."""
    facts = {key: value for key, value in vars(event).items() if key != "time"}
    shown = "  ".join(f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in facts.items())
    return one_line(f"{_clock(event.time)}  {event.kind:<11} {shown}".rstrip())


def _status_row(run: RunFolder) -> dict[str, Value]:
    found = run_status(run)
    step = found.step
    return {
        "run": run.id,
        "state": found.state,
        "step": step.step if step else None,
        "steps": step.steps if step else None,
        "loss": step.loss if step else None,
        "dev": found.dev.score if found.dev else None,
        "last": _clock(found.last_s),
        "note": found.message,
    }


def _clock(time_s: float | None) -> str | None:
    if time_s is None:
        return None
    return datetime.fromtimestamp(time_s).astimezone().isoformat(sep=" ", timespec="seconds")


def _circumstances(run: RunFolder) -> dict[str, Value]:
    """What recipe and environment state; a damaged file is a fact too."""
    try:
        recipe, environment = run.recipe(), run.environment()
    except EmbedlabError as error:
        return {"note": error.message}
    marks = (("partial", environment.is_partial), ("sample", environment.is_sample), ("shortened", environment.is_shortened))
    parts = [f"{part.get('name')} {part.get('split')}: {_rows(part)} rows" for part in environment.data]
    return {
        "summary": recipe.summary,
        "recipe": recipe.hash,
        "encoder": recipe.encoder.model,
        "pooling": recipe.encoder.pooling,
        "data": "; ".join(parts),
        "marks": " ".join(mark for mark, is_on in marks if is_on),
        "steps taken": f"{environment.steps} of {environment.whole_steps}, by --max-steps" if environment.is_shortened else None,
        "device": environment.device,
        "precision": environment.precision,
        "threads": environment.threads,
        "host": environment.host,
        "commit": environment.commit,
        "embedlab": environment.embedlab,
    }


def _rows(part: Mapping[str, object]) -> str:
    return f"{part['used']} of {part.get('rows')}" if "used" in part else str(part.get("rows"))
