"""The tables of `embedlab grid` beside that of the scores: what grids there are, their cells, and how they ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embedlab.cli.grid_board import summary
from embedlab.core.errors import MissingError
from embedlab.core.schema import read_toml
from embedlab.grids.grid_file import grid_names, grid_path
from embedlab.grids.plan import GridFolder, GridPlan
from embedlab.grids.progress import GridProgress
from embedlab.grids.queue import QueueEntry
from embedlab.reports.tables import Column, Table, TableCell, Value
from embedlab.runs.status import run_status
from embedlab.runs.store import GRIDS


def status_table(progress: GridProgress) -> Table:
    """Every cell, in the order of the plan."""
    plan, steps = progress.plan, {cell.entry.key: cell.step for cell in progress.running}
    rows: list[dict[str, Value | TableCell]] = []
    for entry in progress.entries:
        cell = plan.cell(entry.number)
        step = steps.get(entry.key) or (run_status(plan.run(cell)).step if entry.state != "waiting" else None)
        at = {"step": step.step, "steps": step.steps, "loss": step.loss} if step else {}
        outcome = {"state": entry.state, **at, "seconds": entry.seconds or None, "reason": entry.reason, "run": cell.id}
        rows.append({"cell": entry.number, **cell.variant.labels, "seed": cell.seed, **outcome})
    keys = ("cell", *plan.axes, "seed", "state", "step", "steps", "loss", "seconds", "reason", "run")
    digits = {"loss": 4, "seconds": 1}
    columns = [Column(key=key, title=key, digits=digits.get(key)) for key in keys]
    return Table(title=f"{plan.name}: {plan.summary}", columns=columns, rows=rows, notes=(summary(progress),))


def grids_table(runs: Path) -> Table:
    """The shipped grids, and those that were started here."""
    started = sorted(path.parent.name for path in (runs / GRIDS).glob("*/plan.json"))
    rows: list[dict[str, Any]] = []
    for name in sorted({*grid_names(), *started}):
        axes, outcome = _axes_and_summary(name, GridFolder.of(runs, name))
        listed = ", ".join(f"{axis} ({count})" for axis, count in axes.items())
        rows.append({"grid": name, "axes": listed, "started": name in started, "summary": outcome})
    return Table(title="Grids", columns=[Column(key=key, title=key) for key in ("grid", "axes", "started", "summary")], rows=rows)


def _axes_and_summary(name: str, folder: GridFolder) -> tuple[dict[str, int], str]:
    """How many values each axis has and what the grid is about, as its file says, or the plan of one whose file is the user's own.

    A plan that cannot be read costs its own line, not the list.
    """
    if name in grid_names():
        values = read_toml(grid_path(name))
        return {axis: len(choices) for axis, choices in values.get("axes", {}).items()}, values.get("summary", "")
    try:
        plan = GridPlan.load(folder.plan_file)
    except MissingError as error:
        return {}, error.message
    return {axis: len(labels) for axis, labels in plan.axes.items()}, plan.summary


def cells_table(plan: GridPlan, entries: Sequence[QueueEntry]) -> Table:
    """Every cell of a plan, and whether it is done already, as ENTRIES say."""
    rows: list[dict[str, Any]] = [
        {"cell": cell.number, **cell.variant.labels, "seed": cell.seed, "done": entry.state == "done", "run": cell.id}
        for cell, entry in zip(plan.cells, entries, strict=True)
    ]
    keys = ("cell", *plan.axes, "seed", "done", "run")
    return Table(title=f"{plan.name}: {plan.summary}", columns=[Column(key=key, title=key) for key in keys], rows=rows)


def summary_table(plan: GridPlan, entries: Sequence[QueueEntry]) -> Table:
    """What came of the grid: a line for each cell that is not done, and the count of the others."""
    rows: list[dict[str, Any]] = []
    for entry in entries:
        if entry.state != "done":
            cell = plan.cell(entry.number)
            rows.append({"cell": entry.number, **cell.variant.labels, "seed": cell.seed, "state": entry.state, "reason": entry.reason})
    keys = ("cell", *plan.axes, "seed", "state", "reason") if rows else ()
    done = f"{len(entries) - len(rows)} of {len(entries)} cells are done; `embedlab grid table {plan.name}` shows their scores"
    return Table(title=plan.name, columns=[Column(key=key, title=key) for key in keys], rows=rows, notes=(done,))
