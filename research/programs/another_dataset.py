"""How often the interval of another dataset has its true difference, beside that of Higgins,
Thompson & Spiegelhalter (2009).

    python research/programs/another_dataset.py [--runs 1000]

True differences of datasets vary with a standard deviation of 0 to 4 points. Errors inside datasets
have standard deviations between 0.3 and 2 points, which are known; recipes have none or three seeds
each, which vary by 1 point in all datasets together.
"""

import argparse
import sys
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table
from scipy.special import stdtrit

from embedlab.analysis.another_dataset import predict_difference
from embedlab.analysis.uncertainty import SeedSpread, seed_noise

Floats = NDArray[np.float64]
SEEDS = 3


def with_one_variance(differences: Floats, variances: Floats) -> tuple[float, float]:
    """The interval by DerSimonian and Laird's variance between datasets, Hartung and Knapp's of the
    mean, and t of K − 2.
    """
    count, weights = len(differences), 1 / variances
    mean = (weights * differences).sum() / weights.sum()
    q = (weights * (differences - mean) ** 2).sum()
    between = max(0.0, (q - count + 1) / (weights.sum() - (weights**2).sum() / weights.sum()))
    weights = 1 / (variances + between)
    mean = (weights * differences).sum() / weights.sum()
    own = (weights * (differences - mean) ** 2).sum() / (count - 1) / weights.sum()
    half = stdtrit(count - 2, 0.975) * sqrt(between + own)
    return mean - half, mean + half


def main() -> None:
    """Simulate and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    rows = []
    for count in (5, 7):
        for between in (0.0, 0.5, 1.0, 2.0, 4.0):
            for has_seeds in (False, True):
                if has_seeds and between not in {0.5, 2.0}:
                    continue
                rng, found = np.random.default_rng(0), []
                for _ in range(runs):
                    deviations = rng.uniform(0.3, 2, count)
                    true = rng.normal(0, between, count + 1)
                    seeds = rng.normal(0, 1, (2, SEEDS)) if has_seeds else np.zeros((2, SEEDS))
                    shift = float(seeds[0].mean() - seeds[1].mean())
                    differences = true[:count] + shift + deviations * rng.standard_normal(count)
                    scatter = [float(((own - own.mean()) ** 2).sum()) for own in seeds]
                    noise = (
                        seed_noise(
                            [SeedSpread(members=SEEDS, scatter=one, noise=0.0) for one in scatter]
                        )
                        if has_seeds
                        else (0.0, np.inf)
                    )
                    _, own, new = predict_difference(differences, deviations**2, *noise)
                    usual = with_one_variance(differences, deviations**2)
                    found.append(
                        (
                            own[0] <= 0 <= own[1],
                            *(low <= true[-1] <= high for low, high in (new, usual)),
                            new[1] - new[0],
                            usual[1] - usual[0],
                        )
                    )
                means, lengths = np.mean(found, axis=0), np.median(found, axis=0)
                cells = [
                    f"{100 * mean:.1f} ± {200 * sqrt(max(mean * (1 - mean), 1e-9) / runs):.1f}"
                    for mean in means[:3]
                ]
                rows.append(
                    [
                        f"{count}",
                        f"{between:g}",
                        f"{SEEDS}" if has_seeds else "–",
                        *cells,
                        f"{lengths[3]:.1f}",
                        f"{lengths[4]:.1f}",
                    ]
                )
    columns = [
        "datasets",
        "sd between",
        "seeds",
        "mean: covers",
        "another: covers",
        "one variance: covers",
        "length",
        "one variance: length",
    ]
    notes = [
        f"{runs} simulated comparisons a row; ± two Monte Carlo standard errors; lengths are "
        f"medians, in points; nominal coverage 95%",
        "one variance: DerSimonian & Laird's between datasets, Hartung & Knapp's of the "
        "mean, Student's t of K − 2, without the seeds",
    ]
    write_table(
        "another-dataset",
        "The true difference on another dataset",
        columns,
        rows,
        packages=("embedlab", "numpy", "scipy"),
        notes=notes,
    )


if __name__ == "__main__":
    main()
