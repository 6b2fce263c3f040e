"""Runs as tables: the list of them, what one run is, and its events in words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError
from embedlab.core.printable import one_line
from embedlab.reports.tables import Table, TableCell, Value, columns_of
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.events import Event
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder

_COLUMNS = columns_of(
    ("run", "state", "step", "steps", "loss", "dev", "last", "note"),
    titles={"steps": "of", "last": "last event"},
    digits={"loss": 4, "dev": 2},
    roles={"run": "key", "note": "text"},
)


def runs_table(
    folder: Path, runs: Sequence[RunFolder], unreadable: Sequence[tuple[Path, str]]
) -> Table:
    """Return the RUNS of a runs folder with their state, and the folders in it that cannot be
    listed.
    """
    rows: list[dict[str, Value | TableCell]] = [_listed_row(run) for run in runs]
    rows += [
        {"run": path.name, "state": "unreadable", "note": reason} for path, reason in unreadable
    ]
    notes = () if rows else (f"no runs in {str(folder)!r}; start one with `embedlab train RECIPE`",)
    return Table(title=f"Runs in {folder}", columns=_COLUMNS, rows=rows, notes=notes)


def run_table(run: RunFolder) -> Table:
    """Return what a run is, what it ran on and how far it is."""
    facts = {key.replace("_", " "): _fact_cell(value) for key, value in run_facts(run).items()}
    rows: list[dict[str, Value | TableCell]] = [
        {"fact": key, "value": value}
        for key, value in facts.items()
        if value.value not in {None, ""}
    ]
    columns = columns_of(("fact", "value"), roles={"fact": "key", "value": "text"})
    return Table(title=run.id, columns=columns, rows=rows)


def run_facts(run: RunFolder) -> dict[str, Any]:
    """Return the same as one object of plain values; None where nothing is known."""
    status = {
        key: None if isinstance(value, float) and not isfinite(value) else value
        for key, value in _status_row(run).items()
    }
    return {
        **status,
        **_circumstances(run),
        "evaluations": _evaluations(run),
        "folder": str(run.path),
    }


def _fact_cell(value: Any) -> TableCell:
    """Return a fact in one line."""
    match value:
        case float():
            return TableCell(
                value=value, text=f"{value:.4g}" if abs(value) < 1e-4 else f"{value:z.4f}"
            )
        case list():
            text = "; ".join(
                _part(entry) if isinstance(entry, dict) else str(entry) for entry in value
            )
            return TableCell(value=text, text=text)
    return TableCell(value=value, text=str(value))


def _part(entry: Mapping[str, Any]) -> str:
    """Return a part of the data, or an evaluation, in words."""
    if "task" in entry:
        return f"{entry['task']} in {entry['precision']}"
    rows = (
        f"{entry['used']} of {entry['rows']}"
        if entry.get("used") is not None
        else str(entry["rows"])
    )
    return f"{entry['name']} {entry['split']}: {rows} rows"


def _evaluations(run: RunFolder) -> list[dict[str, Any]]:
    """Return which tasks the run was evaluated on, and in which precision; damaged files are left
    out.
    """
    evaluations = []
    for path in sorted(run.evaluations.rglob("*.json")):
        with suppress(EmbedlabError):
            evaluation = Evaluation.load(path, where=lambda _: False)
            evaluations.append(
                {
                    "task": path.relative_to(run.evaluations).with_suffix("").as_posix(),
                    "precision": evaluation.precision,
                }
            )
    return evaluations


def event_line(event: Event) -> str:
    """Return an event as one line for people."""
    facts = {key: value for key, value in vars(event).items() if key != "time"}
    shown = "  ".join(
        f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in facts.items()
    )
    return one_line(f"{_clock(event.time)}  {event.kind:<11} {shown}".rstrip())


def _listed_row(run: RunFolder) -> dict[str, Value | TableCell]:
    """Return the status with the time of the last event in minutes for people."""
    row = _status_row(run)
    last = row["last"]
    return (
        {**row, "last": TableCell(value=last, text=last[:16])} if isinstance(last, str) else {**row}
    )


def _status_row(run: RunFolder) -> dict[str, Value]:
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
    marks = (
        ("partial", environment.is_partial),
        ("generated", environment.is_generated),
        ("shortened", environment.is_shortened),
    )
    return {
        "summary": recipe.summary,
        "recipe": recipe.hash,
        "encoder": recipe.encoder.model,
        "pooling": recipe.encoder.pooling,
        "data": [
            {key: state.get(key) for key in ("name", "split", "rows", "used")}
            for state in environment.data
        ],
        "marks": [mark for mark, is_on in marks if is_on],
        "steps_taken": f"{environment.steps} of {environment.whole_steps}"
        if environment.is_shortened
        else None,
        "device": environment.device,
        "precision": environment.precision,
        "threads": environment.threads,
        "host": environment.host,
        "commit": environment.commit,
        "embedlab": environment.embedlab,
    }
