"""Run many mutations of one kind of input and count how each ends; the campaigns beside this file
make the cases.

Cases run in a forked process that says which case it begins, so that one which hangs or kills the
process is named and the rest go on.
"""

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from embedlab.core.crash_reports import UnforeseenError
from embedlab.core.errors import EmbedlabError

Ending = Literal["accepted", "two lines", "traceback", "hang", "killed"]
ENDINGS: tuple[Ending, ...] = ("accepted", "two lines", "traceback", "hang", "killed")
FAULTS: tuple[Ending, ...] = ("traceback", "hang", "killed")
RESULTS = Path(os.environ.get("BENCHMARK_RESULTS", Path(__file__).parents[1] / "results"))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One mutated input: what was mutated, how, and the call that reads it."""

    target: str
    mutation: str
    run: Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a case ended; DETAIL is the message, or the traceback."""

    target: str
    mutation: str
    ending: Ending
    detail: str = ""


def arguments(description: str, count: int) -> argparse.Namespace:
    """The options of a campaign."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, help="folder of real corpora whose first lines are mutated"
    )
    parser.add_argument("--cases", type=int, default=count)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument(
        "--limit-s", type=float, default=20.0, help="a case that takes longer hangs"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the table to benchmarks/results"
    )
    return parser.parse_args()


def run(cases: Sequence[Case], *, limit_s: float) -> list[Outcome]:
    """Run every case, each once, and report how it ended."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(cases):
        outcomes += _run_until_fault(cases[len(outcomes) :], limit_s)
    return outcomes


def _run_until_fault(cases: Sequence[Case], limit_s: float) -> list[Outcome]:
    """The outcomes of CASES up to the first that hangs or kills its process."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    worker = multiprocessing.get_context("fork").Process(
        target=_work, args=(cases, theirs), daemon=True
    )
    worker.start()
    theirs.close()
    outcomes: list[Outcome] = []
    for case in cases:
        try:
            is_there = ours.poll(limit_s)
            ending, detail = ours.recv() if is_there else ("hang", f"longer than {limit_s:g} s")
        except EOFError:
            worker.join()
            is_there, ending, detail = False, "killed", f"exit code {worker.exitcode}"
        outcomes.append(
            Outcome(target=case.target, mutation=case.mutation, ending=ending, detail=detail)
        )
        if not is_there:
            break
    worker.kill()
    worker.join()
    return outcomes


def _work(cases: Iterable[Case], connection: Connection) -> None:
    for case in cases:
        connection.send(_ending(case))


def _ending(case: Case) -> tuple[Ending, str]:
    try:
        case.run()
    except UnforeseenError:  # two lines and a report for a user, and a bug all the same
        return "traceback", traceback.format_exc()
    except EmbedlabError as error:
        lines = (error.message, error.hint)
        is_two_lines = (
            error.message.strip() and error.hint.strip() and not any("\n" in line for line in lines)
        )
        return (
            ("two lines", error.message)
            if is_two_lines
            else ("traceback", f"not two lines: {lines!r}")
        )
    except (Exception, SystemExit):
        return "traceback", traceback.format_exc()
    return "accepted", ""


def report(
    name: str,
    title: str,
    outcomes: Sequence[Outcome],
    *,
    seconds: float,
    notes: Sequence[str],
    write: bool,
) -> int:
    """Print the table of a campaign and every fault, write it where that is wanted, and give 1
    where there was a fault.
    """
    faults = [one for one in outcomes if one.ending in FAULTS]
    for one in faults[:20]:
        print(f"{one.target}, {one.mutation}: {one.ending}\n{one.detail}\n", file=sys.stderr)
    text = _markdown(name, title, outcomes, seconds, notes)
    print(text)
    if write:
        (RESULTS / f"fuzz-{name}.md").write_text(text, encoding="utf-8")
        counts = {ending: sum(one.ending == ending for one in outcomes) for ending in ENDINGS}
        (RESULTS / f"fuzz-{name}.json").write_text(
            json.dumps({"cases": len(outcomes), **counts}, indent=2) + "\n"
        )
    return int(bool(faults))


def _markdown(
    name: str, title: str, outcomes: Sequence[Outcome], seconds: float, notes: Sequence[str]
) -> str:
    words = ["DIR" if Path(word).is_dir() else word for word in sys.argv[1:]]
    packages = ", ".join(f"{package} {version(package)}" for package in ("embedlab", "polars"))
    facts = (
        f"python {platform.python_version()}, {packages}; "
        f"{datetime.now(UTC).date().isoformat()}; {seconds:.0f} s"
    )
    command = " ".join(["python", f"benchmarks/fuzz/{name}.py", *words])
    lines = [f"# {title}", "", f"`{command}`; {facts}.", ""]
    lines += _table("target", Counter((one.target, one.ending) for one in outcomes))
    lines += ["", *_table("mutation", Counter((one.mutation, one.ending) for one in outcomes))]
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)]).rstrip() + "\n"


def _table(what: str, counts: Mapping[tuple[str, Ending], int]) -> list[str]:
    """One row a target or mutation, then their sum."""
    rows = dict.fromkeys(row for row, _ in counts)
    lines = [f"| {what} | cases | {' | '.join(ENDINGS)} |", "|---|" + "---:|" * (len(ENDINGS) + 1)]
    for row in rows:
        own = [counts.get((row, ending), 0) for ending in ENDINGS]
        lines.append(f"| {row} | {sum(own):,} | {' | '.join(f'{number:,}' for number in own)} |")
    totals = [
        sum(number for (_, found), number in counts.items() if found == ending)
        for ending in ENDINGS
    ]
    return [*lines, f"| all | {sum(totals):,} | {' | '.join(f'{number:,}' for number in totals)} |"]


def generator(seed: int, number: int) -> random.Random:
    """The random numbers of one case: the same whatever cases are run before it."""
    return random.Random(f"{seed}-{number}")


def timed(cases: Sequence[Case], *, limit_s: float) -> tuple[list[Outcome], float]:
    """The outcomes of CASES and the seconds they took; files and settings of the user are out of
    reach.
    """
    for variable in [name for name in os.environ if name.startswith("EMBEDLAB_")]:
        del os.environ[variable]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state  # reports of bugs are written there
        return run(cases, limit_s=limit_s), time.perf_counter() - began
