"""How often intervals over seeds alone cover a difference of two recipes, and how wide they are: Welch's width and a pooled one.

    python benchmarks/seed_widths.py [--runs 40000]

Seeds are normal, with a standard deviation of 1 or of none; nothing else varies.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from record import write_table
from scipy.special import stdtrit

Floats = NDArray[np.float64]


def half_widths(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Welch's half of each interval, and the pooled one; first, second: (runs, seeds)."""
    counts = [first.shape[1], second.shape[1]]
    variances = [one.var(axis=1, ddof=1) for one in (first, second)]
    shares = [variance / count for variance, count in zip(variances, counts, strict=True)]
    freedom = sum(shares) ** 2 / sum(share**2 / (count - 1) for share, count in zip(shares, counts, strict=True))
    known = sum(counts) - 2
    pooled = sum((count - 1) * variance for count, variance in zip(counts, variances, strict=True)) / known
    return (
        stdtrit(freedom, 0.975) * np.sqrt(sum(shares)),
        stdtrit(known, 0.975) * np.sqrt(pooled * sum(1 / count for count in counts)),
    )


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40_000)
    runs = parser.parse_args().runs
    rng, rows = np.random.default_rng(0), []
    for counts in ((2, 2), (3, 2), (5, 2), (3, 3), (5, 3), (5, 5)):
        for spreads in ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0)):
            if counts[0] == counts[1] and spreads == (1.0, 0.0):
                continue
            first, second = (spread * rng.standard_normal((runs, count)) for spread, count in zip(spreads, counts, strict=True))
            apart = np.abs(first.mean(axis=1) - second.mean(axis=1))
            cells = [f"{100 * np.mean(apart <= half):.1f} ({2 * half.mean():.1f})" for half in half_widths(first, second)]
            rows.append([f"{counts[0]} and {counts[1]}", f"{spreads[0]:g} and {spreads[1]:g}", *cells])
    notes = [f"{runs} simulated comparisons a row; in brackets the mean length of the intervals, in standard deviations of a seed"]
    columns = ["seeds", "standard deviations", "Welch: covers (length)", "pooled: covers (length)"]
    write_table(
        "seed-widths", "Intervals over seeds that spread equally and unequally", columns, rows, packages=("numpy", "scipy"), notes=notes
    )


if __name__ == "__main__":
    main()
