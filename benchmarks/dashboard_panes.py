"""What dashboard.py measures besides the pair table: panes of all screens, explanations, items, and
a dashboard at rest.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
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
    while screen.model.result is None or screen.model.is_preview:  # noqa: ASYNC110 - the dashboard has no event for this
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
        await of(
            "run with its curves",
            partial(app.screen.query_one(FrameTable).action_move_rows, down),
            settle,
        )


async def explanations(
    app: "Dashboard", of: Of, settle: Callable[[], Awaitable[object]]
) -> dict[str, float]:
    """Time keys on Why, also while it explains, in What if and on word effects; return the seconds
    until the first of each is there.
    """
    from embedlab.tui.pairs.pair_detail import PairDetail
    from embedlab.tui.pairs.screen import PairsScreen
    from embedlab.tui.pairs.what_if_screen import WhatIfScreen
    from embedlab.tui.why.screen import WhyScreen

    arrived, started = {}, time.perf_counter()
    app.action_mode("why")
    await settle()
    why = app.screen
    assert isinstance(why, WhyScreen)
    while why.model.reasons is None:
        await of("key on Why while it explains", partial(why.action_pane, 1), settle)
        await asyncio.sleep(0.1)
    arrived["Why of two models on all pairs"] = time.perf_counter() - started
    for _ in range(24):
        await of("pane of Why", partial(why.action_pane, 1), settle)
    app.action_mode("pairs")
    await settle()
    pairs = app.screen
    assert isinstance(pairs, PairsScreen)
    detail, started = pairs.query_one(PairDetail), time.perf_counter()
    pairs.action_words()
    while detail.pair is None or detail.pair.words is None or not detail.pair.words.is_complete:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    arrived["word effects of the first pair, with the start of their process"] = (
        time.perf_counter() - started
    )
    for _ in range(24):
        await of("view of word effects", pairs.action_words, settle)
    pairs.action_score_pair()
    await settle()
    dialog = app.screen
    assert isinstance(dialog, WhatIfScreen)
    text = dialog.inputs[0].value
    for letter in "a word more " * 3:
        text += letter
        await of("letter in What if", partial(setattr, dialog.inputs[0], "value", text), settle)
    started = time.perf_counter()
    while not dialog.is_scored:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    arrived["ranks in What if after the last letter"] = time.perf_counter() - started
    await dialog.dismiss()
    await settle()
    return arrived


async def selections(app: "Dashboard") -> dict[str, list[float]]:
    """Milliseconds until a selection has its scores, and until it has their intervals, of filters
    that leave many and few pairs.
    """
    from embedlab.tui.pair_table.numbers import count_selection, score_selection
    from embedlab.tui.pair_table.view import PairSelection

    shown = app.selected.view
    assert shown is not None
    view = replace(shown, _orders={})  # not the one that the screens show: they would score it too
    reference, found = (
        app.reference([model.name for model in view.data.models]),
        dict[str, list[float]](),
    )
    for expression in ("gold>1", "dice<0.5", "words>9", "negation:one", "gold>4 dice<0.8") * 4:
        view.select(PairSelection(expression=expression))
        for what, is_tested in (
            ("scores of a selection", False),
            ("the same with intervals", True),
        ):
            started = time.perf_counter()
            await asyncio.to_thread(
                score_selection, view, count_selection(view), reference, is_tested=is_tested
            )
            found.setdefault(what, []).append(1000 * (time.perf_counter() - started))
    return {what: times[1:] for what, times in found.items()}  # the first one imports what it needs


async def items(
    app: "Dashboard", of: Of, settle: Callable[[], Awaitable[object]]
) -> tuple[str, int, float] | None:
    """Time keys over the items of the task that most models have stored; return its name, their
    number and the seconds until they show.
    """
    from embedlab.tui.pair_table.items import item_models
    from embedlab.tui.widgets.filter_bar import FilterBar
    from embedlab.tui.widgets.frame_table import FrameTable

    known = item_models(app.settings)
    if not known:
        return None
    task, started = max(known, key=lambda name: len(known[name])), time.perf_counter()
    app.choose_task(task)
    while app.data is None or app.data.task != task:  # noqa: ASYNC110 - the dashboard has no event for this
        await asyncio.sleep(0.01)
    await settle()
    arrived = time.perf_counter() - started
    bar, table = app.screen.query_one(FilterBar), app.screen.query_one(FrameTable)
    for text in ["a film"[:length] for length in range(1, 7)] * 4:
        await of("filter key over items", partial(setattr, bar, "value", text), settle)
    bar.value = ""
    await settle()
    for _ in range(24):
        await of("page of items", partial(table.action_move_pages, 1), settle)
    return task, app.data.table.height, arrived


async def at_rest(app: "Dashboard") -> dict[str, float]:
    """Processor time as a share of a processor, by screen, while no key is pressed and nothing
    changes.
    """
    found: dict[str, float] = {}
    for mode in ("pairs", "compare", "runs", "plots"):
        app.action_mode(mode)
        await asyncio.sleep(3.0)
        started, used = time.perf_counter(), time.process_time()
        await asyncio.sleep(REST_S)
        found[mode] = (time.process_time() - used) / (time.perf_counter() - started)
    return found


def neighbours(app: "Dashboard") -> dict[str, list[float]]:
    """Milliseconds until the neighbours of both sentences of a pair are found, by model, the first
    search of each model left out.
    """
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
