"""The tables of `embedlab grid` other than that of the scores: the grids, their cells, and how the
cells ended.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from embedlab.core.durations import duration
from embedlab.experiments.listing import ListedGrid
from embedlab.experiments.pivot import last_dev
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.progress import GridProgress
from embedlab.experiments.queue import CellState, QueueEntry
from embedlab.reports.tables import Column, Role, Table, TableCell, Value
from embedlab.runs.status import run_status

_LISTED_STATES: tuple[CellState, ...] = (
    "done",
    "running",
    "waiting",
    "cancelled",
    "failed",
)

_GRIDS = (
    Column(key="grid", title="grid", role="key"),
    Column(key="axes", title="axes", role="text"),
    Column(key="started", title="started"),
    Column(key="summary", title="summary", role="text"),
)


def states_line(progress: GridProgress) -> str:
    """Return the states in one line: "12 done, 3 running, 3 waiting, about 4m10s left"."""
    parts = [
        f"{progress.counts[state]} {state}"
        for state in _LISTED_STATES
        if progress.counts.get(state)
    ]
    left = (
        f", about {duration(progress.cost.seconds)} left"
        if progress.cost.cells and progress.cost.seconds is not None
        else ""
    )
    return ", ".join(parts) + left


def status_table(progress: GridProgress) -> Table:
    """Return every cell with its state, in the order of the plan."""
    plan, steps = progress.plan, {cell.entry.key: cell.step for cell in progress.running}
    rows: list[dict[str, Value | TableCell]] = []
    for entry in progress.entries:
        cell = plan.cell(entry.number)
        run = plan.run(cell)
        status = run_status(run) if entry.state != "waiting" else None
        step = steps.get(entry.key) or (status.step if status is not None else None)
        at = {"step": step.step, "steps": step.steps, "loss": step.loss} if step else {}
        dev = (status.dev or last_dev(run)) if status is not None else None
        at |= {"dev": dev.score} if dev is not None else {}
        outcome = {
            "state": entry.state,
            **at,
            "seconds": entry.seconds or None,
            "reason": entry.reason,
            "run": cell.id,
        }
        rows.append({"cell": entry.number, **cell.variant.labels, "seed": cell.seed, **outcome})
    keys = (
        "cell",
        *plan.axes,
        "seed",
        "state",
        "step",
        "steps",
        "loss",
        "dev",
        "seconds",
        "reason",
        "run",
    )
    digits = {"loss": 4, "dev": 2, "seconds": 1}
    columns = [
        Column(key=key, title=key, digits=digits.get(key), role=_role(key, plan)) for key in keys
    ]
    return Table(
        title=f"{plan.name}: {plan.summary}",
        columns=columns,
        rows=rows,
        notes=(states_line(progress),),
    )


def grids_table(grids: Sequence[ListedGrid]) -> Table:
    """Return the list of grids."""
    rows: list[dict[str, Any]] = [
        {
            "grid": grid.name,
            "axes": ", ".join(f"{axis} ({count})" for axis, count in grid.axes),
            "started": grid.is_started,
            "summary": grid.summary,
        }
        for grid in grids
    ]
    return Table(title="Grids", columns=_GRIDS, rows=rows)


def cells_table(
    plan: GridPlan,
    entries: Sequence[QueueEntry],
    seconds: Mapping[tuple[str, int], float] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return the cells of a plan that ENTRIES are of, whether each is done already, and the SECONDS
    that it is expected to take.
    """
    expected = seconds or {}
    rows: list[dict[str, Any]] = [
        {
            "cell": cell.number,
            **cell.variant.labels,
            "seed": cell.seed,
            "done": entry.state == "done",
            **_expected(expected.get(entry.key)),
            "run": cell.id,
        }
        for cell, entry in ((plan.cell(entry.number), entry) for entry in entries)
    ]
    keys = ("cell", *plan.axes, "seed", "done", *(["seconds"] if expected else []), "run")
    titles = {"seconds": "expected"}
    columns = [Column(key=key, title=titles.get(key, key), role=_role(key, plan)) for key in keys]
    return Table(title=f"{plan.name}: {plan.summary}", columns=columns, rows=rows, notes=notes)


def _expected(seconds: float | None) -> dict[str, TableCell]:
    text = None if seconds is None else TableCell(value=seconds, text=duration(seconds))
    return {} if text is None else {"seconds": text}


def summary_table(plan: GridPlan, entries: Sequence[QueueEntry]) -> Table:
    """Return the outcome of a grid: a line for each cell that is not done, and the count of the
    others.
    """
    rows: list[dict[str, Any]] = []
    for entry in entries:
        if entry.state != "done":
            cell = plan.cell(entry.number)
            rows.append(
                {
                    "cell": entry.number,
                    **cell.variant.labels,
                    "seed": cell.seed,
                    "state": entry.state,
                    "reason": entry.reason,
                }
            )
    keys = ("cell", *plan.axes, "seed", "state", "reason") if rows else ()
    done = (
        f"{len(entries) - len(rows)} of {len(entries)} cells are done; `embedlab grid table "
        f"{plan.name}` shows their scores"
    )
    return Table(
        title=plan.name,
        columns=[Column(key=key, title=key, role=_role(key, plan)) for key in keys],
        rows=rows,
        notes=(done,),
    )


def _role(key: str, plan: GridPlan) -> Role | None:
    """Return the role of a column of cells: its number and labels name it, the run and the times
    are minor.
    """
    if key in {"cell", "seed", *plan.axes}:
        return "key"
    return "minor" if key in {"run", "seconds"} else "text" if key == "reason" else None
