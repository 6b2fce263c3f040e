"""The transfer suite twice: how much memory the first evaluation takes, and how long the second,
which finds everything in the cache.

    python benchmarks/evaluation_cache.py --data DIR [--model DIR] [--suite transfer] [--setting
    literature] [--threads N]

Each evaluation is a process of its own, as a user starts it, with a cache folder that was empty
before the first.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def evaluate(words: list[str], cache: str) -> tuple[float, float]:
    """Seconds and peak GiB of one `embedlab evaluate`."""
    command = [sys.executable, __file__, "measured", *words]
    started = time.perf_counter()
    answer = subprocess.run(
        command,
        env={**os.environ, "EMBEDLAB_CACHE": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - started
    return seconds, json.loads(answer.stdout.splitlines()[-1])["peak_gib"]


def run_measured(words: list[str]) -> None:
    """In the process of its own: evaluate, then print the peak memory."""
    from embedlab.cli.app import main as embedlab

    code = embedlab(["evaluate", *words])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**30 if sys.platform == "darwin" else 2**20
    )
    print(json.dumps({"peak_gib": peak}))
    sys.exit(code)


def main() -> None:
    """Measure both evaluations and write the table."""
    from measure import default_model
    from record import Measured, write

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", help="a folder; by default all-MiniLM-L6-v2")
    parser.add_argument("--suite", default="transfer")
    parser.add_argument("--setting", default="literature")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    model = arguments.model or default_model()
    words = [
        model,
        "--suite",
        arguments.suite,
        "--setting",
        arguments.setting,
        "--data",
        str(arguments.data),
        "--offline",
        "--json",
    ]
    words += ["--threads", str(arguments.threads)] if arguments.threads else []
    with tempfile.TemporaryDirectory() as cache:
        first, peak = evaluate(words, cache)
        second, second_peak = evaluate(words, cache)
        repeats = [evaluate(words, cache)[0] for _ in range(2)]
    times = sorted([second, *repeats])
    measured = [
        Measured(
            what=f"{arguments.suite}, {arguments.setting}: second evaluation",
            ours=times[1],
            unit="s",
            limit="< 3 s",
            runs=3,
        ),
        Measured(what="first evaluation", ours=first, unit="s"),
        Measured(
            what="peak memory of the first evaluation", ours=peak, unit="GiB", limit="< 3 GiB"
        ),
        Measured(what="peak memory of the second evaluation", ours=second_peak, unit="GiB"),
    ]
    notes = [
        "start of the interpreter and imports included; the second evaluation: median of "
        + ", ".join(f"{one:.2f}" for one in times)
    ]
    write(
        "evaluation_cache",
        "An evaluation and its repetition",
        measured,
        packages=("embedlab", "torch", "transformers"),
        notes=notes,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["measured"]:
        run_measured(sys.argv[2:])
    else:
        main()
