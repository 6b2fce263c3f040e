"""The board of a grid at work."""

import io
import time

from rich.console import Console

from embedlab.commands.grid_run import render
from embedlab.experiments.cells import CellEntry
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.progress import Cost, GridProgress
from embedlab.runs.events import Curve, Finished
from tests.experiments.conftest import plan_of as plan_of
from tests.experiments.conftest import short_plan as short_plan
from tests.stored_scores import step_of


def lines_of(plan: GridPlan, *, trained_s: float | None) -> list[str]:
    entries = [CellEntry(cell=cell, state="running") for cell in plan.cells]
    step = step_of(8, 9)
    ends = [] if trained_s is None else [Finished(step=9, time=trained_s)]
    running = [(cell, Curve.of([step, *ends])) for cell in plan.cells]
    cost = Cost(cells=len(entries), seconds=None, measured="nothing", disk_bytes=None)
    board = GridProgress(plan=plan, entries=tuple(entries), running=tuple(running), cost=cost)
    console = Console(file=io.StringIO(), width=140, force_terminal=False)
    console.print(render(board))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_row_of_a_cell_moves_while_it_is_scored(short_plan: GridPlan) -> None:
    trained = lines_of(short_plan, trained_s=None)
    header = next(line for line in trained if "loss" in line)
    row = trained[trained.index(header) + 1]
    assert row[header.index("step") :].startswith("8/9")
    scored = lines_of(short_plan, trained_s=time.time() - 65)
    assert any("scoring 1/1 1m" in line for line in scored)
    assert not any("8/9" in line for line in scored)
