"""A dashboard that is driven by keys."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from tests.tui.world import Open, shown_of, until

Made = Callable[..., Dashboard]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Runs and a cache of this test."""
    return Settings(runs=tmp_path / "runs", cache=tmp_path / "cache")


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that a dashboard would score."""
    names: list[str] = []
    monkeypatch.setattr(Dashboard, "score", lambda app, models: names.extend(models))
    return names


@pytest.fixture
def made(settings: Settings, monkeypatch: pytest.MonkeyPatch, scored: list[str]) -> Made:
    """Makes a dashboard over made items, of which the models "part" and "slow" lack some."""
    monkeypatch.setattr(
        "embedlab.tui.app.open_shown_items",
        lambda models, task, settings: shown_of(models, lacking=["part", "slow"]),
    )
    monkeypatch.setattr("embedlab.tui.app.selectable_models", lambda settings: ())

    def make(
        models: Sequence[str] = ("near", "far"), *, data: Path = TINY_FOLDER, is_first: bool = False
    ) -> Dashboard:
        app = Dashboard(replace(settings, data=data))
        app.models, app._is_first = () if is_first else tuple(models), is_first
        return app

    return make


@pytest.fixture
def opened(made: Made) -> Open:
    """A dashboard that shows its items."""

    @asynccontextmanager
    async def open_dashboard(
        size: tuple[int, int] = (140, 45), models: Sequence[str] = ("near", "far")
    ) -> AsyncIterator[tuple[Dashboard, Pilot[None]]]:
        app = made(models)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.view is not None)
            await pilot.pause()
            yield app, pilot

    return open_dashboard
