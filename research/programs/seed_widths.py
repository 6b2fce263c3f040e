"""How often intervals over seeds alone cover a difference of two recipes, and how wide they are:
Welch's width and a pooled one.

    python research/programs/seed_widths.py [--runs 40000]

Seeds are normal, with a standard deviation of 1 or of none; nothing else varies. The interval that
embedlab has of the same seeds is computed for the first draws of each row, and is one of the two.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table
from scipy.special import stdtrit
from simulated_scores import nearly_normal

from embedlab.analysis.uncertainty import SeedSpread

Floats = NDArray[np.float64]

COMPARED = 500  # draws of each row whose intervals are compared with embedlab's
ROUNDING = 1e-3


def half_widths(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Welch's half of each interval, nan of a single seed, and the pooled one; first, second:
    (runs, seeds).
    """
    counts = [first.shape[1], second.shape[1]]
    scatters = [
        ((one - one.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) for one in (first, second)
    ]
    known = sum(counts) - 2
    pooled = stdtrit(known, 0.975) * np.sqrt(
        sum(scatters) / known * sum(1 / count for count in counts)
    )
    if min(counts) == 1:
        return np.full(len(first), np.nan), pooled
    variances = [scatter / (count - 1) for scatter, count in zip(scatters, counts, strict=True)]
    shares = [variance / count for variance, count in zip(variances, counts, strict=True)]
    freedom = sum(shares) ** 2 / sum(
        share**2 / (count - 1) for share, count in zip(shares, counts, strict=True)
    )
    return stdtrit(freedom, 0.975) * np.sqrt(sum(shares)), pooled


def of_package(first: Floats, second: Floats) -> float:
    """Half of embedlab's interval; first, second: (seeds,)."""
    spreads = [
        SeedSpread(members=len(one), scatter=float(((one - one.mean()) ** 2).sum()), noise=0.0)
        for one in (first, second)
    ]
    return nearly_normal(0.0, spreads).half_width()


def taken(first: Floats, second: Floats, widths: tuple[Floats, Floats]) -> int:
    """Return which of the two WIDTHS embedlab takes."""
    own = np.array(
        [of_package(*seeds) for seeds in zip(first[:COMPARED], second[:COMPARED], strict=True)]
    )
    (which,) = [
        place
        for place, half in enumerate(widths)
        if np.allclose(own, half[:COMPARED], rtol=ROUNDING, atol=0)
    ]
    return which


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40_000)
    runs = parser.parse_args().runs
    rng, rows = np.random.default_rng(0), []
    for counts in ((3, 1), (5, 1), (2, 2), (3, 2), (5, 2), (3, 3), (5, 3), (5, 5)):
        for spreads in ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0)):
            if counts[0] == counts[1] and spreads == (1.0, 0.0):
                continue
            first, second = (
                spread * rng.standard_normal((runs, count))
                for spread, count in zip(spreads, counts, strict=True)
            )
            apart = np.abs(first.mean(axis=1) - second.mean(axis=1))
            widths = half_widths(first, second)
            cells = [
                "–"
                if np.isnan(half).any()
                else f"{100 * np.mean(apart <= half):.1f} ({2 * half.mean():.1f})"
                for half in widths
            ]
            which = taken(first, second, widths)
            cells[which] = f"**{cells[which]}**"
            rows.append(
                [f"{counts[0]} and {counts[1]}", f"{spreads[0]:g} and {spreads[1]:g}", *cells]
            )
    notes = [
        f"{runs} simulated comparisons a row; in brackets the mean length of the intervals, "
        f"in standard deviations of a seed",
        f"bold: what embedlab takes, in the first {COMPARED} draws of each row equal to its "
        f"own interval (relative difference below "
        f"{ROUNDING:g})",
    ]
    columns = ["seeds", "standard deviations", "Welch: covers (length)", "pooled: covers (length)"]
    write_table(
        "seed-widths",
        "Intervals over seeds that spread equally and unequally",
        columns,
        rows,
        packages=("embedlab", "numpy", "scipy"),
        notes=notes,
    )


if __name__ == "__main__":
    main()
