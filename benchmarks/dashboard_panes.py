"""What dashboard.py measures besides the pair table: the panes of Compare and Runs, details with neighbours, and a dashboard at rest."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

Of = Callable[[str, Callable[[], Any], Callable[[], Awaitable[object]]], Awaitable[None]]
REST_S = 20.0
SEARCHED = 100  # pairs whose neighbours are found


async def panes(app: "Dashboard", of: Of, settle: Callable[[], Awaitable[object]]) -> None:
    """Time keys on Compare, once its comparison is complete, and on Runs."""
    from embedlab.tui.compare.screen import CompareScreen
    from embedlab.tui.widgets.frame_table import FrameTable

    app.action_mode("compare")
    await settle()
    screen = app.screen
    assert isinstance(screen, CompareScreen)
    while screen.result is None or screen.is_preview:  # noqa: ASYNC110 - the dashboard has no event for this
        await asyncio.sleep(0.05)
    table = screen.query_one(FrameTable)
    for down in (1, -1) * 15:
        await of("slice of Compare", partial(table.action_move_rows, down), settle)
    for _ in range(24):
        await of("pane of Compare", screen.action_plot, settle)
    app.action_mode("runs")
    await settle()
    await asyncio.sleep(3.0)
    for down in (1, -1) * 10:
        await of("run with its curves", partial(app.screen.query_one(FrameTable).action_move_rows, down), settle)


async def at_rest(app: "Dashboard") -> dict[str, float]:
    """Processor time as a share of a processor, by screen, while no key is pressed and nothing changes."""
    found: dict[str, float] = {}
    for mode in ("pairs", "compare", "runs", "plots"):
        app.action_mode(mode)
        await asyncio.sleep(3.0)
        started, used = time.perf_counter(), time.process_time()
        await asyncio.sleep(REST_S)
        found[mode] = (time.process_time() - used) / (time.perf_counter() - started)
    return found


def neighbours(app: "Dashboard") -> dict[str, list[float]]:
    """Milliseconds until the neighbours of both sentences of a pair are found, by model, the first search of each model left out."""
    import numpy as np

    from embedlab.tui.pairs.facts import FactFinder

    assert app.data is not None
    finder = FactFinder(app.data, app.stored, app.settings)
    rows = np.random.default_rng(0).integers(0, app.data.table.height, SEARCHED + 1).tolist()
    found: dict[str, list[float]] = {}
    for number, row in enumerate(rows):
        steps = finder.find(row)
        for _ in range(2):  # tags and appearances, then training text
            next(steps)
        with suppress(StopIteration):
            while True:
                started = time.perf_counter()
                facts = next(steps)
                name, own = list(facts.neighbours.items())[-1]
                if number and not own.trouble:
                    found.setdefault(name, []).append(1000 * (time.perf_counter() - started))
    return found
