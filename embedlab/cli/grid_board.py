"""The board of a grid at work: what runs, its curves, what is left."""

import itertools
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from embedlab.cli.terminal import Terminal, Visible
from embedlab.core.durations import duration
from embedlab.core.printable import one_line
from embedlab.reports.grids import states_line
from embedlab.workflows.grid.run import ShowGrid

if TYPE_CHECKING:
    from rich.console import RenderableType

    from embedlab.experiments.progress import CellProgress, GridProgress

BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 24
FAILURES = 5  # the newest that are shown
REFRESHES_PER_S = 4


@contextmanager
def board(name: str, terminal: Terminal) -> Iterator[ShowGrid]:
    """Yield what shows a grid: a live board on a terminal, a plain line now and then elsewhere,
    nothing with `--quiet`.
    """
    if terminal.settings.quiet or not sys.stderr.isatty():
        with terminal.progress(name) as tick:
            yield lambda progress: tick(
                progress.ended, len(progress.entries), states_line(progress)
            )
        return

    from rich.console import Console
    from rich.live import Live

    with Live(
        console=Console(stderr=True), refresh_per_second=REFRESHES_PER_S, transient=True
    ) as live:
        yield lambda progress: live.update(Visible(render(progress)))


def render(progress: "GridProgress") -> "RenderableType":
    """The board: a bar of the whole grid, a line a running cell, the newest failures."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("cell", *progress.plan.axes, "seed", "step", "loss", "", "dev", ""):
        table.add_column(title, no_wrap=True)
    for cell in progress.running:
        table.add_row(*_row(cell, list(progress.plan.axes)))
    failures = [
        Text(
            f"cell {entry.number} failed: {one_line(entry.reason)}",
            style="red",
            overflow="ellipsis",
            no_wrap=True,
        )
        for entry in progress.failed[-FAILURES:]
    ]
    head = Text(f"{progress.plan.name}: {states_line(progress)}", style="bold")
    return Group(
        head,
        # A bar alone does not end its line, on which the header would follow.
        Padding(
            ProgressBar(total=max(1, len(progress.entries)), completed=progress.ended, width=60), 0
        ),
        table,
        *failures,
    )


def sparkline(values: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """A curve in one line: the means of WIDTH parts, from the lowest to the highest bar; values
    that are not numbers are left out.
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return ""
    parts = min(width, len(finite))
    cuts = [len(finite) * index // parts for index in range(parts + 1)]
    means = [sum(finite[start:end]) / (end - start) for start, end in itertools.pairwise(cuts)]
    low, high = min(means), max(means)
    return "".join(
        BARS[int((mean - low) / (high - low) * (len(BARS) - 1)) if high > low else 0]
        for mean in means
    )


def _stage(progress: "CellProgress") -> str:
    """How far a cell is: its step, or the task that is scored and for how long."""
    if progress.trained_s is not None:
        waited = duration(max(0.0, time.time() - progress.trained_s))
        number = min(progress.scored + 1, len(progress.cell.tasks))
        return f"scoring {number}/{len(progress.cell.tasks)} {waited}"
    return f"{progress.step.step}/{progress.step.steps}" if progress.step else "starting"


def _row(progress: "CellProgress", axes: Sequence[str]) -> list[str]:
    from rich.markup import escape

    cell, step = progress.cell, progress.step
    return [
        str(cell.number),
        *(escape(one_line(cell.variant.labels.get(axis, ""))) for axis in axes),
        str(cell.seed),
        _stage(progress),
        f"{step.loss:.4f}" if step else "",
        sparkline(progress.losses),
        f"{progress.dev[-1]:.2f}" if progress.dev else "",
        sparkline(progress.dev),
    ]
