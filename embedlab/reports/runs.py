"""Runs as tables: the list of them, what one run is, and its events in words."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError
from embedlab.core.printable import count_text, one_line
from embedlab.reports.tables import Table, TableCell, attributes, columns_of
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.events import Event
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder, list_runs

_COLUMNS = columns_of(
    *("run [key]", "state", "step", "steps = of", "loss .4", "dev .2", "last = last event"),
    "note [text]",
)


def runs_table(folder: Path) -> Table:
    """Return the runs of a runs folder with their state, and the folders in it that cannot be
    listed.
    """
    runs, unreadable = list_runs(folder)
    rows: list[dict[str, Any]] = []
    for run in runs:
        row = _status_row(run)
        if row["last"]:  # in minutes for people
            row["last"] = TableCell(row["last"], row["last"][:16])
        rows.append(row)
    rows += [
        {"run": path.name, "state": "unreadable", "note": reason} for path, reason in unreadable
    ]
    notes = () if rows else (f"no runs in {str(folder)!r}; start one with `embedlab train RECIPE`",)
    return Table(f"Runs in {folder}", _COLUMNS, rows, notes)


def run_table(run: RunFolder) -> Table:
    """Return what a run is, what it ran on and how far it is."""
    rows: list[dict[str, Any]] = []
    for key, value in run_facts(run).items():
        text = "" if value is None else str(value)
        if isinstance(value, float):
            text = f"{value:.4g}" if abs(value) < 1e-4 else f"{value:z.4f}"
        elif isinstance(value, list):
            value = text = "; ".join(map(_part, value))
        if text:
            rows.append({"fact": key.replace("_", " "), "value": TableCell(value, text)})
    return Table(run.id, columns_of("fact [key]", "value [text]"), rows)


def run_facts(run: RunFolder) -> dict[str, Any]:
    """Return the same as one object of plain values; None where nothing is known. Damaged files of
    evaluations are left out.
    """
    evaluations = []
    for path in sorted(run.evaluations.rglob("*.json")):
        task = path.relative_to(run.evaluations).with_suffix("").as_posix()
        with suppress(EmbedlabError):
            precision = Evaluation.load(path, where=lambda _: False).precision
            evaluations.append({"task": task, "precision": precision})
    status = {
        key: None if isinstance(value, float) and not isfinite(value) else value
        for key, value in _status_row(run).items()
    }
    return {
        **status,
        **_circumstances(run),
        "evaluations": evaluations,
        "folder": str(run.path),
    }


def _part(entry: Mapping[str, Any] | str) -> str:
    """Return a mark, a part of the data, or an evaluation, in words."""
    if isinstance(entry, str):
        return entry
    if "task" in entry:
        return f"{entry['task']} in {entry['precision']}"
    used_note = "" if entry.get("used") is None else f"{entry['used']} of "
    return f"{entry['name']} {entry['split']}: {used_note}{count_text(entry['rows'], 'rows')}"


def event_line(event: Event) -> str:
    """Return an event as one line for people."""
    texts = []
    for key, value in vars(event).items():
        if key != "time" and value != "":
            texts.append(f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}")
    return one_line(f"{_clock(event.time)}  {event.kind:<11} {'  '.join(texts)}".rstrip())


def _status_row(run: RunFolder) -> dict[str, Any]:
    status = run_status(run)
    step = status.step
    return {
        "run": run.id,
        "state": status.state,
        "step": step.step if step else None,
        "steps": step.steps if step else None,
        "loss": step.loss if step else None,
        "dev": status.dev.score if status.dev else None,
        "last": _clock(status.last_s),
        "note": status.message,
    }


def _clock(time_s: float | None) -> str | None:
    if time_s is None:
        return None
    return datetime.fromtimestamp(time_s).astimezone().isoformat(sep=" ", timespec="seconds")


def _circumstances(run: RunFolder) -> dict[str, Any]:
    """What recipe and environment state; a damaged file is a fact too."""
    try:
        recipe, environment = run.recipe(), run.environment()
    except EmbedlabError as error:
        return {"note": error.message}
    mark_names = ("partial", "generated", "shortened")
    keys = ("name", "split", "rows", "used")
    steps = f"{environment.steps} of {environment.whole_steps}"
    return {
        "summary": recipe.summary,
        "recipe": recipe.hash,
        "encoder": recipe.encoder.model,
        "pooling": recipe.encoder.pooling,
        "data": [{key: state.get(key) for key in keys} for state in environment.data],
        "marks": [mark_name for mark_name in mark_names if getattr(environment, f"is_{mark_name}")],
        "steps_taken": steps if environment.is_shortened else None,
        **attributes(environment, "device precision threads host commit embedlab"),
    }
