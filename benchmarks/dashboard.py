"""How fast the dashboard is, beside an empty Textual app in the same run.

    python benchmarks/dashboard.py --data DIR MODEL MODEL MODEL MODEL MODEL [--runs DIR] [--cache
    DIR] [--rows 1000000]

The pairs are those of the seven STS sets and of STS Benchmark's train and dev splits found in DIR,
with the scores of the MODELs, which `embedlab evaluate` makes first where --runs and --cache hold
none: real sentences, real scores. The million pairs are copies of them, each with a number at its
end, under scores that follow the gold score with noise. Each first paint is a process of its own,
in a terminal of 140 x 45 cells that exists only in memory. A key's time lasts until everything it
sets off is done and the screen drawn; Textual draws frames as soon as there is something to draw
(TEXTUAL_FPS), so that the wait for the next of 60 frames a second, which no program can shorten, is
not in it. The event loop's lag is taken on the Runs screen while four cells of a grid train.
"""

import argparse
import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard_panes import at_rest, explanations, items, neighbours, panes, selections

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

SIZE = (140, 45)
LAG_S = 15.0
CELLS = 4
GRID = """
summary = "Something to keep the machine busy"
base = "snli-ce"
seeds = [1, 2, 3, 4]
tasks = []
"""
RESULTS = Path(__file__).parent / "results" / "dashboard.md"


@dataclass
class Measured:
    """Times in ms by what was done."""

    times: dict[str, list[float]] = field(default_factory=dict)
    used: dict[str, list[float]] = field(
        default_factory=dict
    )  # processor time of the event loop alone, whatever else is at work

    async def of(
        self, what: str, work: Callable[[], Any], settle: Callable[[], Awaitable[object]]
    ) -> None:
        """Time WORK and everything it sets off until the screen is drawn."""
        started, used = time.perf_counter(), time.thread_time()
        work()
        await settle()
        self.times.setdefault(what, []).append(1000 * (time.perf_counter() - started))
        self.used.setdefault(what, []).append(1000 * (time.thread_time() - used))


@dataclass(frozen=True, kw_only=True)
class Place:
    """What a dashboard is opened over."""

    data: str
    runs: str
    cache: str
    models: list[str]

    def dashboard(self) -> "Dashboard":
        """It, with these models chosen."""
        from embedlab.core.settings import Settings
        from embedlab.tui.app import Dashboard

        app = Dashboard(
            Settings(
                data=Path(self.data),
                cache=Path(self.cache),
                runs=Path(self.runs),
                allow_partial=True,
            )
        )
        app.memory.state = replace(
            app.memory.state, pairs=replace(app.memory.state.pairs, models=tuple(self.models))
        )
        return app


def score(place: Place) -> None:
    """Let each model score the pairs, unless its scores are stored already."""
    shared = ["--data", place.data, "--runs", place.runs, "--allow-partial", "--quiet"]
    for model in place.models:
        words = [sys.executable, "-m", "embedlab", "evaluate", model, *shared]
        subprocess.run(
            words,
            env={**os.environ, "EMBEDLAB_CACHE": place.cache},
            check=True,
            stdout=subprocess.DEVNULL,
        )


def synthetic(folder: Path, real: Place, rows: int) -> Place:
    """A pair table of so many rows and five score files, in FOLDER."""
    import numpy as np
    import polars as pl

    from embedlab.analysis.scores import ScoreFile
    from embedlab.core.settings import Settings
    from embedlab.tui.pair_table.data import PairData
    from embedlab.tui.pair_table.saved_tables import cache_file, open_pairs, store

    settings = Settings(
        data=Path(real.data), cache=folder / "cache", runs=folder / "runs", allow_partial=True
    )
    bare = open_pairs(settings)
    table = pl.concat([bare.table] * -(-rows // bare.table.height)).head(rows)
    table = table.with_columns(
        sentence1=pl.col("sentence1") + pl.int_range(pl.len()).cast(pl.String),
        pair=pl.int_range(pl.len(), dtype=pl.UInt32),
        pair_key=pl.int_range(pl.len(), dtype=pl.UInt64),
    )
    store(PairData(table=table, gold_ranges=bare.gold_ranges), cache_file(settings), settings)
    rng, names = np.random.default_rng(0), [f"model-{number}" for number in range(5)]
    for number, name in enumerate(names):
        noise = rng.normal(scale=0.1 + 0.1 * number, size=table.height)
        similarity = np.clip(table["gold"].to_numpy() / 5 + noise, -1, 1)
        scores = pl.DataFrame(
            {"pair_key": table["pair_key"], "similarity": pl.Series(similarity, dtype=pl.Float32)}
        ).unique("pair_key")
        path = settings.runs / name / "seed-1" / "scores.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        ScoreFile(scores=scores, facts={"fingerprint": str(number), "model": name}).write(path)
    return Place(data=real.data, runs=str(settings.runs), cache=str(settings.cache), models=names)


def measure_empty() -> None:
    """One process: seconds from its start to the first paint of an empty app."""
    from textual.app import App

    async def run() -> None:
        async with App[None]().run_test(size=SIZE) as pilot:
            await pilot.pause()
            print(json.dumps({"paint_s": time.time() - float(os.environ["STARTED"])}))

    asyncio.run(run())


def measure_dashboard(place: Place, what: str) -> None:
    """One process: the first paint of pairs with all their models, then keys, or the event loop's
    lag on the Runs screen.
    """
    from embedlab.tui.terminal import process_memory

    process_memory.pause_collection()  # as `embedlab tui` does
    from embedlab.tui.widgets.frame_table import FrameTable

    async def run() -> None:
        app = place.dashboard()
        async with app.run_test(size=SIZE) as pilot:
            table = app.screen.query_one(FrameTable)
            while not len(table.rows):  # noqa: ASYNC110 - the dashboard has no event for this
                await asyncio.sleep(0.002)
            await drawn(app)
            found: dict[str, Any] = {
                "paint_s": time.time() - float(os.environ["STARTED"]),
                "pairs": len(table.rows),
            }
            found["models"] = len(app.data.models) if app.data is not None else 0
            # Of very many pairs the scores come after the sentences.
            while app.data is None or len(app.data.models) < len(place.models):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            await drawn(app)
            found["scored_s"] = time.time() - float(os.environ["STARTED"])
            found["scored_processor_s"] = time.process_time()
            await pilot.pause(0.5)
            if what == "keys":
                found["keys"] = await keys(app, place.models[0])
            if what == "panes":
                measured = Measured()
                await panes(app, measured.of, partial(settled, app))
                found["panes"] = measured.times
                found["neighbours"] = await asyncio.to_thread(neighbours, app)
                found["rest"] = await at_rest(app)
            if what == "explained":
                measured = Measured()
                found["selections"] = await selections(app)
                found["arrived"] = await explanations(app, measured.of, partial(settled, app))
                found["items"] = await items(app, measured.of, partial(settled, app))
                found["panes"], found["used"] = measured.times, measured.used
            if what == "lag":
                await pilot.press("3")
                await pilot.pause(1.0)
                found["lag_ms"] = await lag(LAG_S)
            found["rss_mib"] = rss_mib()
            print(json.dumps(found))

    asyncio.run(run())


async def drawn(app: "Dashboard") -> None:
    """Wait until every message that is under way is done, and the screen drawn."""
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def settled(app: "Dashboard") -> None:
    """Wait until what a key set off is done and drawn."""
    app.last_key_at = time.monotonic()  # full garbage collections wait for a pause between keys
    await asyncio.sleep(0)
    await drawn(app)


async def keys(app: "Dashboard", model: str) -> dict[str, list[float]]:
    """Times of the keys that people press most."""
    from embedlab.tui.widgets.filter_bar import FilterBar
    from embedlab.tui.widgets.frame_table import FrameTable
    from embedlab.tui.widgets.pair_plot import PairPlot

    bar, table, measured = (
        app.screen.query_one(FilterBar),
        app.screen.query_one(FrameTable),
        Measured(),
    )

    settle = partial(settled, app)

    def sort(column: str) -> None:
        table.post_message(FrameTable.SortRequested(table, column))

    filters = ["man dice>0.5"[:length] for length in range(1, 13)]
    for text in filters * 5:
        await measured.of("filter key", partial(setattr, bar, "value", text), settle)
    bar.value = ""
    await settle()
    for column in ("sentence1", "gold", "dice", model, "gap") * 4:
        await measured.of("sort", partial(sort, column), settle)
    for _ in range(60):
        await measured.of("page down", partial(table.action_move_pages, 1), settle)
    app.action_mode("plots")
    await settle()
    for _ in range(30):
        await measured.of("plot", app.screen.action_plot, settle)  # type: ignore[attr-defined]
    for _ in range(30):
        await measured.of(
            "plot cursor", partial(app.screen.query_one(PairPlot).action_move, 1, 1), settle
        )
    return measured.times


async def lag(seconds: float) -> list[float]:
    """How late a timer of 5 ms is, in ms."""
    late, ending = [], time.perf_counter() + seconds
    while time.perf_counter() < ending:
        started = time.perf_counter()
        await asyncio.sleep(0.005)
        late.append(1000 * (time.perf_counter() - started - 0.005))
    return late


def rss_mib() -> float:
    """Resident memory of this process."""
    import psutil

    return psutil.Process().memory_info().rss / 2**20


def one(what: str, place: Place | None = None) -> dict[str, Any]:
    """Run a measurement in a process of its own."""
    words = [what] if place is None else [what, json.dumps(asdict(place))]
    environment = {**os.environ, "STARTED": str(time.time()), "XDG_STATE_HOME": tempfile.mkdtemp()}
    if what in {"keys", "panes", "explained"}:
        environment["TEXTUAL_FPS"] = "1000"
    answer = subprocess.run(
        [sys.executable, __file__, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def on_a_link(place: Place) -> dict[str, float]:
    """What `terminal_link` measures over the same pairs."""
    words = [
        str(Path(__file__).with_name("terminal_link.py")),
        "--data",
        place.data,
        "--runs",
        place.runs,
        "--allow-partial",
    ]
    environment = {
        **os.environ,
        "EMBEDLAB_CACHE": place.cache,
        "XDG_STATE_HOME": tempfile.mkdtemp(),
    }
    answer = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


@contextmanager
def training(folder: Path) -> Iterator[Path]:
    """The runs folder of a grid whose four cells are training, each a process of its own."""
    (folder / "busy.toml").write_text(GRID)
    words = [
        "grid",
        "run",
        "busy.toml",
        "--data",
        "tiny",
        "--runs",
        "runs",
        "--set",
        "optim.epochs=200",
        "--workers",
        str(CELLS),
    ]
    command = [sys.executable, "-m", "embedlab", *words, "--threads", "1", "--device", "cpu"]
    environment = {**os.environ, "EMBEDLAB_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    grid = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while (
            sum('"loss"' in path.read_text() for path in folder.glob("runs/*/*/events.jsonl"))
            < CELLS
        ):
            if grid.poll() is not None:
                raise SystemExit("the grid ended before its cells trained")
            time.sleep(0.2)
        yield folder / "runs"
    finally:
        grid.terminate()
        grid.wait()


def rows_of(arguments: argparse.Namespace, temporary: Path) -> Iterator[tuple[str, str, str]]:
    """What was measured, the number, and its limit."""
    real = Place(
        data=str(arguments.data),
        runs=str(arguments.runs),
        cache=str(arguments.cache or temporary / "cache"),
        models=arguments.models,
    )
    score(real)
    starts = [(one("empty")["paint_s"], one("start", real)) for _ in range(arguments.starts)]
    # The first paint has all the models in it, unless there are too many pairs.
    extra = statistics.median(
        found["paint_s" if found["models"] == len(real.models) else "scored_s"] - empty
        for empty, found in starts
    )
    empty = statistics.median(empty for empty, _ in starts)
    pairs = starts[0][1]["pairs"]
    yield (
        f"first paint of {pairs:,} pairs x {len(real.models)} models after that of an empty "
        f"app ({empty:.2f} s)",
        f"{extra:.2f} s",
        "0.7 s",
    )
    found = one("keys", real)
    for (what, times), limit in zip(
        found["keys"].items(), ("50 ms", "50 ms", "16 ms", "50 ms", "16 ms"), strict=True
    ):
        yield f"{what}, p95 of {len(times)}", f"{p95(times):.0f} ms", limit
    shown = one("panes", real)
    for what, times in shown["panes"].items():
        yield f"{what}, p95 of {len(times)}", f"{p95(times):.0f} ms", "50 ms"
    for model, times in shown["neighbours"].items():
        yield (
            f"neighbours of both sentences of a pair by {model}, p95 of {len(times)}",
            f"{p95(times):.0f} ms",
            "100 ms",
        )
    worst = max(shown["rest"], key=lambda mode: shown["rest"][mode])
    yield f"processor time at rest, most on {worst}", f"{shown['rest'][worst]:.2%}", "0.50%"
    yield "memory", f"{found['rss_mib']:.0f} MiB", "400 MiB"
    yield from explained_rows(one("explained", real))
    sent = on_a_link(real)
    yield (
        "output behind a key held for 8 s on a link of 20 KB/s",
        f"{sent['behind_s']:.1f} s",
        "1 s",
    )
    yield "bytes sent in 10 s by Runs when every run has ended", f"{sent['idle_bytes']:,}", "0"
    large = synthetic(temporary / "large", real, arguments.rows)
    found = one("keys", large)
    yield (
        f"{found['pairs']:,} synthetic pairs: first paint after an empty app",
        f"{found['paint_s'] - empty:.2f} s",
        "2 s",
    )
    yield "the same with the scores of five models", f"{found['scored_s'] - empty:.2f} s", ""
    yield "filter key over them, p95", f"{p95(found['keys']['filter key']):.0f} ms", "300 ms"
    yield "sort of them, p95", f"{p95(found['keys']['sort']):.0f} ms", ""
    (temporary / "busy").mkdir()
    with training(temporary / "busy") as runs:
        late = one("lag", replace(real, runs=str(runs), models=[]))["lag_ms"]
    p99 = statistics.quantiles(late, n=100)[-1]
    yield (
        f"event loop lag while a grid of {CELLS} cells trains, p99 of {len(late)}",
        f"{p99:.0f} ms",
        "50 ms",
    )


def explanation_rows(
    arguments: argparse.Namespace, temporary: Path
) -> Iterator[tuple[str, str, str]]:
    """The rows of selections and explanations."""
    real = Place(
        data=str(arguments.data),
        runs=str(arguments.runs),
        cache=str(arguments.cache or temporary / "cache"),
        models=arguments.models,
    )
    score(real)
    yield from explained_rows(one("explained", real))


def explained_rows(found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What was measured of selections, Why, word effects, What if and items."""
    for (what, times), limit in zip(found["selections"].items(), ("50 ms", ""), strict=True):
        yield f"{what}, p95 of {len(times)}", f"{p95(times):.0f} ms", limit
    for what, times in found["panes"].items():
        used = f"{p95(found['used'][what]):.0f} ms of processor time"
        yield f"{what}, p95 of {len(times)}", f"{p95(times):.0f} ms; {used}", "50 ms"
    for what, seconds in found["arrived"].items():
        yield what, f"{seconds:.1f} s", ""
    if found["items"] is not None:
        task, count, seconds = found["items"]
        yield f"{count:,} items of {task} after it was chosen", f"{seconds:.1f} s", ""
    yield "memory after all of these", f"{found['rss_mib']:.0f} MiB", "400 MiB"


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument(
        "--explanations",
        action="store_true",
        help="measure selections, Why, word effects, What if and items alone",
    )
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        lines = ["| what | measured | limit |", "|---|---|---|"]
        for row in (
            explanation_rows(arguments, Path(temporary))
            if arguments.explanations
            else rows_of(arguments, Path(temporary))
        ):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    from embedlab.tui.model_titles import short_name

    named = shlex.join(short_name(model, 60) for model in arguments.models)
    which = "--explanations" if arguments.explanations else f"--rows {arguments.rows}"
    command = f"python benchmarks/dashboard.py --data DIR {which} {named}"
    machine = f"{os.cpu_count()} processors, load of other work {load_before:.1f} at the start"
    title = "Explanations and items of the dashboard" if arguments.explanations else "The dashboard"
    scores = "The scores of the real pairs are these models' own, made by `embedlab evaluate`."
    heading = f"# {title}\n\n`{command}`; {machine}. {scores}\n\n"
    results = RESULTS.with_name("dashboard-explanations.md") if arguments.explanations else RESULTS
    results.parent.mkdir(exist_ok=True)
    results.write_text(heading + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["empty"]:
            measure_empty()
        case ["start" | "keys" | "panes" | "explained" | "lag" as what, place]:
            measure_dashboard(Place(**json.loads(place)), what)
        case _:
            main()
