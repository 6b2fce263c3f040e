"""How the tests of the dashboard drive it."""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pytest
from textual import _time as textual_time
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from benchmarks.pair_frames import store_similarities
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.runs.environment import collect_environment
from embedlab.runs.events import Dev, Event, EventLog, Started, Step
from embedlab.runs.store import RunFolder

WIDE, USUAL, NARROW = (140, 45), (100, 30), (80, 24)  # fewer cells are faster to draw
Open = Callable[..., AbstractAsyncContextManager[Pilot[None]]]
Kind = TypeVar("Kind", bound=Screen)  # type: ignore[type-arg]


def write_scores(
    table: pl.DataFrame, path: Path, *, noise: float, seed: int = 0, model: str = "m"
) -> None:
    """Scores that follow the gold score with NOISE."""
    rng = np.random.default_rng(seed)
    similarity = np.clip(
        table["gold"].to_numpy() / 5 + rng.normal(scale=noise, size=table.height), -1, 1
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    store_similarities(table, path.parent / "evaluations", model, pl.Series(similarity))


async def until(
    pilot: Pilot[None], holds: Callable[[], object], *, patience_s: float = 30.0
) -> None:
    """Wait until HOLDS, or fail."""
    for _ in range(int(patience_s / 0.02)):
        if holds():
            return
        await pilot.pause(0.02)
    pytest.fail("it did not happen in time")


def hold_timers_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass between any two looks at the clock of a timer that runs once, as on a
    machine that is busy elsewhere.
    """
    clock, held_up_s = textual_time.get_time, count()

    def held_up() -> float:
        task = asyncio.current_task()
        is_once = task is not None and task.get_name().startswith("set_timer#")
        return clock() + (next(held_up_s) if is_once else 0)

    monkeypatch.setattr(textual_time, "get_time", held_up)


async def on_top(pilot: Pilot[None], kind: type[Kind]) -> Kind:
    """The screen or dialog of this KIND, once it is in front of the others and can be used."""

    def is_on_top() -> bool:
        return isinstance(pilot.app.screen, kind) and pilot.app.screen.is_mounted

    await until(pilot, is_on_top)
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, kind)
    return screen


def has_compared(app: App[None]) -> bool:
    """Whether the screen in front compares nothing, or has a result."""
    return getattr(getattr(app.screen, "model", None), "result", app) is not None


async def noticed(pilot: Pilot[None], text: str) -> None:
    """Wait for a notification that says TEXT."""
    await until(pilot, lambda: any(text in notice for notice in notices(pilot.app)))


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type TEXT key by key."""
    names = {
        " ": "space",
        ">": "greater_than_sign",
        "<": "less_than_sign",
        ".": "full_stop",
        ":": "colon",
        "-": "minus",
        "/": "slash",
        "=": "equals_sign",
        "@": "at",
        "_": "underscore",
    }
    await pilot.press(*(names.get(letter, letter) for letter in text))


_TYPED = {"/": "slash", "\t": "tab", "\r": "enter", " ": "space", ".": "full_stop", "-": "minus"}


def send_at_once(pilot: Pilot[None], text: str) -> None:
    """Send the keys of TEXT before the app can handle any of them."""
    driver = pilot.app._driver
    assert driver is not None
    for letter in text:
        driver.send_message(
            events.Key(_TYPED.get(letter, letter), None if letter in "\t\r" else letter)
        )


def notices(app: App[None]) -> list[str]:
    """What the notifications say, also those that are shown no more: on a busy machine a test may
    look late.
    """
    return getattr(app, "every_notice", None) or [notice.message for notice in app._notifications]


def record_notices(app: App[None]) -> None:
    """Remember each notification of APP for `notices`."""
    app.every_notice, notify = [], app.notify  # type: ignore[attr-defined]

    def record(message: str, **options: Any) -> None:
        app.every_notice.append(message)  # type: ignore[attr-defined]
        notify(message, **options)

    app.notify = record  # type: ignore[method-assign, assignment]


def make_run(
    settings: Settings,
    name: str,
    seed: int,
    *ending: Event,
    lr: float = 2e-5,
    steps: int = 20,
    now: float | None = None,
) -> RunFolder:
    """A run that reported its steps, then its ENDING."""
    run = RunFolder.of(settings.runs, name, seed)
    facts = collect_environment(seed=seed, device="cpu", precision="float32", threads=1, data=[])
    run.write_once(load_recipe("snli-ce", [f"optim.lr={lr}"]), facts)
    start = (time.time() if now is None else now) - 100
    with EventLog(run.events_file) as log:
        log.append(Started(pid=1, host=socket.gethostname(), steps=steps, time=start))
        for step in range(1, steps + 1):
            facts_of_step = {
                "epoch": step / steps,
                "loss": 1 / step,
                "lr": lr,
                "rows_per_s": 800.0,
                "eta_s": 9.0,
                "memory_mib": 700.0,
            }
            log.append(Step(stage=0, step=step, steps=steps, time=start + step, **facts_of_step))
        log.append(Dev(step=steps, score=71.5, time=start + steps))
        for event in ending:
            log.append(event)
    return run
