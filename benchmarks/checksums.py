"""What verifying checksums costs: `compare` of stored results and the dashboard's first paint, in turns with the code before them.

    python benchmarks/checksums.py --data DIR --before CHECKOUT MODEL MODEL [--turns 15]

CHECKOUT is a working tree of embedlab before there were checksums. Both sides have a cache folder of their own with the MODELs' scores,
written by themselves; each measurement is a process of its own, and the sides take turns, first the one and then the other.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

HERE = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Side:
    """A state of the code and its own cache."""

    code: Path
    cache: Path
    data: Path
    models: tuple[str, ...]

    def embedlab(self, *words: str) -> None:
        """Run a command."""
        command = [sys.executable, "-m", "embedlab", *words, "--data", str(self.data), "--offline", "--quiet"]
        subprocess.run(command, env=self._environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.cache, check=True)

    def compare_s(self) -> float:
        """Seconds of one `embedlab compare` of the stored scores."""
        began = time.perf_counter()
        self.embedlab("compare", *self.models)
        return time.perf_counter() - began

    def paint_s(self) -> float:
        """Seconds from the start of the dashboard to its first paint with the scores of the models."""
        place = {"data": str(self.data), "runs": str(self.cache / "runs"), "cache": str(self.cache), "models": list(self.models)}
        environment = {**self._environment(), "STARTED": str(time.time())}
        command = [sys.executable, str(HERE / "benchmarks" / "dashboard.py"), "start", json.dumps(place)]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found: Mapping[str, float] = json.loads(answer.stdout.splitlines()[-1])
        return found["scored_s"]

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.code), "EMBEDLAB_CACHE": str(self.cache), "XDG_STATE_HOME": str(self.cache / "state")}
        return {**os.environ, **own}


def in_turns(before: Side, after: Side, measure: Callable[[Side], float], turns: int) -> tuple[list[float], list[float]]:
    """The seconds of both sides, measured in turns after one that does not count."""
    pairs = [(measure(before), measure(after)) for _ in range(turns + 1)][1:]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def main() -> None:
    """Measure both and write the table."""
    from record import Measured, write

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--turns", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before, after = (
            Side(code=code.absolute(), cache=Path(folder) / name, data=arguments.data.absolute(), models=tuple(arguments.models))
            for name, code in (("before", arguments.before), ("after", HERE))
        )
        before.cache.mkdir()
        before.embedlab("evaluate", *before.models, "--suite", "sts")
        shutil.copytree(before.cache, after.cache)
        shutil.rmtree(after.cache / "models")  # written again by the code of today, from the same vectors
        after.embedlab("evaluate", *after.models, "--suite", "sts")
        measured, notes = [], []
        works: dict[str, Callable[[Side], float]] = {"compare of stored scores": Side.compare_s, "dashboard, first paint": Side.paint_s}
        for what, measure in works.items():
            old, new = in_turns(before, after, measure, arguments.turns)
            ours, peer = statistics.median(new), statistics.median(old)
            measured.append(Measured(what=what, ours=ours, peer=peer, unit="s", limit="≥ 0.95 x", runs=arguments.turns))
            ratios = [one / other for one, other in zip(new, old, strict=True)]
            low, _, high = statistics.quantiles(ratios, n=4)
            spread = f"median {statistics.median(ratios):.3f}, quartiles {low:.3f} to {high:.3f}"
            notes.append(f"{what}: with checksums over without, turn by turn: {spread}")
    notes.append(f"peer: the code before checksums; whole processes, {arguments.turns} turns of each after one that does not count")
    write("checksums", "What verifying checksums costs", measured, packages=("embedlab", "polars", "textual", "xxhash"), notes=notes)


if __name__ == "__main__":
    main()
