"""The dashboard before a hand that knows no keys: files of `few_rows.py`, random keys, filters and
sizes.

    python benchmarks/fuzz/keys.py [--cases 60] [--seed 21] [--write]

Each case scores word overlap and word vectors on a small file, whose path has signs of markup in
it, opens the dashboard on it, and presses some sixty keys. Warnings of other packages count as
faults.
"""

import asyncio
import random
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import few_rows
from campaign import Case, arguments, generator, report, timed
from textual.pilot import Pilot

from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard

LETTERS = "123abcdefgijklmnoprstuvwzGNS?.,+-<>09"
NAMED = (
    *("enter", "escape", "tab", "shift+tab", "space", "up", "down", "left", "right"),
    *("pageup", "pagedown", "home", "end", "ctrl+p", "ctrl+o", "ctrl+t", "ctrl+u", "ctrl+d"),
)
FILTERS = ("dice>0.5", "gold<2", "gap>10", "xyz", "/[/", "right:dice", "-negated", "dice>", "")
SIZES = ((80, 24), (140, 45), (60, 16), (200, 60), (101, 30), (59, 15))
STEPS = 60


async def press(pilot: Pilot[None], rng: random.Random) -> None:
    """Press what a hand may press."""
    for _ in range(STEPS):
        match rng.random():
            case share if share < 0.1:
                await pilot.press("slash", *rng.choice(FILTERS), "enter")
            case share if share < 0.15:
                await pilot.resize_terminal(*rng.choice(SIZES))
            case _:
                await pilot.press(rng.choice([*LETTERS, *NAMED]))
        if rng.random() < 0.2:
            await pilot.pause(0.05)


def case(number: int, seed: int, folder: Path) -> Case:
    """One file and some keys."""
    rng = generator(seed, number)
    kind = rng.choice(("scored pairs", "pairs of two labels"))
    header, make = few_rows.KINDS[kind]
    shape, size = rng.choice(few_rows.SHAPES), rng.choice(SIZES)
    rows = shape(make(rng, rng.choice(few_rows.ROWS)), rng)
    place = folder / f"{number}["
    name = f"{place / 'b]x.tsv'}{'' if kind == 'scored pairs' else '?score=label'}"
    settings = Settings(runs=place / "runs", cache=place / "cache", device="cpu", threads=1)

    async def open_and_press() -> None:
        app = Dashboard(settings, pair_file=Path(name))
        async with app.run_test(size=size) as pilot:
            await pilot.pause(0.3)
            await press(pilot, rng)

    def run() -> None:
        warnings.simplefilter("error", RuntimeWarning)
        place.mkdir()
        text = "".join("\t".join(row) + "\n" for row in (header, *rows))
        (place / "b]x.tsv").write_text(text)
        words = ("--cache", str(settings.cache), "--runs", str(settings.runs))
        few_rows.typed(("evaluate", *few_rows.TWO, "--task", name, *words), {})
        asyncio.run(open_and_press())

    return Case(target=kind, mutation=shape.__name__.replace("_", " "), run=run)


def run() -> int:
    """Run the campaign; the exit code is 1 where a case ended with a fault."""
    options = arguments(__doc__ or "", 60)
    with tempfile.TemporaryDirectory() as folder:
        cases = [case(number, options.seed, Path(folder)) for number in range(options.cases)]
        outcomes, seconds = timed(cases, limit_s=max(options.limit_s, 120))
    return report(
        "keys",
        "Keys without a plan",
        outcomes,
        seconds=seconds,
        notes=(f"each case presses {STEPS} keys, filters and sizes of the terminal",),
        write=options.write,
    )


if __name__ == "__main__":
    raise SystemExit(run())
