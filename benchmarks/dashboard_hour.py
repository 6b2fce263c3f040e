"""How much memory the dashboard has after each minute of use, with random keys from a seed on all
screens.

    python benchmarks/dashboard_hour.py --minutes 60 --seed 0 --log FILE -- --data DIR --runs DIR …
    python benchmarks/dashboard_hour.py --of FILE --seed 0

The arguments behind the second -- are those of `embedlab tui`. With --of, the page of results is
made of what was written down. The dashboard runs in a pseudo-terminal whose other end reads all it
draws. A minute is a line of FILE: its number, the resident memory of the dashboard at rest and
before, of its process that scores typed pairs, all in MiB, the keys so far, and the screens that
were shown. No key of these starts, stops, deletes or renames a run.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import psutil
from record import write_table
from terminal_link import SIZE, Link, dashboard

ENTER, ESCAPE, TAB, BACKSPACE, LEFT = b"\r", b"\x1b", b"\t", b"\x7f", b"\x1b[D"
FILTERS = (
    "gold>4",
    "dice<0.3 gold>3",
    "man",
    "tag:negation",
    "words>12",
    "source:headlines",
    "gap>20",
    "negation:one",
    "nonsense>",
    "trained:*",
)
MOVES = (
    *(bytes([letter]) for letter in b"jjjjkkhhllgG"),
    b"\x04",
    b"\x15",
)  # with ctrl+d and ctrl+u
EVERYWHERE = (
    b"?" + ESCAPE,
    b"z",
    b"z",
    b"\\",
    b"F",
    b"P",
    b"t" + ESCAPE,
    b"*" + ESCAPE,
    b"I" + ESCAPE,
    ESCAPE,
)
SCREENS = {
    b"1": (
        b"s",
        b"S",
        b" ",
        b"m",
        b"m",
        b"M",
        b"n",
        b"N",
        b"[",
        b"]",
        b"V",
        b"W",
        b"T",
        b"U",
        b"y",
        b"Y",
        b"r",
        ENTER,
        b"c" + ESCAPE,
    ),
    b"2": (
        b"d",
        b"d",
        b"D",
        b"b",
        b"A",
        b"C",
        b"p",
        b"s",
        b"S",
        ENTER,
        TAB,
        b"r",
        b"=1\r",
        b"c" + ESCAPE,
    ),
    b"3": (
        b" ",
        b"b",
        b".",
        b"~",
        b"|",
        b"s",
        b"S",
        b"v",
        b"v",
        b"R" + ESCAPE,
        b"f",
        b"f",
        b"/sb\r",
        ENTER,
        TAB,
    ),
    b"4": (b"/sbert\r", ENTER + ESCAPE, b"d", ENTER + b"xyz" + ESCAPE + b"u"),
    b"5": (b"d", b"D", b">", b"<", b"p", b"n", b"N", b"HJ", b"LK", b" llljjj ", b" lllkkk" + ENTER),
    b"6": (b"d", b"D", b"s", b"S", ENTER, TAB),
}
REST_S, DRAWN_S = (0.05, 0.6), 1.5  # after a key; after one that changes the screen
PART_KEYS = (4, 25)  # before the next screen


def parts(screen: bytes, rng: random.Random) -> list[bytes]:
    """Keys in the order in which they are pressed, from the change to SCREEN on."""
    found = [screen]
    for _ in range(rng.randint(*PART_KEYS)):
        draw = rng.random()
        if draw < 0.5:
            found += [rng.choice(MOVES)] * rng.randint(1, 8)
        elif draw < 0.85:
            found.append(rng.choice(SCREENS[screen]))
        else:
            found.append(rng.choice(EVERYWHERE))
    if screen == b"1":
        text = rng.choice(FILTERS).encode()
        found += [
            b"/",
            *(bytes([letter]) for letter in text),
            ENTER,
            *[b"j"] * rng.randint(1, 9),
            *rng.choice(((), (b"\\",), (ESCAPE, ESCAPE))),
        ]
        if rng.random() < 0.4:  # what if
            found += [
                b"i",
                *[LEFT] * 3,
                *(bytes([letter]) for letter in b"not "),
                *rng.choice(((b"\x0e",), (b"\x12",), (TAB, b"x"))),
                ESCAPE,
                ESCAPE,
            ]
    if rng.random() < 0.3:
        found += [b"w", b"d", b"j", ENTER, ESCAPE]
    return [*found, ESCAPE, ESCAPE]


def wait_for_rest(link: Link, process: psutil.Process, patience_s: float = 40.0) -> None:
    """Wait on Pairs until what the last keys set off is over: what works for a while, such as Why,
    needs memory meanwhile.
    """
    ending = time.monotonic() + patience_s
    link.send(ESCAPE * 2 + b"1")
    link.read_for(DRAWN_S)
    while time.monotonic() < ending:
        before = sum(process.cpu_times()[:2])
        link.read_for(1.0)
        if sum(process.cpu_times()[:2]) - before < 0.05:
            return


def memory_mib(process: psutil.Process) -> tuple[float, float]:
    """The resident memory of the dashboard, and of the processes that it started."""
    others = 0.0
    for child in process.children(recursive=True):
        try:
            others += child.memory_info().rss / 2**20
        except psutil.NoSuchProcess:
            continue
    return process.memory_info().rss / 2**20, others


def use(
    link: Link, process: psutil.Process, *, minutes: int, seed: int, log: Path
) -> list[dict[str, float]]:
    """Press keys for so many MINUTES and write a line after each to LOG."""
    rng, started, found, pressed = (
        random.Random(seed),
        time.monotonic(),
        list[dict[str, float]](),
        0,
    )
    shown, of_minute = dict.fromkeys(SCREENS, 0), 0
    while len(found) < minutes:
        screen = rng.choice(list(SCREENS))
        shown[screen] += 1
        for keys in parts(screen, rng):
            link.send(keys)
            pressed += len(keys)
            try:
                of_minute += link.read_for(DRAWN_S if keys in SCREENS else rng.uniform(*REST_S))
            except OSError as error:
                raise SystemExit(
                    f"the dashboard ended after {pressed} keys; the last were {keys!r} on "
                    f"{screen!r}"
                ) from error
            if time.monotonic() - started >= 60 * (len(found) + 1):
                in_use = memory_mib(process)[0]
                wait_for_rest(link, process)
                dashboard_mib, others_mib = memory_mib(process)
                line = {
                    "minute": len(found) + 1,
                    "mib": dashboard_mib,
                    "in_use_mib": in_use,
                    "others_mib": others_mib,
                    "keys": pressed,
                    "drawn_bytes": of_minute,
                }
                found.append(line | {f"screen_{int(key)}": count for key, count in shown.items()})
                of_minute = 0
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found[-1]) + "\n")
    return found


def growth(found: Sequence[dict[str, float]], after: int = 20) -> float:
    """The memory at the end as a share of that after so many minutes: of each the median of five
    minutes.
    """
    return median(line["mib"] for line in found[-5:]) / median(
        line["mib"] for line in found[after - 3 : after + 2]
    )


def write_page(found: Sequence[dict[str, float]], seed: int) -> None:
    """Write the page of results: the memory at rest in every five minutes."""
    parts = [found[start : start + 5] for start in range(0, len(found) - len(found) % 5, 5)]
    rows = [
        (
            f"{part[0]['minute']:.0f} to {part[-1]['minute']:.0f}",
            f"{part[-1]['keys']:,.0f}",
            *(f"{choose([line['mib'] for line in part]):.0f} MiB" for choose in (median, min, max)),
            f"{median(line['others_mib'] for line in part):.0f} MiB",
        )
        for part in parts
    ]
    notes = [
        f"written down by `--minutes {len(found)} --seed {seed} --log FILE -- --data DIR "
        f"--runs DIR`: random keys on all six screens",
        f"a terminal of {SIZE[0]} x {SIZE[1]}",
        f"at the end {growth(found):.0%} of the memory after 20 minutes, by medians of five "
        f"minutes (limit 110%)",
        "at rest: on Pairs, once nothing works any more or after 40 s, so that what Why "
        "needs while it works can be the most",
    ]
    columns = (
        "minutes",
        "keys until then",
        "at rest: median",
        "least",
        "most",
        "its process that scores typed pairs",
    )
    write_table(
        "dashboard-hour",
        "The dashboard's memory in an hour of use",
        columns,
        rows,
        packages=("embedlab", "textual"),
        notes=notes,
    )


def main() -> None:
    """Use a dashboard, or make the page of what was written down."""
    mine, _, words = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--log", type=Path)
    which.add_argument(
        "--of", type=Path, metavar="FILE", help="make the page of results of this log"
    )
    arguments = parser.parse_args(mine.split())
    if arguments.of is not None:
        write_page(
            [json.loads(line) for line in arguments.of.read_text(encoding="utf-8").splitlines()],
            arguments.seed,
        )
        return
    state_folder = Path(os.environ.get("XDG_STATE_HOME", "") or tempfile.mkdtemp())
    with dashboard(words.split(), state_folder) as (link, pid):
        lines = use(
            link,
            psutil.Process(pid),
            minutes=arguments.minutes,
            seed=arguments.seed,
            log=arguments.log,
        )
    print(
        json.dumps(
            {
                "minutes": len(lines),
                "growth": growth(lines) if len(lines) > 22 else None,
                "largest_mib": max(line["mib"] for line in lines),
            }
        )
    )


if __name__ == "__main__":
    main()
