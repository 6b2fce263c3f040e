"""Comparing five models on the seven STS sets, beside 10,000 resamples of independent pairs, as it
was done first.

    python benchmarks/comparison.py --data DIR [--models 5] [--resamples 10000] [--turns 3]
    [--before FOLDER]

Both sides are given the same scores (simulated ones; the pairs are real) and give the interval of
every score and difference of nine rows. The resamples are the least that a bootstrap must do: their
quantiles are not even taken. With --before, a checkout of an earlier state, its comparison is made
in turns with the present one, each in a process of its own, and the parts of the present one are
timed: the topics of each set, and what a difference takes when these are known. These times are
of the processor: other work on the machine adds little to them.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "research/programs"))

from independent_bootstrap import resampled_spearman
from record import Measured, write
from simulated_scores import DATASETS


def scored_table(data: Path, models: int) -> tuple[pl.DataFrame, list[str]]:
    """The pairs of the seven sets with a column of scores a model."""
    from pair_frames import pair_table

    from embedlab.data.source import Source, open_parts

    table = pair_table(open_parts(Source(folder=data, offline=True), DATASETS)[0])
    rng, names = np.random.default_rng(0), [f"model{number}" for number in range(models)]
    noise = {
        name: pl.Series(rng.normal(scale=1.5 + number / 10, size=table.height))
        for number, name in enumerate(names)
    }
    return table.with_columns(
        (pl.col("gold") + values).alias(name) for name, values in noise.items()
    ), names


def compare_once(table: pl.DataFrame, names: list[str]) -> float:
    """Seconds of a whole comparison."""
    from pair_frames import pair_outcomes

    from embedlab.analysis.evidence import ModelColumns
    from embedlab.comparison.comparison import compare_outcomes
    from embedlab.data.published import STS_AVERAGES

    start = time.perf_counter()
    outcomes = pair_outcomes(table, names, task="sts", averages=STS_AVERAGES)
    found = compare_outcomes(outcomes, [ModelColumns(name=name, members=(name,)) for name in names])
    assert len(found.slices) == 9
    return time.perf_counter() - start


def resample_once(table: pl.DataFrame, names: list[str], resamples: int) -> float:
    """Seconds of the resampled correlations of every dataset."""
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for pairs in table.partition_by("dataset", maintain_order=True):
        resampled_spearman(
            pairs["gold"].to_numpy(), pairs.select(names).to_numpy().T, resamples, rng
        )
    return time.perf_counter() - start


SERVED = """
import sys, time
from pathlib import Path
import comparison
table, names = comparison.scored_table(Path(sys.argv[1]), int(sys.argv[2]))
comparison.compare_once(table, names)  # loads what is loaded once
for _ in sys.stdin:
    start = time.process_time()
    comparison.compare_once(table, names)
    print(time.process_time() - start, flush=True)
"""


def in_turns(folders: list[Path], arguments: argparse.Namespace) -> list[list[float]]:
    """Seconds of processor of a comparison by the code in each of FOLDERS, in turns."""
    command, servers = (
        [sys.executable, "-c", SERVED, str(arguments.data.resolve()), f"{arguments.models}"],
        [],
    )
    for folder in folders:
        paths = os.pathsep.join(map(str, (folder, folder / "benchmarks")))
        environment = os.environ | {
            "PYTHONPATH": paths,
            "OMP_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        }
        servers.append(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=folder,
            )
        )
    times: list[list[float]] = [[] for _ in folders]
    for _ in range(arguments.turns):
        for server, found in zip(servers, times, strict=True):
            print(file=server.stdin, flush=True)
            found.append(float(server.stdout.readline()))
    for server in servers:
        server.communicate()
    return times


def least(work: Callable[[], object], turns: int) -> float:
    """The least seconds of processor that WORK took."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def parts_of(table: pl.DataFrame, names: list[str], turns: int) -> list[Measured]:
    """What links and topics take."""
    from pair_frames import near_pairs, pair_outcomes, sentence_numbers

    from embedlab.analysis.near_duplicates import similar_pairs
    from embedlab.analysis.topics import join_topics
    from embedlab.comparison.evidence import outcome_evidence
    from embedlab.data.published import STS_AVERAGES

    numbered = table.with_columns(sentence_numbers(table))
    found = {
        name: least(lambda own=own: near_pairs(own, similar_pairs), 1)
        for (name,), own in numbered.group_by("dataset")
    }
    evidence = outcome_evidence(
        pair_outcomes(table, names, task="sts", averages=STS_AVERAGES), names
    )
    rows = {one.key: one.rows for one in evidence if one.rows is not None}
    joined = {
        key: least(
            lambda own=own: join_topics(own.shared, own.row_shares, own.near, own.largest_joined),
            turns,
        )
        for key, own in rows.items()
        if key in found and own.near is not None
    }
    return [
        Measured(
            what="links between nearly equal sentences of a set, found once and stored: the "
            "slowest",
            ours=max(found.values()),
            unit="s",
        ),
        Measured(
            what="families of a set, its links stored: the slowest",
            ours=1000 * max(joined.values()),
            unit="ms",
            limit="≤ 500 ms",
            runs=turns,
        ),
    ]


def intervals_of(table: pl.DataFrame, names: list[str], turns: int) -> list[Measured]:
    """What a difference takes when topics are known."""
    from pair_frames import pair_outcomes

    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.weighing import Weighed
    from embedlab.comparison.evidence import outcome_evidence
    from embedlab.data.published import STS_AVERAGES

    evidence = outcome_evidence(
        pair_outcomes(table, names, task="sts", averages=STS_AVERAGES), names
    )
    models = [ModelColumns(name=name, members=(name,)) for name in names]

    def weigh() -> None:
        for one in evidence:
            for name in ("topics", "row_factors"):  # what hangs on the scores
                one.rows.__dict__.pop(name, None)
            Weighed(one, models)

    weigh()
    taken, count = 1000 * least(weigh, turns), len(names)
    differences = len(evidence) * count * (count - 1) // 2
    intervals = differences + len(evidence) * count  # and one of each score
    interval = (
        f"an interval of a difference with p and the letters' p, or of a score, of {count} "
        f"models, families known"
    )
    return [
        Measured(what=interval, ours=taken / intervals, unit="ms", limit="≤ 0.5 ms", runs=turns),
        Measured(
            what="the same, all of it counted to the differences alone",
            ours=taken / differences,
            unit="ms",
            runs=turns,
        ),
    ]


def main() -> None:
    """Time both in turns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--before",
        type=Path,
        help="a checkout of an earlier state, whose comparison is timed beside the present one's",
    )
    arguments = parser.parse_args()
    table, names = scored_table(arguments.data, arguments.models)
    compare_once(table, names)  # loads what is loaded once
    if arguments.before is not None:
        show_before(arguments, table, names)
        return
    times = [
        (compare_once(table, names), resample_once(table, names, arguments.resamples))
        for _ in range(arguments.turns)
    ]
    ours, peer = (median(side) for side in zip(*times, strict=True))
    what = f"intervals, p and letters of {arguments.models} models on seven STS sets"
    measured = Measured(
        what=what, ours=ours, peer=peer, unit="s", limit="≥ 20 x", runs=arguments.turns
    )
    notes = [
        f"peer: {arguments.resamples:,} resamples of independent pairs; in turns, medians of "
        f"{arguments.turns}"
    ]
    write(
        "comparison",
        "Comparing models",
        [measured],
        packages=("embedlab", "numpy", "scipy", "polars"),
        notes=notes,
    )


def show_before(arguments: argparse.Namespace, table: pl.DataFrame, names: list[str]) -> None:
    """Time the comparison of an earlier state in turns with the present one, and the parts of
    this.
    """
    now, before = (
        min(times) for times in in_turns([Path(__file__).parents[1], arguments.before], arguments)
    )
    what = f"{arguments.models} models on seven STS sets; peer: before topics were counted"
    whole = Measured(
        what=what, ours=now, peer=before, unit="s", limit="≥ 0.5 x", runs=arguments.turns
    )
    notes = [
        f"time of one processor, the least of {arguments.turns} turns; a ratio of 0.5 is "
        f"twice the time",
        f"load of the machine: {os.getloadavg()[0]:.0f}; where both hardware threads of a "
        f"core work, each is slower",
    ]
    packages = ("embedlab", "numpy", "scipy", "polars")
    measured = [
        whole,
        *parts_of(table, names, arguments.turns),
        *intervals_of(table, names, arguments.turns),
    ]
    measured += intervals_of(*scored_table(arguments.data, 2 * arguments.models), arguments.turns)
    write(
        "comparison-before",
        "Comparing models by topics, and as before",
        measured,
        packages=packages,
        notes=notes,
    )


if __name__ == "__main__":
    main()
