"""How often intervals of a difference cover the truth where few items are of one of two classes.

    python research/programs/rare_classes.py [--runs 1000] [--jobs 2]

Similarities are normal, higher by 1.5 for positive pairs, or by 1.5 and 2.2; two models correlate
by .6 and pairs are independent. F1, Matthews' correlation and accuracy are of a fixed threshold.
The truth is the mean difference of 5,000 draws. Rows below embedlab's limit have no interval
there; here they show why. The variance of unseen rows (step 7 for referees) is left out.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from record import write_table

from embedlab.analysis.evidence import ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.weighing import Weighed

Floats = NDArray[np.float64]

SHOWN = ("average precision", "roc auc", "f1", "matthews", "spearman", "pearson", "accuracy")
ITEMS = (200, 1_000)
OF_CLASS = (2, 5, 10, 20, 30, 50)
SHIFTS = ((1.5, 1.5), (1.5, 2.2))
CORRELATION, THRESHOLD = 0.6, 1.0
DRAWS = 5_000
MODELS = [
    ModelColumns(name=name, members=(name,), seeds=(), is_published=True) for name in ("a", "b")
]


def noise(rng: np.random.Generator, items: int) -> list[Floats]:
    """The errors of two models, (items,) each, which correlate."""
    common, *own = rng.standard_normal((3, items))
    return [CORRELATION**0.5 * common + (1 - CORRELATION) ** 0.5 * each for each in own]


def draws(
    items: int, positives: int, shifts: tuple[float, float]
) -> Iterator[tuple[Floats, list[Floats]]]:
    """Yield gold, (items,), and the similarities of two models."""
    rng = np.random.default_rng(positives)
    gold = np.zeros(items)
    gold[:positives] = 1
    while True:
        errors = noise(rng, items)
        yield gold, [shift * gold + each for shift, each in zip(shifts, errors, strict=True)]


def coverage(runs: int, cell: tuple[int, int, tuple[float, float]]) -> list[str]:
    """The shares of RUNS intervals that hold the true difference, a measure each, in percent."""
    shares = []
    for name in SHOWN:
        measure = MEASURES[name]

        def predicted(similarities: Floats, is_of_classes: bool = measure.is_of_classes) -> Floats:
            return (similarities > THRESHOLD).astype(float) if is_of_classes else similarities

        values = [
            measure.values(gold, [*map(predicted, models)])
            for gold, models in islice(draws(*cell), DRAWS)
        ]
        truth = float(np.nanmean([second - first for first, second in values]))
        covered = []
        for gold, models in islice(draws(*cell), runs):
            columns = dict(enumerate(map(predicted, models)))
            evidence = evidence_of("task", "set", gold, columns, 2, measure=measure)
            assert evidence.rows is not None
            weighed = Weighed(
                replace(evidence, rows=replace(evidence.rows, rarer=None, unseen_variance=0)),
                MODELS,
            )
            difference, uncertainty, _ = weighed.compare("b", "a")
            low, high = uncertainty.interval(difference)
            covered.append(low <= truth <= high)
        shares.append(f"{100 * np.mean(covered):.1f}")
    return shares


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    typed = parser.parse_args()
    cells = list(product(ITEMS, OF_CLASS, SHIFTS))
    with ProcessPoolExecutor(typed.jobs) as pool:
        shares = list(pool.map(partial(coverage, typed.runs), cells))
    write_table(
        "rare-classes",
        "Intervals with few items of one class",
        ["items", "of one class", "shifts", *SHOWN],
        [
            [f"{items:,}", str(positives), " and ".join(map(str, shifts)), *row]
            for (items, positives, shifts), row in zip(cells, shares, strict=True)
        ],
        packages=("embedlab", "numpy"),
        notes=[
            f"percent of {typed.runs:,} intervals of a difference that hold the truth; 95 is right",
            "embedlab gives no interval with fewer than 10 items of one class, accuracy apart, and "
            "calls it rough with fewer than 30; of a correlation the gold scores are the classes",
        ],
    )


if __name__ == "__main__":
    main()
