"""Comparing five models on the seven STS sets, beside 10,000 resamples of independent pairs, as it was done before.

    python benchmarks/comparison.py --data DIR [--models 5] [--resamples 10000] [--turns 3]

Both sides are given the same scores (simulated ones; the pairs are real) and give the interval of every score and difference of nine rows.
The resamples are the least that a bootstrap must do: their quantiles are not even taken.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))

from independent_bootstrap import resampled_spearman
from record import Measured, write
from simulated_scores import DATASETS


def scored_table(data: Path, models: int) -> tuple[pl.DataFrame, list[str]]:
    """The pairs of the seven sets with a column of scores a model."""
    from embedlab.analysis.scores import pair_table
    from embedlab.data.pair_parts import open_parts
    from embedlab.data.source import Source

    table = pair_table(open_parts(Source(folder=data, offline=True), DATASETS)[0])
    rng, names = np.random.default_rng(0), [f"model{number}" for number in range(models)]
    noise = {name: pl.Series(rng.normal(scale=1.5 + number / 10, size=table.height)) for number, name in enumerate(names)}
    return table.with_columns((pl.col("gold") + values).alias(name) for name, values in noise.items()), names


def compare_once(table: pl.DataFrame, names: list[str]) -> float:
    """Seconds of a whole comparison."""
    from embedlab.analysis.scores import ModelColumns
    from embedlab.comparison.comparison import compare_outcomes
    from embedlab.data.sts import STS_AVERAGES
    from embedlab.outcomes.pairs import pair_outcomes

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
        resampled_spearman(pairs["gold"].to_numpy(), pairs.select(names).to_numpy().T, resamples, rng)
    return time.perf_counter() - start


def main() -> None:
    """Time both in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    table, names = scored_table(arguments.data, arguments.models)
    compare_once(table, names)  # loads what is loaded once
    times = [(compare_once(table, names), resample_once(table, names, arguments.resamples)) for _ in range(arguments.turns)]
    ours, peer = (median(side) for side in zip(*times, strict=True))
    what = f"intervals, p and letters of {arguments.models} models on seven STS sets"
    measured = Measured(what=what, ours=ours, peer=peer, unit="s", limit="≥ 20 x", runs=arguments.turns)
    notes = [f"peer: {arguments.resamples:,} resamples of independent pairs; in turns, medians of {arguments.turns}"]
    write("comparison", "Comparing models", [measured], packages=("embedlab", "numpy", "scipy", "polars"), notes=notes)


if __name__ == "__main__":
    main()
