"""What verifying checksums costs: `compare` of stored results in
turns with the code before them.

    python benchmarks/checksums.py --data DIR --model DIR --before CHECKOUT [--after CHECKOUT]
    [--turns 15]

Each CHECKOUT is a working tree of embedlab, the first without checksums and else as near to the
second as can be; that is this one unless another is given. Both sides have a cache folder of their
own with the scores of the model under three poolings, written by themselves; each measurement is a
process of its own, and the sides take turns, first the one and then the other. Beside the time that
passes, the processor's time is measured, which other programs on the machine disturb less.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

HERE = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """What one process took."""

    passed: float
    processor: float


@dataclass(frozen=True, kw_only=True)
class Side:
    """A state of the code and its own cache."""

    code: Path
    cache: Path
    data: Path
    models: tuple[str, ...]

    def embedlab(self, *words: str) -> None:
        """Run a command."""
        command = [
            sys.executable,
            "-m",
            "embedlab",
            *words,
            "--data",
            str(self.data),
            "--offline",
            "--quiet",
        ]
        subprocess.run(
            command,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.cache,
            check=True,
        )

    def compare(self) -> Seconds:
        """One `embedlab compare` of the stored scores."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        self.embedlab("compare", *self.models)
        passed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        return Seconds(
            passed=passed,
            processor=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        )

    def _environment(self) -> dict[str, str]:
        own = {
            "PYTHONPATH": str(self.code),
            "EMBEDLAB_CACHE": str(self.cache),
            "XDG_STATE_HOME": str(self.cache / "state"),
        }
        return {**os.environ, **own}


def in_turns(
    before: Side, after: Side, measure: Callable[[Side], Seconds], turns: int
) -> list[tuple[Seconds, Seconds]]:
    """What both sides took, measured in turns after one that does not count."""
    return [(measure(before), measure(after)) for _ in range(turns + 1)][1:]


def ratio_note(what: str, old: Sequence[float], new: Sequence[float]) -> str:
    """How the ratio of the two sides differs from turn to turn."""
    low, middle, high = statistics.quantiles(
        [one / other for one, other in zip(new, old, strict=True)], n=4
    )
    return (
        f"{what}: with checksums over without, turn by turn: median {middle:.3f}, quartiles "
        f"{low:.3f} to {high:.3f}"
    )


def main() -> None:
    """Measure both and write the table."""
    from record import Measured, write

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, default=HERE)
    parser.add_argument("--model", type=Path, required=True, help="folder of a transformer")
    parser.add_argument("--turns", type=int, default=15)
    arguments = parser.parse_args()
    models = tuple(
        f"{arguments.model.absolute()}?pooling={pooling}" for pooling in ("mean", "cls", "max")
    )
    with tempfile.TemporaryDirectory() as folder:
        before, after = (
            Side(
                code=code.absolute(),
                cache=Path(folder) / name,
                data=arguments.data.absolute(),
                models=models,
            )
            for name, code in (("before", arguments.before), ("after", arguments.after))
        )
        before.cache.mkdir()
        before.embedlab("evaluate", *before.models, "--suite", "sts")
        shutil.copytree(before.cache, after.cache)
        shutil.rmtree(
            after.cache / "models"
        )  # written again by the code of today, from the same vectors
        after.embedlab("evaluate", *after.models, "--suite", "sts")
        measured, notes = [], []
        works: dict[str, Callable[[Side], Seconds]] = {
            "compare of stored scores": Side.compare,
        }
        for what, measure in works.items():
            pairs = in_turns(before, after, measure, arguments.turns)
            for kind, title in (
                ("processor", f"{what}, time of the processor"),
                ("passed", f"{what}, time that passes"),
            ):
                old, new = ([getattr(pair[side], kind) for pair in pairs] for side in (0, 1))
                ours, peer = statistics.median(new), statistics.median(old)
                measured.append(
                    Measured(
                        what=title,
                        ours=ours,
                        peer=peer,
                        unit="s",
                        limit="≥ 0.95 x",
                        runs=arguments.turns,
                    )
                )
                notes.append(ratio_note(title, old, new))
    notes.append(
        f"peer: the code before checksums; whole processes, {arguments.turns} turns of each "
        f"after one that does not count"
    )
    write(
        "checksums",
        "What verifying checksums costs",
        measured,
        packages=("embedlab", "polars", "textual", "xxhash"),
        notes=notes,
    )


if __name__ == "__main__":
    main()
