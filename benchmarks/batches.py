"""Batches of simulated runs: long simulations grow all rows of a table alike, and go on from a file
where they were stopped.

What a batch is of, its row's words, is its key; a file is of one program and one state of the code.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Simulated = Callable[[Any, int, int], Any]
"""What a job gives in some runs, from the number of the first on, as JSON can hold it."""


def read_arguments(about: str | None, *, runs: int = 400) -> argparse.Namespace:
    """Return the arguments of a program that simulates RUNS of each row, ABOUT what it says of
    itself.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--resume", type=Path, help="a file of the runs so far: they go on, and others are added"
    )
    return parser.parse_args()


@dataclass(kw_only=True)
class Batches:
    """The batches of each row, in the order of their runs; in a FILE where one is named."""

    file: Path | None = None
    of: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read those that the file has."""
        if self.file is not None and self.file.exists():
            self.of = json.loads(self.file.read_text(encoding="utf-8"))

    def runs(self, key: str) -> int:
        """Return how many runs a row has."""
        return sum(batch["runs"] for batch in self.of.get(key, ()))

    def found(self, key: str) -> list[Any]:
        """Return what each batch of a row found."""
        return [batch["found"] for batch in self.of.get(key, ())]

    def add(self, key: str, runs: int, found: Any) -> None:
        """Add a batch, and write all."""
        self.of.setdefault(key, []).append({"runs": runs, "found": found})
        if self.file is not None:
            beside = self.file.with_suffix(".part")
            beside.write_text(json.dumps(self.of), encoding="utf-8")
            beside.replace(self.file)

    def fill(
        self,
        jobs: Sequence[tuple[str, Any]],
        work: Simulated,
        runs: Callable[[str], int],
        *,
        at_once: int,
        processes: int,
    ) -> None:
        """Simulate until each of the JOBS, a key and what WORK takes, has its RUNS: AT_ONCE at a
        time of each, so that all grow alike.
        """
        most = max(runs(key) for key, _ in jobs)
        with ProcessPoolExecutor(processes) as pool:
            for end in range(at_once, most + at_once, at_once):
                open_jobs = [
                    (key, job, min(end, runs(key)) - self.runs(key))
                    for key, job in jobs
                    if self.runs(key) < min(end, runs(key))
                ]
                waiting = [
                    (key, count, pool.submit(work, job, self.runs(key), count))
                    for key, job, count in open_jobs
                ]
                for key, count, batch in waiting:
                    self.add(key, count, batch.result())

    def counts(self, keys: Sequence[str]) -> str:
        """Return how many runs the rows of KEYS have, in words: one number, or the fewest and the
        most.
        """
        counts = sorted({self.runs(key) for key in keys})
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
