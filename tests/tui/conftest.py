"""Generated data of two datasets with three scored models, and a dashboard on it for tests to
drive.
"""

import os

os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor"}

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.pair_table.data import load_pairs
from embedlab.tui.terminal.delay import after
from tests.tui.driving import USUAL, Open, record_notices, until, write_scores

CATALOG = (
    "sts12",
    "sick-r",
)  # the datasets of these tests, in this order: one with sources and one without; new ones change nothing


def fix_catalog(patch: pytest.MonkeyPatch) -> None:
    """Show the pairs of CATALOG only."""
    patch.setattr("embedlab.data.pair_parts.shipped_names", lambda _kind: list(CATALOG))


@pytest.fixture(autouse=True)
def _fixed_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    fix_catalog(monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def _styles_parsed_once() -> Iterator[None]:
    """Parse each style sheet for the first dashboard of a process alone; a tenth of a dashboard's
    start goes into it.
    """
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def parse_once(
        sheet: Stylesheet, css: str, read_from: Any, *more: Any, **options: Any
    ) -> list[RuleSet]:
        key = (css, read_from, more, *options.items(), *sheet._variables.items())
        if key not in parsed:
            parsed[key] = parse(sheet, css, read_from, *more, **options)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


PAINT_EVERY_S = 0.5


@pytest.fixture(scope="session", autouse=True)
def _painted_seldom() -> Iterator[None]:
    """Paint an invisible screen twice a second, and as each test leaves it: painting took half of
    the time of a test.
    """
    paint = Screen._compositor_refresh

    def paint_seldom(screen: "Screen[Any]") -> None:
        app, now = screen.app, time.monotonic()
        if screen is not app.screen or now >= getattr(app, "_next_paint", 0.0):
            app._next_paint = now + PAINT_EVERY_S  # type: ignore[attr-defined]
            paint(screen)
        elif getattr(screen, "_late_paint", None) is None:
            screen._dirty_widgets.clear()  # the compositor knows their regions
            screen._late_paint = after(PAINT_EVERY_S, screen, lambda: paint_now(screen))  # type: ignore[attr-defined]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Screen, "_compositor_refresh", paint_seldom)
        yield


def paint_now(screen: "Screen[Any]") -> None:
    """Paint all that changed since the last time."""
    screen._late_paint = None  # type: ignore[attr-defined]
    screen.app._next_paint = 0.0  # type: ignore[attr-defined]
    screen._compositor_refresh()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Runs near (three seeds) and far, and a model "published" in the cache, all with scores; tests
    must not change it.
    """
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        fix_catalog(patch)
        return scored_world(folder)


def scored_world(folder: Path) -> Settings:
    """Write the scores of the models of the world to FOLDER."""
    settings = Settings(data=TINY_FOLDER, cache=folder / "cache", runs=folder / "runs")
    table = load_pairs(settings).table
    for seed in (1, 2, 3):
        write_scores(
            table,
            settings.runs / "near" / f"seed-{seed}" / "scores.parquet",
            noise=0.1,
            seed=seed,
        )
    write_scores(table, settings.runs / "far" / "seed-1" / "scores.parquet", noise=0.6, seed=4)
    write_scores(
        table,
        settings.cache / "models" / "0123456789abcdef" / "scores.parquet",
        noise=0.3,
        seed=5,
        model="published",
    )
    return settings


@pytest.fixture
def own_world(world: Settings, tmp_path: Path) -> Settings:
    """A copy of the world that a test may change."""
    shutil.copytree(world.runs.parent, tmp_path / "world")
    return replace(world, cache=tmp_path / "world" / "cache", runs=tmp_path / "world" / "runs")


@pytest.fixture
def opened(world: Settings) -> Open:
    """Opens a dashboard and waits until it has its pairs."""

    @asynccontextmanager
    async def open_dashboard(
        settings: Settings = world, *, size: tuple[int, int] = USUAL, **options: Any
    ) -> AsyncIterator[Pilot[None]]:
        app = Dashboard(settings, **options)
        record_notices(app)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.data is not None)
            await pilot.pause()
            settle_keys(pilot, app)
            yield pilot
            paint_now(app.screen)

    return open_dashboard


def settle_keys(pilot: Pilot[None], app: Dashboard) -> None:
    """Let `press` wait until what its keys set off is complete, or opens something that takes
    longer.

    Textual's own looks at the processor time of the process, and takes one that waits for a
    processor to be done.
    """
    press = pilot.press

    def is_delivering() -> bool:
        return (
            app.typed_keys is not None
            and app.typed_keys._delivery is not None
            and not app.is_opening()
        )

    async def press_and_settle(*keys: str) -> None:
        await press(*keys)
        while is_delivering():  # noqa: ASYNC110 - it has no event for this
            await asyncio.sleep(0.005)
        await pilot.pause()

    pilot.press = press_and_settle  # type: ignore[method-assign]


@pytest.fixture
def utc() -> Iterator[None]:
    """Local time is UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
