"""How fast the dashboard is, beside an empty Textual app in the same run.

    python benchmarks/dashboard.py --data DIR [--rows 1000000] [--busy]

Each first paint is a process of its own, in a terminal of 140 x 45 cells that exists only in memory. The pairs are every STS pair
found in DIR; where fewer than five models have stored scores, scores that follow the gold score with noise stand in for them: what is
measured here does not depend on their values. --busy measures the lag of the event loop while four processes keep the machine busy.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

SIZE = (140, 45)
RESULTS = Path(__file__).parent / "results" / "dashboard.md"


@dataclass
class Measured:
    """Times in ms by what was done."""

    times: dict[str, list[float]] = field(default_factory=dict)

    async def of(self, what: str, work: Callable[[], Any], settle: Callable[[], Awaitable[object]]) -> None:
        """Time WORK and everything it sets off until the screen is drawn."""
        started = time.perf_counter()
        work()
        await settle()
        self.times.setdefault(what, []).append(1000 * (time.perf_counter() - started))


def world(folder: Path, data: Path, models: int, rows: int | None) -> None:
    """Write the pair table and five score files into FOLDER; with ROWS a table of so many synthetic pairs."""
    import numpy as np
    import polars as pl

    from embedlab.analysis.scores import ScoreFile
    from embedlab.settings import Settings
    from embedlab.tui.pair_data import PairData, _keep, _stamp, load_pairs

    settings = Settings(data=data, cache=folder / "cache", runs=folder / "runs", allow_partial=True)
    bare = load_pairs(settings)
    table = bare.table
    if rows is not None:
        copies = -(-rows // table.height)
        table = pl.concat([table] * copies).head(rows)
        table = table.with_columns(
            sentence1=pl.col("sentence1") + pl.int_range(pl.len()).cast(pl.String),
            pair=pl.int_range(pl.len(), dtype=pl.UInt32),
            pair_key=pl.int_range(pl.len(), dtype=pl.UInt64),
        )
        _keep(PairData(table=table, gold_ranges=bare.gold_ranges), settings.cache / "pairs" / f"{_stamp(settings)}.parquet")
    rng = np.random.default_rng(0)
    for number in range(models):
        noise = rng.normal(scale=0.1 + 0.1 * number, size=table.height)
        similarity = np.clip(table["gold"].to_numpy() / 5 + noise, -1, 1)
        scores = pl.DataFrame({"pair_key": table["pair_key"], "similarity": pl.Series(similarity, dtype=pl.Float32)}).unique("pair_key")
        path = settings.runs_folder / f"model-{number}" / "seed-1" / "scores.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        ScoreFile(scores=scores, facts={"fingerprint": str(number), "model": f"model-{number}"}).write(path)


def measure_empty() -> None:
    """One process: seconds from its start to the first paint of an empty app."""
    from textual.app import App

    async def run() -> None:
        async with App[None]().run_test(size=SIZE) as pilot:
            await pilot.pause()
            print(json.dumps({"paint_s": time.time() - float(os.environ["STARTED"])}))

    asyncio.run(run())


def measure_dashboard(folder: Path, data: Path, *, with_keys: bool, lag_s: float) -> None:
    """One process: first paint with pairs and models shown, then keys, then the event loop's lag."""
    from dataclasses import replace

    from embedlab.settings import Settings
    from embedlab.tui.app import Dashboard
    from embedlab.tui.widgets.frame_table import FrameTable

    async def run() -> None:
        app = Dashboard(Settings(data=data, cache=folder / "cache", runs=folder / "runs", allow_partial=True))
        five = tuple(f"model-{number}" for number in range(5))
        app.memory.state = replace(app.memory.state, pairs=replace(app.memory.state.pairs, models=five))
        async with app.run_test(size=SIZE) as pilot:
            table = app.screen.query_one(FrameTable)
            while not len(table.rows):  # noqa: ASYNC110 - what is waited for is no event of ours
                await asyncio.sleep(0.002)
            await drawn(app)
            found: dict[str, Any] = {"paint_s": time.time() - float(os.environ["STARTED"]), "pairs": len(table.rows)}
            await pilot.pause(0.5)
            if with_keys:
                found["keys"] = await keys(app)
            if lag_s:
                found["lag_ms"] = await lag(lag_s)
            found["rss_mib"] = rss_mib()
            print(json.dumps(found))

    asyncio.run(run())


async def drawn(app: "Dashboard") -> None:
    """Wait until every message that is under way is done, and the screen drawn."""
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def keys(app: "Dashboard") -> dict[str, list[float]]:
    """Times of the keys that people press most."""
    from embedlab.tui.widgets.filter_bar import FilterBar
    from embedlab.tui.widgets.frame_table import FrameTable

    bar, table, measured = app.screen.query_one(FilterBar), app.screen.query_one(FrameTable), Measured()

    async def settle() -> None:
        await asyncio.sleep(0)
        await drawn(app)

    def sort(column: str) -> None:
        table.post_message(FrameTable.SortAsked(table, column))

    filters = ["man dice>0.5"[:length] for length in range(1, 13)]
    for text in filters * 5:
        await measured.of("filter key", partial(setattr, bar, "value", text), settle)
    bar.value = ""
    await settle()
    for column in ("sentence1", "gold", "dice", "model-0", "gap") * 4:
        await measured.of("sort", partial(sort, column), settle)
    for _ in range(60):
        await measured.of("page down", partial(table.action_move_pages, 1), settle)
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


def one(*words: str) -> dict[str, Any]:
    """Run a measurement in a process of its own."""
    environment = {**os.environ, "STARTED": str(time.time()), "XDG_STATE_HOME": tempfile.mkdtemp()}
    answer = subprocess.run([sys.executable, __file__, *words], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def busy_processes(count: int) -> list["subprocess.Popen[bytes]"]:
    """Processes that multiply matrices as a training does."""
    program = "import numpy as np\na = np.random.rand(600, 600)\nwhile True: a = np.tanh(a @ a / 600)"
    return [subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "OMP_NUM_THREADS": "1"}) for _ in range(count)]


def rows_of(arguments: argparse.Namespace, temporary: Path) -> Iterator[tuple[str, str, str]]:
    """What was measured, the number, and its limit."""
    real, large = temporary / "real", temporary / "large"
    world(real, arguments.data, 5, None)
    place = [str(real), str(arguments.data)]
    starts = [(one("empty")["paint_s"], one("dashboard", *place)) for _ in range(arguments.starts)]
    extra = statistics.median(found["paint_s"] - empty for empty, found in starts)
    empty = statistics.median(empty for empty, _ in starts)
    pairs = starts[0][1]["pairs"]
    yield f"first paint of {pairs:,} pairs x 5 models after that of an empty app ({empty:.2f} s)", f"{extra:.2f} s", "0.7 s"
    found = one("keys", *place)
    for (what, times), limit in zip(found["keys"].items(), ("50 ms", "50 ms", "16 ms"), strict=True):
        yield f"{what}, p95 of {len(times)}", f"{p95(times):.0f} ms", limit
    yield "memory", f"{found['rss_mib']:.0f} MiB", "400 MiB"
    world(large, arguments.data, 5, arguments.rows)
    found = one("keys", str(large), str(arguments.data))
    yield f"first paint of {found['pairs']:,} synthetic pairs x 5 models after an empty app", f"{found['paint_s'] - empty:.2f} s", "2 s"
    yield "filter key over them, p95", f"{p95(found['keys']['filter key']):.0f} ms", "300 ms"
    yield "sort of them, p95", f"{p95(found['keys']['sort']):.0f} ms", ""
    if arguments.busy:
        others = busy_processes(4)
        try:
            late = one("lag", *place)["lag_ms"]
        finally:
            for other in others:
                other.kill()
        p99 = statistics.quantiles(late, n=100)[-1]
        yield f"event loop lag while four processes compute, p99 of {len(late)}", f"{p99:.0f} ms", "50 ms"


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--busy", action="store_true")
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        lines = ["| what | measured | limit |", "|---|---|---|"]
        for row in rows_of(arguments, Path(temporary)):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    command = f"python benchmarks/dashboard.py --data DIR --rows {arguments.rows}{' --busy' if arguments.busy else ''}"
    machine = f"{os.cpu_count()} processors, load of other work {load_before:.1f} at the start"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(f"# The dashboard\n\n`{command}`; {machine}.\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["empty"]:
            measure_empty()
        case ["dashboard" | "keys" | "lag" as what, folder, data]:
            measure_dashboard(Path(folder), Path(data), with_keys=what == "keys", lag_s=10.0 if what == "lag" else 0.0)
        case _:
            main()
