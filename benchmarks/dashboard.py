"""How fast the dashboard is on stored scores, beside an empty Textual app in the same run.

    python benchmarks/dashboard.py --data DIR MODEL ... [--task sts] [--runs DIR] [--cache DIR]

MODELs that were not scored on the task are scored first. The first paint is taken in a process of
its own each time, in a terminal of 140 x 45 cells in memory, until the items are drawn. A key's
time lasts until everything that it sets off is done. At rest: the processor time of ten seconds.
A limit is for the 95th percentile on a machine that does nothing else; twice it is a fault.
"""

import argparse
import asyncio
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

SIZE = (140, 45)
STARTS, KEYS, REST_S = 5, 40, 10.0
FIRST_PAINT = "--first-paint"
LIMITS = {
    "first paint, dashboard": "0.7 s after the empty app",
    "cursor down": "16 ms",
    "sort": "50 ms",
    "filter": "50 ms",
    "another room": "50 ms",
    "at rest, ms of processor a second": "5 ms",
}


def dashboard(given: argparse.Namespace) -> "Dashboard":
    """The dashboard over what was GIVEN."""
    from embedlab.__main__ import YOUNG_OBJECTS
    from embedlab.core.paths import data_folder
    from embedlab.core.settings import Settings
    from embedlab.tui.app import Dashboard

    gc.set_threshold(*YOUNG_OBJECTS)  # as the program does
    app = Dashboard(
        Settings(data=data_folder(Path(given.data)), runs=given.runs, cache=given.cache)
    )
    app.begin_with(given.models, given.task)
    return app


async def first_paint(given: argparse.Namespace) -> None:
    """Print the seconds until the items are drawn."""
    started = time.perf_counter()
    app = dashboard(given)
    async with app.run_test(size=SIZE) as pilot:
        while app.view is None:  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0.005)
        await pilot.pause(0)
        print(f"{time.perf_counter() - started:.3f}")


async def empty_paint() -> None:
    """Print the seconds of an app without anything."""
    from textual.app import App

    started = time.perf_counter()
    async with App[None]().run_test(size=SIZE) as pilot:
        await pilot.pause()
        print(f"{time.perf_counter() - started:.3f}")


async def keys(given: argparse.Namespace) -> list[tuple[str, float, float]]:
    """The median and the 95th percentile in ms of each thing one does, then the load at rest."""
    app = dashboard(given)
    rows: list[tuple[str, float, float]] = []
    async with app.run_test(size=SIZE) as pilot:
        while app.view is None or app.comparison is None:
            await pilot.pause(0.01)
        await pilot.pause(1)

        async def timed(
            what: str, done: Callable[[], bool], press: Callable[[int], Awaitable[None]]
        ) -> None:
            times = []
            for number in range(KEYS):
                started = time.perf_counter()
                await press(number)
                while not done():  # noqa: ASYNC110 - a message ends it
                    await asyncio.sleep(0.001)
                await pilot.pause(0)
                times.append(1000 * (time.perf_counter() - started))
            p95 = statistics.quantiles(times, n=20)[-1]
            rows.append((what, statistics.median(times), p95))

        async def press(*names: str) -> None:
            """Send keys, and paint what they change; `Pilot.press` waits 40 ms more for each."""
            for name in names:
                app.simulate_key(name)
                await pilot.pause(0)

        await timed("cursor down", lambda: True, lambda _: press("j"))
        view: object = app.view

        def is_new() -> bool:
            return app.view is not view

        async def sort(_: int) -> None:
            nonlocal view
            view = app.view
            await press("s")

        async def filtered(number: int) -> None:
            nonlocal view
            view = app.view
            app.show_items(("gold>3", "dice<0.3")[number % 2])

        await timed("sort", is_new, sort)
        await timed("filter", is_new, filtered)
        await timed("another room", lambda: True, lambda number: press(str(1 + number % 3)))
        await pilot.pause(1)
        used = time.process_time()
        await asyncio.sleep(REST_S)
        rows.append(("at rest, ms of processor a second", 100 * (time.process_time() - used), 0.0))
    return rows


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--data", default="starter")
    parser.add_argument("--task", default="starter")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument(FIRST_PAINT, choices=["dashboard", "empty"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.first_paint == "empty":
        asyncio.run(empty_paint())
        return
    if given.first_paint == "dashboard":
        asyncio.run(first_paint(given))
        return
    os.environ["XDG_STATE_HOME"] = mkdtemp()  # no filter or room of a user's own
    environment = {**os.environ, "EMBEDLAB_CACHE": str(given.cache)}
    for model in (*given.models, "dice"):
        words = ["evaluate", model, "--task", given.task, "--data", given.data, "--quiet"]
        command = [sys.executable, "-m", "embedlab", *words, "--runs", str(given.runs)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    print("| what | median | 95% | limit |\n|---|---:|---:|---|")
    for what in ("empty", "dashboard"):
        command = [sys.executable, *sys.argv, FIRST_PAINT, what]
        times = [
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(STARTS)
        ]
        what = f"first paint, {what}"
        median, high = statistics.median(times), max(times)
        print(f"| {what} | {median:.2f} s | {high:.2f} s | {LIMITS.get(what, '')} |")
    for what, median, high in asyncio.run(keys(given)):
        print(f"| {what} | {median:.1f} ms | {high:.1f} ms | {LIMITS[what]} |")


if __name__ == "__main__":
    main()
