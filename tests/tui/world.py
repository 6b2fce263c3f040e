"""Items, models and runs for the tests of the dashboard, made in memory or as a run's files."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import numpy as np
import polars as pl
import pytest
from textual import events
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from embedlab.analysis.evidence import ModelColumns
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import expand_grid
from embedlab.outcomes.frame import ROWS, Block, Outcomes
from embedlab.runs.events import Dev, Event, Finished, Started, Step
from embedlab.runs.store import RunFolder
from embedlab.tui.app import Dashboard
from embedlab.tui.runs.launch_sheet import LaunchSheet
from embedlab.tui.runs.room import RunsRoom
from embedlab.tui.workbench import ShownItems
from tests.stored_scores import begin_run, evaluation, score
from tests.stored_scores import step_of as plain_step

Open = Callable[..., AbstractAsyncContextManager[tuple[Dashboard, Pilot[None]]]]

_NAMES = {"/": "slash", " ": "space", ">": "greater_than_sign", "\r": "enter"}
NOUNS = ("cat", "dog", "horse", "train", "bird", "child", "boat", "tree")


def outcomes_of(models: Sequence[str], pairs: int = 120, lacking: Sequence[str] = ()) -> Outcomes:
    """Two datasets of PAIRS pairs in all; each model follows gold with more noise than the one
    before, and LACKING ones scored only the first dataset.
    """
    rng = np.random.default_rng(0)
    items = range(pairs)
    firsts = [f"a {NOUNS[n % 8]} stands number {n}" for n in items]
    seconds = [f"the {NOUNS[n * 3 % 8]} sits number {n}" for n in items]
    gold = rng.uniform(0, 5, pairs).round(1)
    block = np.repeat([0, 1], pairs // 2)
    predictions = {}
    for place, name in enumerate(models):
        values = gold / 5 + rng.normal(scale=0.05 + 0.15 * place, size=pairs)
        predictions[name] = np.where((block == 1) & (name in lacking), np.nan, values)
    sentences = pl.DataFrame({"sentence1": firsts, "sentence2": seconds})
    rows = {
        "block": block,
        "item": items,
        "gold": gold,
        "first_text": sentences["sentence1"].hash(),
        "second_text": sentences["sentence2"].hash(),
        "source": ["headlines"] * pairs,
    }
    blocks = tuple(
        Block(task="sts", suite="sts", dataset=name, measures=("spearman",))
        for name in ("sts12", "sick-r")
    )
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame(predictions).fill_nan(None),
        blocks=blocks,
        sentences=sentences,
    )


def shown_of(models: Sequence[str], pairs: int = 120, lacking: Sequence[str] = ()) -> ShownItems:
    """What the dashboard shows of MODELS on these items."""
    outcomes = outcomes_of(models, pairs, lacking)
    return ShownItems(
        models=tuple(models),
        columns=tuple(ModelColumns(name=name, members=(name,)) for name in models),
        outcomes=outcomes,
        similarities={name: outcomes.predictions[name] for name in models},
    )


def at_once(pilot: Pilot[None], text: str) -> None:
    """Send the keys of TEXT before any of them is handled, as one packet does."""
    for letter in text:
        pilot.app.post_message(events.Key(_NAMES.get(letter, letter), letter))


def screen_text(app: App[None]) -> str:
    """What the screen shows, without styles, as Textual renders it for a screenshot."""
    visible_screen_stack.set(app._background_screens)
    strips = app.screen._compositor.render_strips()
    lines = (strip.text.replace("\xa0", " ").rstrip() for strip in strips)
    return "".join(f"{line}\n" for line in lines)


async def until(pilot: Pilot[None], holds: Callable[[], object], patience_s: float = 30.0) -> None:
    """Wait until HOLDS, or fail."""
    ending = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > ending:
            pytest.fail(f"it did not happen in time; the screen:\n{screen_text(pilot.app)}")
        await asyncio.sleep(0.02)


async def shows(pilot: Pilot[None], *texts: str) -> None:
    """Wait until the screen shows all TEXTS."""
    await until(pilot, lambda: all(text in screen_text(pilot.app) for text in texts))


async def rooms_alone(pilot: Pilot[None]) -> None:
    """Wait until nothing is over the rooms."""
    app = pilot.app
    await until(pilot, lambda: app.screen is app.main)


async def lists(pilot: Pilot[None], rows: int) -> None:
    """Wait until the Runs room lists so many ROWS."""
    room = pilot.app.query_one(RunsRoom)
    await until(pilot, lambda: len(room.runs.entries) == rows)


async def answer(pilot: Pilot[None], text: str) -> None:
    """Answer the question that opens with TEXT."""
    app = pilot.app
    await until(pilot, lambda: isinstance(app.focused, Input) and len(app.screen_stack) > 1)
    app.focused.value = text
    await pilot.press("enter")


async def launch_sheet(pilot: Pilot[None]) -> LaunchSheet:
    """Wait for the form of a launch, with all that can be launched."""

    def is_filled() -> bool:
        return isinstance(pilot.app.screen, LaunchSheet) and bool(pilot.app.screen._choices)

    await until(pilot, is_filled)
    return pilot.app.screen


def make_run(
    settings: Settings,
    name: str,
    seed: int,
    *ending: Event,
    losses: Sequence[float] = (1.0, 0.5, 0.25),
    dev: float | None = 71.5,
) -> RunFolder:
    """A run that reported these LOSSES and a DEV score, then its ENDING."""
    steps = 10 * len(losses)
    begun = Started(pid=1, host=socket.gethostname(), steps=steps)
    taken = [step_of(10 * number, steps, loss) for number, loss in enumerate(losses, start=1)]
    scores = [Dev(step=steps, score=dev)] if dev is not None else []
    run = RunFolder.of(settings.runs, name, seed)
    return begin_run(run, load_recipe("snli-ce"), begun, *taken, *scores, *ending)


def step_of(step: int, steps: int, loss: float) -> Step:
    """What a run on a busy machine reports of a step."""
    load = {"rows_per_s": 800.0, "eta_s": 9.0, "memory_mib": 700.0, "cpu_percent": 99.0}
    return plain_step(step, steps, loss=loss, **load)


GRID = """
summary = "A test."
base = "snli-ce"
seeds = [1, 2]
tasks = ["sts"]
[set]
encoder = "nobody/nothing"
[axes]
"optim.lr" = [1e-5, 2e-5]
"encoder.pooling" = ["cls", "mean"]
"""


def make_grid(settings: Settings, devs: Sequence[int] = (50, 60, 70, 80)) -> GridPlan:
    """A grid of four places with two seeds, all finished and scored; dev, which rises by one from
    DEVS with the seed, chooses the last place, which scores lowest on sts12.
    """
    file = settings.runs.parent / "mine.toml"
    file.write_text(GRID)
    place = Settings(runs=settings.runs, cache=settings.cache, data=TINY_FOLDER)
    plan = expand_grid(load_grid(str(file)), place)
    plan.save()
    for number, variant in enumerate(plan.variants):
        for seed in plan.seeds:
            dev, test = devs[number] + seed, 90 - 10 * number + seed
            run = make_run(settings, variant.run, seed, Finished(step=30), dev=dev)
            evaluation("sts", score("sts12", test / 100), model=run.id).save(run.evaluations)
    return plan
