"""Measures what a model takes in a process of its own: the time of a sentence, and the largest
memory of the process.

Arguments: settings as JSON, a model's name. In: a JSON list of sentences. Out: one line of JSON
with the fields of `MeasuredCost`. A model without vectors is measured on pairs of a sentence with
the next one.
"""

import json
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from embedlab.core.crash_reports import run_guarded, show_in_log
from embedlab.core.errors import ExitCode
from embedlab.core.schema import build
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import PairScorer
from embedlab.encoders.loading import scorer_for
from embedlab.models.catalog import resolve
from embedlab.models.location import pin_snapshots

ROUNDS = 3
WARM, FEWEST = 16, 32  # sentences
SECONDS = 3.0  # of a round, about


@dataclass(frozen=True, kw_only=True)
class MeasuredCost:
    """What one model takes on this machine."""

    milliseconds: tuple[float, ...]  # a sentence, one number a round
    sentences: int  # of a round
    memory_mib: float  # the largest that the process had, Python and its libraries included
    scores_pairs: bool
    device: str
    threads: int
    processor: str


def measure(
    scorer: PairScorer, sentences: Sequence[str], clock: Callable[[], float] = time.perf_counter
) -> tuple[list[float], int]:
    """Return the milliseconds that a sentence takes in each round, and how many sentences a round
    has: a slow model gets fewer.
    """

    def taken(batch: Sequence[str]) -> float:
        start_s = clock()
        if hasattr(scorer, "encode"):
            scorer.encode(batch)
        else:
            scorer.score(batch, [*batch[1:], *batch[:1]])
        return (clock() - start_s) / len(batch)

    taken(sentences[:WARM])
    rate = taken(sentences[WARM : WARM + FEWEST] or sentences)
    count = max(min(len(sentences), int(SECONDS / max(rate, 1e-9))), min(FEWEST, len(sentences)))
    return [1000 * taken(sentences[:count]) for _ in range(ROUNDS)], count


def processor_name() -> str:
    """Return the name of the processor, as the system states it."""
    model_name = _stated(Path("/proc/cpuinfo"), "model name")
    return model_name or platform.processor() or platform.machine()


def _stated(path: Path, key: str) -> str:
    """Return the value in the first line of a system file that begins with KEY; empty if there is
    none.
    """
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(key):
                return line.partition(":")[2].strip()
    return ""


def peak_memory_mib() -> float:
    """Return the largest resident memory that this process had, in MiB.

    On Linux ru_maxrss starts at that of the parent process; VmHWM is of this program alone.
    """
    if peak := _stated(Path("/proc/self/status"), "VmHWM"):
        return int(peak.split()[0]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> int:
    """Measure, and write the line."""
    from embedlab.encoders.device import machine

    settings, name = build(Settings, json.loads(sys.argv[1]), where="settings"), sys.argv[2]
    sentences = json.loads(sys.stdin.buffer.read())
    hardware = machine(settings)
    scorer = scorer_for(
        pin_snapshots(resolve(name, settings.runs).members[0], offline=settings.offline), settings
    )
    times, count = measure(scorer, sentences)
    cost = MeasuredCost(
        milliseconds=tuple(times),
        sentences=count,
        memory_mib=peak_memory_mib(),
        scores_pairs=not hasattr(scorer, "encode"),
        device=hardware.device.type,
        threads=hardware.threads,
        processor=processor_name(),
    )
    print(json.dumps(asdict(cost)))  # noqa: T201 - the answer
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(run_guarded(main, show_in_log))
